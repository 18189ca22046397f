"""Reads PTX text, as nvcc writes it and as people write it in inline assembly.

Its layers, each a class that extends the one before: tokens.py, constants.py, operands.py,
variables.py; here are modules, functions and their instructions.

Terms: recursive descent (Aho et al., chapter 4; docs/terms.md).
"""

from __future__ import annotations

import math
import os.path
import re
from dataclasses import replace

from ..contract import DEVICE
from .program import (
    Function,
    Instruction,
    Label,
    Module,
    PtxError,
    Register,
    SourceLine,
    Vector,
)
from .variables import SPACES, Variables

__all__ = ["parse"]

FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
# Where CUDA's own headers are installed: as a toolkit, by pip, by conda, by Debian.
CUDA_HEADER = re.compile(
    r"/(?:cuda(?:-[\d.]+)?|nvidia(?:/\w+)?|targets/[\w-]+)/include/|/cccl/|^/usr/(?:include|lib)/"
)
USED_BYTES = re.compile(r'"used_bytes_mask\s+(?:0[xX]([0-9a-fA-F]+)|(\d+))"')
LINKAGE = {".visible", ".extern", ".weak", ".common"}
MOST_REGISTERS = 10**6
UNKNOWN = SourceLine("", 0)


def parse(text: str) -> Module:
    """Read a whole PTX text; raises PtxError naming the PTX line that cannot be read."""
    parser = _Parser(text)
    try:
        return parser.module()
    except RecursionError:
        raise parser.error("brackets in brackets, too many") from None


class _Parser(Variables):
    """Reads a module, one directive or instruction after the other."""

    def __init__(self, text: str):
        super().__init__(text)
        self.files = {int(n): os.path.normpath(name) for n, name in FILE.findall(text)}
        self.headers = {n for n, name in self.files.items() if CUDA_HEADER.search(name)}
        self.opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}
        own = tuple(name for n, name in self.files.items() if n not in self.headers)
        self.result.own_files = own
        self.begin_function()

    def begin_function(self) -> None:
        self.begin_names()
        self.source = UNKNOWN
        self.caller: SourceLine | None = None
        self.root: SourceLine | None = None
        self.used_bytes: int | None = None  # by the next instruction
        self.user_lines: dict[tuple, SourceLine] = {}  # by place of an earlier .loc
        self.roots: dict[tuple, SourceLine] = {}  # by that place, too

    # Module

    def module(self) -> Module:
        result, tokens = self.result, self.tokens
        externs = {}
        extern = False
        while token := tokens[self.at]:
            if not result.version and token != ".version":
                raise self.unexpected(".version")
            self.at += 1
            if token in LINKAGE:
                extern = extern or token == ".extern"
                continue
            if token in (".entry", ".func"):
                self.function_head(token == ".entry")
            elif token in SPACES:
                for variable in self.variables(token[1:]):
                    if extern and token != ".shared":
                        externs[variable.name] = variable
                        result.variables.setdefault(variable.name, variable)
                    else:
                        result.variables[variable.name] = variable
            elif token == ".version":
                result.version = tokens[self.at]
                self.at += 1
            elif token == ".target":
                result.target = self.name()
                while self.accept(","):
                    result.debug |= self.name() == "debug"
            elif token == ".address_size":
                if self.integer() != 64:
                    raise self.error("only 64-bit addresses are supported", self.at - 1)
            elif token == ".alias":
                alias = self.name()
                self.expect(",")
                target = result.functions.get(self.name())
                if target is None:
                    raise self.error(f"alias {alias} of an unknown function", self.at - 1)
                result.functions[alias] = replace(target, name=alias)
                self.expect(";")
            elif not self.line_directive(token):
                self.at -= 1
                raise self.unexpected("a directive")
            extern = False
        if not result.version:
            raise self.unexpected(".version")
        missing = [name for name, declared in externs.items() if result.variables[name] is declared]
        if missing:
            raise PtxError(f"extern variables without definition: {', '.join(missing)}")
        return result

    def line_directive(self, token: str) -> bool:
        """A directive that may stand in a module and in a function alike; False: it is none."""
        if token == ".loc":
            self.loc()
        elif token == ".pragma":
            before = self.function.body
            if self.tokens[self.at] == '"nounroll"' and before and isinstance(before[-1], Label):
                self.function.kept_rolled.add(before[-1].name)
            elif match := USED_BYTES.fullmatch(self.tokens[self.at]):
                self.used_bytes = int(match[1], 16) if match[1] else int(match[2])
            self.skip_past(";")
        elif token == ".file":
            self.integer()
            self.at += 1
            while self.accept(","):
                self.integer()
        elif token == ".section":
            self.skip_past("}")
        else:
            return False
        return True

    def loc(self) -> None:
        place = self.integer(), self.integer(), self.integer()
        parent = None
        while self.accept(","):
            what = self.name()
            if what == "inlined_at":
                parent = self.integer(), self.integer(), self.integer()
            else:  # function_name label [+ offset]
                self.name()
                if self.accept("+"):
                    self.integer()
        if not 0 <= place[1] < 2**31:
            raise self.error("no number of a line", self.at - 1)
        if not place[1]:  # of nobody's making: it belongs to the line before
            return
        self.source = user_line = self.line(place)
        self.caller = None
        if parent and place[0] in self.headers:
            user_line = self.user_lines.get(parent) or self.line(parent)
            if user_line.file and not CUDA_HEADER.search(user_line.file):
                self.caller = user_line
        self.user_lines[place] = user_line
        self.roots[place] = self.source
        if parent:
            self.roots[place] = self.roots.get(parent) or self.line(parent)
        self.root = self.roots[place] if self.roots[place].file != user_line.file else None
        if not self.function.source.line:
            self.function.source = self.source

    def line(self, place: tuple) -> SourceLine:
        file = self.files.get(place[0], "")
        return SourceLine(file, place[1]) if file and place[1] else UNKNOWN

    # Functions

    def function_head(self, is_entry: bool) -> None:
        self.begin_function()
        self.attributes()
        returns = self.parameters() if self.tokens[self.at] == "(" else []
        name = self.name()
        params = self.parameters() if self.tokens[self.at] == "(" else []
        function = Function(name, is_entry, params, returns)
        self.function = function
        while (token := self.tokens[self.at])[:1] == ".":
            if token == ".attribute":
                self.attributes()
                continue
            self.at += 1
            if not self.line_directive(token):
                function.directives[token[1:]] = self.numbers()
        if dims := function.directives.get("maxntid"):
            function.max_threads = min(math.prod(dims), DEVICE["block_threads"])
        functions = self.result.functions
        if self.accept(";"):
            functions.setdefault(name, function)
            return
        self.expect("{")
        function.is_defined = True
        for variable in returns + params:
            if variable.space == "reg":
                self.declare_register(variable.name, variable.type)
            else:
                self.unique(variable.name)
        functions[name] = function
        self.body()

    def numbers(self) -> tuple[int, ...]:
        """The numbers after a directive, which may be none."""
        found = []
        while self.tokens[self.at][:1].isdigit():
            found.append(self.integer())
            if not self.accept(","):
                break
        return tuple(found)

    def body(self) -> None:
        tokens, body = self.tokens, self.function.body
        while True:
            token = tokens[self.at]
            if token == "@":
                self.instruction()
            elif token[:1] == ".":
                self.at += 1
                self.body_directive(token)
            elif token == "{":
                self.at += 1
                self.scope_count += 1
                self.scopes.append((self.scope_count, len(body), []))
            elif token == "}":
                self.at += 1
                if not self.scopes:
                    return
                self.close_scope()
            elif token == ";":
                self.at += 1
            elif tokens[self.at + 1] == ":":
                self.label()
            else:
                self.instruction()

    def body_directive(self, token: str) -> None:
        if token == ".reg":
            type_, _, width = self.element()
            while True:
                name = self.name()
                if self.accept("<"):
                    count = self.integer()
                    if not 0 <= count <= MOST_REGISTERS:
                        raise self.error("no number of registers", self.at - 1)
                    for number in range(count):
                        self.declare_register(f"{name}{number}", type_, width)
                    self.expect(">")
                else:
                    self.declare_register(name, type_, width)
                if not self.accept(","):
                    break
            self.expect(";")
        elif token in SPACES:
            for variable in self.variables(token[1:]):
                variable.name = self.unique(variable.name)
                self.function.variables.append(variable)
        elif token in LINKAGE:
            pass
        elif not self.line_directive(token):
            self.at -= 1
            raise self.unexpected("an instruction")

    def label(self) -> None:
        """A label, or a named table of the function."""
        name = self.name()
        self.at += 1
        table = self.tokens[self.at]
        if table in (".branchtargets", ".calltargets"):
            self.at += 1
            targets = [self.name()]
            while self.accept(","):
                targets.append(self.name())
            self.expect(";")
            function = self.function
            tables = function.branch_targets if table[1] == "b" else function.call_targets
            tables[self.unique(name)] = targets
        elif table == ".callprototype":
            self.at += 1
            returns = self.parameters() if self.tokens[self.at] == "(" else []
            self.expect("_")
            params = self.parameters() if self.tokens[self.at] == "(" else []
            while self.tokens[self.at][:1] == ".":
                self.at += 1
                self.numbers()
            self.expect(";")
            self.function.prototypes[self.unique(name)] = (returns, params)
        else:
            self.function.body.append(Label(name))

    # Instructions

    def instruction(self) -> None:
        tokens, known, first = self.tokens, self.known, self.at
        predicate, negated = None, False
        if self.accept("@"):
            negated = self.accept("!")
            tested = known.get(tokens[self.at])
            if not isinstance(tested, Register):
                raise self.unexpected("a predicate register")
            predicate = tested
            self.at += 1
        at = self.at
        opcode, modifiers = self.opcodes.get(tokens[at]) or self.opcode()
        at += 1
        while tokens[at][:1] == ".":  # modifiers apart from their opcode
            modifiers += (tokens[at][1:],)
            at += 1
        operands: list = []
        if opcode == "call":
            self.at = at
            operands = self.call()
        elif tokens[at] == ";":
            self.at = at + 1
        else:
            end = ","
            while end == ",":
                value = known.get(tokens[at])
                end = tokens[at + 1]
                if value is not None and (end == "," or end == ";"):
                    operands.append(value)
                    at += 2
                    continue
                self.at = at
                self.operand(operands)
                at = self.at
                end = tokens[at]
                if end != "," and end != ";":
                    raise self.unexpected("',' or ';'")
                at += 1
            self.at = at
        if opcode == "wgmma" and modifiers[0] == "mma_async":
            operands.insert(1, operands[0])  # the sums, which are read and written
        self.function.body.append(
            Instruction(
                opcode,
                modifiers,
                tuple(operands),
                self.source,
                predicate,
                negated,
                self.caller,
                first,
                self.used_bytes,
                self.root,
            )
        )
        self.used_bytes = None

    def opcode(self) -> tuple[str, tuple[str, ...]]:
        token = self.tokens[self.at]
        if not token[:1].isalpha():
            raise self.unexpected("an instruction")
        opcode, *modifiers = token.split(".")
        self.opcodes[token] = found = (opcode, tuple(modifiers))
        return found

    def call(self) -> list:
        returned, arguments, rest = Vector(()), Vector(()), []
        if self.tokens[self.at] == "(":
            returned = self.group(")")
            self.expect(",")
        function = self.value()
        if self.accept(","):
            if self.tokens[self.at] == "(":
                arguments = self.group(")")
                if self.accept(","):
                    rest.append(self.value())
            else:
                rest.append(self.value())
        self.expect(";")
        return [returned, function, arguments, *rest]
