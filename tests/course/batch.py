"""Kernels of several texts from one call of the compiler, which costs far more than a kernel."""

import re
from functools import cache
from pathlib import Path

from helpers import autoinit, kernels, sources
from softgpu.declarations import Declarations
from softgpu.xray import parameters

DYNAMIC = re.compile(r"^ *extern __shared__ .*?(\w+)\[\]", re.MULTILINE)
INCLUDE = re.compile(r"^#include .+$", re.MULTILINE)
OPTIONS = ["-diag-suppress=177,550"]  # as helpers.sources


def joined(texts):
    """One text of several: each in a namespace, its kernels numbered, its own lines counted."""
    texts = list(texts)
    includes = sorted({line for text in texts for line in INCLUDE.findall(text)})
    if any("= half;" in text for text in texts):
        includes.insert(0, "#include <cuda_fp16.h>")
    return "\n".join([*includes, *(_apart(text, number) for number, text in enumerate(texts))])


def compiled(texts, kernel):
    """The kernel of that name in each of several texts, as the judge takes it: {key: function}.

    Beside a real GPU, where xray takes no function without its source, the texts themselves."""
    if not autoinit.is_software:
        return texts
    from pycuda.compiler import SourceModule

    folders = [str(sources.ROOT)]
    source = joined(texts.values())
    arch = sources.architecture(source)

    @cache
    def module(*options):
        return SourceModule(
            source, no_extern_c=True, arch=arch, options=[*OPTIONS, *options], include_dirs=folders
        )

    return {
        key: _function(module, text, kernel, number)
        for number, (key, text) in enumerate(texts.items())
    }


def variant(file, among, **choices):
    """The kernel of a file of cuda_src with these choices, compiled once with all those among
    which they are; alone, if they are not."""
    text = sources.text(file, **choices)
    texts = tuple(sources.text(file, **each) for each in among)
    if not autoinit.is_software or text not in texts:
        return sources.kernel(file, **choices)
    return _variants(Path(file).stem, texts)[text]


@cache
def _variants(kernel, texts):
    return compiled(dict(zip(texts, texts)), kernel)


def _apart(text, number):
    for name in {*Declarations(text).kernels, *DYNAMIC.findall(text)}:  # which know no namespaces
        text = re.sub(rf"\b{name}\b", f"{name}_{number}", text)
    text = INCLUDE.sub("", text).replace('extern "C" ', "")
    text = text.replace("__global__", 'extern "C" __global__')
    return f'namespace text_{number} {{\n#line 1 "text {number}"\n{text}\n}}'


class Batched(kernels.Kernel):
    """A kernel of a batch, which is compiled without optimisation as a batch, too."""

    def without_optimisation(self):
        return _function(self.module, self.source, self.name, self.number, "-G")


def _function(module, text, kernel, number, *options):
    function = module(*options).get_function(f"{kernel}_{number}")
    function.__class__ = Batched
    function.module, function.number = module, number
    function.name, function.source = kernel, text
    function.parameters = parameters.parameters(Declarations(text), kernel)
    return function
