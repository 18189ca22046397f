"""gcc for nvcc: of a megabyte of CUDA's headers it leaves what a kernel can reach.

The headers that most kernels include were read once and taken apart (`index.py`). A kernel gets of
them what it names, what that names, and so on, each where it was, with its line. What has one name
stays together, so overloads are chosen as usual; operators go with the types of their parameters.
Where anything is not as it was when the headers were read, gcc does it all.

This starts for every kernel, so it imports little."""

import marshal
import os
from itertools import chain
from zlib import crc32

MARK = b"#pragma softgpu declarations "
_KEPT = ("-D__", "-DCUDA_", "-std=", "-O", "-w", "-E", "-m64")  # a header may change with these
_OF_G = "-D__CUDACC_DEBUG__"  # a macro like the kernel's own, so that one index serves -G, too
_WORD = bytes(c if chr(c).isalnum() and c < 128 or c in b"_$" else 32 for c in range(256))


def parse(arguments):
    """What gcc is to do: its command without what is the kernel's, the kernel's folders and macros,
    and the output; None where that may be more."""
    command, folders, macros, source, output = ["gcc"], ["."], [], "", ""
    left = iter(arguments)
    for argument in left:
        if argument == "-o":
            output = next(left)
        elif argument == "-include" and "-include" in command:
            next(left)
        elif argument in ("-x", "-isystem", "-include"):
            command += [argument, next(left)]
        elif argument.startswith("-I"):
            is_toolkit = os.path.exists(argument[2:] + "/cuda_runtime.h")
            command.append(argument) if is_toolkit else folders.append(argument[2:])
        elif argument.startswith(_KEPT) and argument != _OF_G:
            command.append(argument)
        elif argument.startswith(("-D", "-U")):
            macro = argument[2:] or next(left)
            macros.append(macro.partition("=")[0].encode())
        elif argument.endswith(".cu") and not source:
            source = argument
            folders.append(os.path.dirname(source) or ".")
        else:
            return None
    return (command, folders, macros, output) if "cuda_runtime.h" in command else None


def load(command):
    """The folder of what stands in for the headers under a command of gcc, and its index."""
    key = crc32("\n".join(command).encode())
    folder = f"{os.environ['SOFTGPU_HEADERS_CACHE']}/{key:08x}"
    try:
        with open(folder + "/index", "rb") as file:
            index = marshal.loads(file.read())
        is_whole = set(index["stand_ins"]).issubset(os.listdir(folder))
        if is_whole and all(_stamp(path) == (time, size) for path, time, size in index["stamps"]):
            return folder, index
    except (OSError, ValueError, EOFError, TypeError, KeyError):
        pass  # not made, not whole, of another kind, or a header is gone
    from index import make  # type: ignore[import-not-found]  # beside this file

    return folder, make(command, folder)


def _stamp(path):
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


def hides(folders, index):
    """Whether a file of the kernel's could be read in place of one that the headers include."""
    names = (os.listdir(folder) for folder in folders if os.path.isdir(folder))
    return not index["parts"].isdisjoint(chain.from_iterable(names))


def changes(macros, index, first=0):
    """Whether a header of the sections from the first on has a word that is one of these macros."""
    return any(b" %b " % name in words for name in macros for words in index["words"][first:])


def defined(text, known):
    """The macros that the files of a preprocessed text define or undefine, except known files."""
    lines = text.split(b"\n")
    for path in {line.split(b'"')[1] for line in lines if line.startswith(b"# ")} - known:
        if path.startswith(b"<"):
            continue
        with open(path, "rb") as file:
            for line in file.read().replace(b"\\\n", b"").split(b"\n"):
                words = line.translate(_WORD).split()
                if b"#" in line and words[:1] in ([b"define"], [b"undef"]):
                    yield words[1]


def reached(text, sections, index):
    """The pieces of these sections that a text can reach: a flag for each."""
    names, needs = index["names"], index["needs"]
    is_left, is_reached = bytearray(len(needs)), bytearray(len(needs))
    for start, end in sections:
        is_left[start:end] = b"\1" * (end - start)
    lines = [line for line in text.split(b"\n") if not line.startswith(b"# ")]
    todo = list(set(b"\n".join(lines).translate(_WORD).split()))
    pieces = index["fixed"]
    while True:
        for piece in pieces:
            if is_left[piece]:
                is_left[piece], is_reached[piece] = 0, 1
                todo += needs[piece].split()
        if not todo:
            return is_reached
        pieces = names.pop(todo.pop(), ())


def inserted(text, folder, index):
    """A preprocessed text with declarations at its marks; None where they could be others."""
    first, *rest = text.split(MARK)
    if len(rest) > 1:
        known = {path.encode() for path, _, _ in index["stamps"]}
        known.update(f"{folder}/{name}".encode() for name in os.listdir(folder))
        if changes(defined(MARK.join(rest[:-1]), known), index, first=1):
            return None
    sections = [index["sections"][int(after[:1])] for after in rest]
    is_reached = reached(b"\n".join(after[2:] for after in rest), sections, index)
    parts = [first]
    for (start, end), after in zip(sections, rest):
        parts += [index["texts"][piece] for piece in range(start, end) if is_reached[piece]]
        parts.append(after[2:])
    return b"".join(parts)


def preprocess(arguments):
    """Whether that is done; if not, the output is gcc's to write."""
    if not (parsed := parse(arguments)):
        return False
    command, folders, macros, output = parsed
    folder, index = load(command)
    if not index["texts"] or index["command"] != command:
        return False
    if hides(folders, index) or changes(macros, index):
        return False
    gcc = ["gcc", f"-I{folder}", *arguments]
    _, status = os.waitpid(os.posix_spawnp("gcc", gcc, os.environ), 0)
    if status:
        os._exit(1)
    with open(output, "rb") as file:
        text = inserted(file.read(), folder, index)
    if text is None:
        return False
    with open(output, "wb") as file:
        file.write(text)
    return True


def main(arguments):
    try:
        if preprocess(arguments):
            os._exit(0)  # without tidying up, which takes longer than all this
    except OSError:
        pass  # a cache that cannot be written
    os.execvp("gcc", ["gcc", *arguments])
