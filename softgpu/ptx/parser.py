"""Reads PTX text, as nvcc writes it and as people write it in inline assembly."""

from __future__ import annotations

import math
import operator
import os.path
import re
import struct
from dataclasses import replace
from itertools import islice

from ..contract import DEVICE
from .program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    Operand,
    PtxError,
    Register,
    SourceLine,
    Special,
    Symbol,
    Variable,
    Vector,
)

__all__ = ["line_number", "parse"]

TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*[\s\S]*?\*/)*
    ( (?:[A-Za-z_$][\w$]*|%[\w$]+)(?:(?:\.|::)[\w$]+)*      # name, opcode with its modifiers
    | \.[A-Za-z_]\w*(?:::\w+)?                              # directive
    | 0[fF][0-9A-Fa-f]{8} | 0[dD][0-9A-Fa-f]{16} | 0[xX][0-9A-Fa-f]+U? | 0[bB][01]+U?
    | \d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+|U?)
    | "[^"\\]*(?:\\.[^"\\]*)*"
    | <<|>>
    | \S | \Z )""",
    re.VERBOSE | re.ASCII,
)
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
# Where CUDA's own headers are installed: as a toolkit, by pip, by conda, by Debian.
CUDA_HEADER = re.compile(
    r"/(?:cuda(?:-[\d.]+)?|nvidia(?:/\w+)?|targets/[\w-]+)/include/|/cccl/|^/usr/(?:include|lib)/"
)
SPECIAL = re.compile(
    r"%(?:(?:n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)(?:\.[xyzw])?|cluster_n?ctarank"
    r"|is_explicit_cluster|laneid|n?warpid|n?smid|gridid|lanemask_(?:eq|le|lt|ge|gt)"
    r"|clock(?:_hi|64)?|pm[0-7](?:_64)?|envreg(?:[12]?\d|3[01])|globaltimer(?:_lo|_hi)?"
    r"|reserved_smem_offset_\w+|(?:total|aggr|dynamic)_smem_size|current_graph_exec)"
)
NAME = re.compile(r"[A-Za-z_$%][\w$%]*", re.ASCII)
USED_BYTES = re.compile(r'"used_bytes_mask\s+(?:0[xX]([0-9a-fA-F]+)|(\d+))"')
PART = re.compile(r"\.[bh][0-7]+")  # of a scalar register, in video instructions

LINKAGE = {".visible", ".extern", ".weak", ".common"}
SPACES = {".global", ".const", ".shared", ".local", ".param"}
SIZES = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "texref", "samplerref", "surfref"), 8),
    "b128": 16,
    "pred": 1,
}
FLOATS = {"f32": "<f", "f64": "<d"}
ALIGNMENTS = [1 << n for n in range(16)]
MOST_REGISTERS = 10**6
MOST_BYTES = 2**40  # of a variable
COMPONENTS = ("xr", "yg", "zb", "wa")
UNKNOWN = SourceLine("", 0)

OPERATORS = {  # of constant expressions: how tightly they bind, what they compute
    "|": (1, operator.or_),
    "^": (2, operator.xor),
    "&": (3, operator.and_),
    "<<": (4, lambda a, b: a << min(b, 128)),
    ">>": (4, lambda a, b: a >> min(b, 128)),
    "+": (5, operator.add),
    "-": (5, operator.sub),
    "*": (6, operator.mul),
    "/": (6, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
    "%": (6, lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1)),
}


def line_number(text: str, token: int) -> int:
    """The line of a PTX text on which a token stands."""
    match = next(islice(TOKEN.finditer(text), token, None), None)
    return text.count("\n", 0, match.start(1) if match else len(text)) + 1


def token_lines(text: str) -> list[int]:
    """The line of a PTX text on which each of its tokens stands."""
    lines, number, before = [], 1, 0
    for match in TOKEN.finditer(text):
        number += text.count("\n", before, match.start(1))
        before = match.start(1)
        lines.append(number)
    return lines


def parse(text: str) -> Module:
    """Read a whole PTX text; raises PtxError naming the PTX line that cannot be read."""
    parser = _Parser(text)
    try:
        return parser.module()
    except RecursionError:
        raise parser.error("brackets in brackets, too many") from None


class _Parser:
    """One pass over the tokens: `at` is the index of the next one."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = TOKEN.findall(text)
        self.tokens += ("", "")  # the end, and something to look ahead at
        self.at = 0
        self.files = {int(n): os.path.normpath(name) for n, name in FILE.findall(text)}
        self.headers = {n for n, name in self.files.items() if CUDA_HEADER.search(name)}
        self.opcodes: dict[str, tuple[str, tuple[str, ...]]] = {}
        own = tuple(name for n, name in self.files.items() if n not in self.headers)
        self.result = Module("", "", {}, {}, text, own_files=own)
        self.begin_function()

    def begin_function(self) -> None:
        self.function = Function("", False, [])  # of nobody, until its name is known
        self.known: dict[str, Operand] = {}  # what a single token stands for
        self.declared: set[str] = set()
        self.scopes: list[tuple[int, int, list]] = []  # open { }: number, start, names to restore
        self.scope_count = 0
        self.source = UNKNOWN
        self.caller: SourceLine | None = None
        self.root: SourceLine | None = None
        self.used_bytes: int | None = None  # by the next instruction
        self.user_lines: dict[tuple, SourceLine] = {}  # by place of an earlier .loc
        self.roots: dict[tuple, SourceLine] = {}  # likewise

    # Tokens

    def error(self, message: str, at: int | None = None) -> PtxError:
        """An error at a token (the next one), with the line it is on."""
        number = line_number(self.text, self.at if at is None else at)
        lines = self.text.splitlines()
        line = lines[number - 1].strip() if number <= len(lines) else "end of text"
        return PtxError(f"PTX line {number}: {message}: {line}")

    def unexpected(self, wanted: str) -> PtxError:
        return self.error(f"{wanted} expected, not {self.tokens[self.at] or 'the end'!r}")

    def expect(self, token: str) -> None:
        if self.tokens[self.at] != token:
            raise self.unexpected(repr(token))
        self.at += 1

    def accept(self, token: str) -> bool:
        if self.tokens[self.at] != token:
            return False
        self.at += 1
        return True

    def name(self) -> str:
        token = self.tokens[self.at]
        if not NAME.fullmatch(token):
            raise self.unexpected("a name")
        self.at += 1
        return token

    def skip_past(self, token: str) -> None:
        try:
            self.at = self.tokens.index(token, self.at) + 1
        except ValueError:
            raise self.unexpected(repr(token)) from None

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
        for limit in ("maxntid", "reqntid"):
            if dims := function.directives.get(limit):
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

    def attributes(self) -> None:
        while self.accept(".attribute"):
            self.expect("(")
            depth = 1
            while depth:
                token = self.tokens[self.at]
                if not token:
                    raise self.unexpected("')'")
                depth += (token == "(") - (token == ")")
                self.at += 1

    def parameters(self) -> list[Variable]:
        found = []
        self.expect("(")
        while not self.accept(")"):
            if not (self.accept(".param") or self.accept(".reg")):
                raise self.unexpected(".param")
            space = self.tokens[self.at - 1][1:]
            type_, align, width = self.element()
            found.append(self.variable(space, type_, align, width))
            if self.tokens[self.at] != ")":
                self.expect(",")
        return found

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

    # Names and scopes

    def declare(self, name: str, value: Operand) -> None:
        if self.scopes:
            self.scopes[-1][2].append((name, self.known.get(name)))
        self.known[name] = value

    def unique(self, name: str) -> str:
        """Declare a variable or table in the scope; its name from now on."""
        full = self.name_in_scope(name)
        self.declare(name, Symbol(full))
        return full

    def name_in_scope(self, name: str) -> str:
        """What is declared under a name in the scope is called so in the whole function."""
        full = f"{name}@{self.scopes[-1][0]}" if self.scopes else name
        if full in self.declared:
            raise self.error(f"{name} is declared twice", self.at - 1)
        self.declared.add(full)
        return full

    def declare_register(self, name: str, type_: str, width: int = 1) -> None:
        full = self.name_in_scope(name)
        registers = self.function.registers
        if width == 1:
            registers[full] = register = Register(full, type_)
            self.declare(name, register)
            return
        parts = []
        for letters in COMPONENTS[:width]:
            part = Register(f"{full}.{letters[0]}", type_)
            registers[part.name] = part
            parts.append(part)
            for letter in letters:
                self.declare(f"{name}.{letter}", part)
        self.declare(name, Vector(tuple(parts)))

    def close_scope(self) -> None:
        number, start, names = self.scopes.pop()
        for name, before in reversed(names):
            if before is None:
                del self.known[name]
            else:
                self.known[name] = before
        body = self.function.body
        labels = {}
        for index in range(start, len(body)):
            item = body[index]
            if isinstance(item, Label) and "@" not in item.name:
                labels[item.name] = f"{item.name}@{number}"
                body[index] = Label(labels[item.name])
        if not labels:
            return
        for item in body[start:]:
            if isinstance(item, Instruction) and item.opcode == "bra":
                item.operands = tuple(
                    Symbol(labels[target.name])
                    if isinstance(target, Symbol) and target.name in labels
                    else target
                    for target in item.operands
                )
        for name, targets in self.function.branch_targets.items():
            if int(name.partition("@")[2] or 0) >= number:  # declared in this scope or inside it
                targets[:] = [labels.get(target, target) for target in targets]

    # Variables

    def element(self) -> tuple[str, int, int]:
        """Type, alignment and vector width (1, 2, 4) of a declaration, up to its name."""
        align, width, type_ = 0, 1, ""
        while (token := self.tokens[self.at])[:1] == ".":
            if token == ".attribute":
                self.attributes()
                continue
            self.at += 1
            if token == ".align":
                align = self.integer()
                if align not in ALIGNMENTS:
                    raise self.error("no alignment", self.at - 1)
            elif token in (".v2", ".v4", ".v8"):
                width = int(token[2:])
            elif token == ".ptr":  # what a parameter points to
                if self.tokens[self.at] in SPACES:
                    self.at += 1
                if self.accept(".align"):
                    self.integer()
            elif token[1:] in SIZES:
                type_ = token[1:]
            else:
                self.at -= 1
                raise self.unexpected("a type")
        if not type_:
            raise self.unexpected("a type")
        return type_, align, width

    def variables(self, space: str) -> list[Variable]:
        type_, align, width = self.element()
        found = [self.variable(space, type_, align, width)]
        while self.accept(","):
            found.append(self.variable(space, type_, align, width))
        self.expect(";")
        return found

    def variable(self, space: str, type_: str, align: int, width: int) -> Variable:
        """One declared variable from its name on, with its initial value."""
        name = self.name()
        size = SIZES[type_]
        dims = []
        while self.accept("["):
            dims.append(0 if self.tokens[self.at] == "]" else self.integer())
            if not 0 <= dims[-1] < MOST_BYTES:
                raise self.error("no length of an array", self.at - 1)
            self.expect("]")
        shape = [*dims, width] if width > 1 else dims
        total = total_of(shape, size)
        if total > MOST_BYTES:
            raise self.error(f"{name} has {total} bytes", self.at - 1)
        variable = Variable(name, space, type_, total, align or size * width)
        if self.accept("="):
            initial, variable.relocations = _Initialiser(self, type_, shape).read()
            variable.initial = initial
            if not dims or dims[0]:
                if len(initial) > total:
                    raise self.error(f"{name} has too many initial values", self.at - 1)
            else:
                row = total_of(shape[1:], size)
                variable.bytes = -(-len(initial) // row) * row
        return variable

    # Numbers

    def integer(self) -> int:
        at = self.at
        value = self.constant()
        if value.kind != "int":
            raise self.error("an integer expected", at)
        return value.value

    def number(self) -> Immediate:
        """A single literal."""
        token = self.tokens[self.at]
        start = token[:2].lower()
        try:
            if start == "0f":
                value = Immediate(int(token[2:], 16), "f32")
            elif start == "0d":
                value = Immediate(int(token[2:], 16), "f64")
            elif "." in token or (start != "0x" and "e" in token.lower()):
                value = Immediate(struct.unpack("<Q", struct.pack("<d", float(token)))[0], "f64")
            elif token == "WARP_SZ":
                value = Immediate(32)
            else:
                digits = token.rstrip("U")
                octal = digits.isdigit() and digits[0] == "0"
                value = Immediate(int(digits, 8 if octal else 0))
        except ValueError:
            raise self.unexpected("a number") from None
        self.at += 1
        return value

    def constant(self) -> Immediate:
        """A constant expression; of floating point numbers only the sign can be changed."""
        token, follows = self.tokens[self.at], self.tokens[self.at + 1]
        if token[:1].isdigit() and follows not in OPERATORS:
            return self.number()
        at = self.at
        value = self.expression(1)
        if value.kind == "int" and not -(2**63) <= value.value < 2**64:
            raise self.error("a constant beyond 64 bits", at)
        return value

    def expression(self, binding: int) -> Immediate:
        value = self.unary()
        while True:
            at = self.at
            if self.tokens[at] not in OPERATORS:
                return value
            strength, compute = OPERATORS[self.tokens[at]]
            if strength < binding:
                return value
            self.at += 1
            other = self.expression(strength + 1)
            if value.kind != "int" or other.kind != "int":
                raise self.error("arithmetic on floating point constants", at)
            try:
                value = Immediate(compute(value.value, other.value))
            except (ArithmeticError, ValueError):
                raise self.error("a constant that cannot be computed", at) from None

    def unary(self) -> Immediate:
        token = self.tokens[self.at]
        if token not in ("-", "+", "~", "!", "("):
            return self.number()
        at = self.at
        self.at += 1
        if token == "(":
            value = self.expression(1)
            self.expect(")")
            return value
        value = self.unary()
        if value.kind != "int":
            if token in "+-":
                sign = 1 << (31 if value.kind == "f32" else 63)
                return Immediate(value.value ^ (sign if token == "-" else 0), value.kind)
            raise self.error("arithmetic on floating point constants", at)
        number = value.value
        return Immediate({"-": -number, "+": number, "~": ~number, "!": int(not number)}[token])

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

    def group(self, end: str) -> Vector:
        """Operands in ( ) or { }, separated by commas."""
        self.at += 1
        found: list = []
        while not self.accept(end):
            self.operand(found)
            if self.tokens[self.at] != end:
                self.expect(",")
        return Vector(tuple(found))

    def operand(self, found: list) -> None:
        """Read one operand, or the two of `a|p`, and append them."""
        token = self.tokens[self.at]
        if token == "[":
            found.append(self.address())
        elif token == "{":
            found.append(self.group("}"))
        elif token == "!" and NAME.fullmatch(self.tokens[self.at + 1]):
            self.at += 1
            register = self.value()
            if not isinstance(register, Register):
                self.at -= 1
                raise self.unexpected("a predicate register")
            found.append(Not(register))
        elif token[:1] in "_$%" or token[:1].isalpha():
            found.append(self.value())
            if self.accept("|"):
                found.append(self.value())
        elif token:
            at, value = self.at, self.constant()
            found.append(value)
            if self.at == at + 1:
                self.known[token] = value
        else:
            raise self.unexpected("an operand")

    def value(self) -> Operand:
        """What a name stands for, with an offset where one is added to a symbol."""
        token = self.tokens[self.at]
        value = self.known.get(token)
        if value is None:
            if token == "_":
                self.at += 1
                return None
            value = self.known[token] = self.meaning(token)
        if token == "WARP_SZ":
            return self.constant()
        self.at += 1
        return self.moved(value) if isinstance(value, Symbol) else value

    def moved(self, symbol: Symbol) -> Symbol:
        """A symbol with the bytes added to it, or the element of it, that may follow its name."""
        if self.tokens[self.at] in ("+", "-"):
            return Symbol(symbol.name, symbol.offset + self.integer())
        if not self.accept("["):
            return symbol
        function, name = self.function, symbol.name
        variables = (*function.variables, *function.params, *self.result.variables.values())
        types = [variable.type for variable in variables if variable.name == name]
        if not types:
            raise self.error(f"there is no array {name}", self.at - 2)
        number = self.integer()
        self.expect("]")
        return Symbol(name, symbol.offset + number * SIZES[types[0]])

    def meaning(self, token: str) -> Register | Symbol | Special | Immediate:
        if token == "WARP_SZ":
            return Immediate(32)
        if SPECIAL.fullmatch(token):
            return Special(token[1:])
        root, dot, part = token.partition(".")
        if dot and root in self.known and PART.fullmatch(dot + part):
            return Symbol(token)
        if token[:1] == "%" or not NAME.fullmatch(token):
            raise self.unexpected("a declared register or a name")
        return Symbol(token)

    def address(self) -> Address | Vector:
        self.expect("[")
        base: Register | str | None = None
        offset = 0
        token = self.tokens[self.at]
        if token[:1] in "_$%" or token[:1].isalpha():
            at = self.at
            value = self.value()
            if isinstance(value, Symbol):
                base, offset = value.name, value.offset
            elif isinstance(value, Register):
                base = value
                if self.tokens[self.at] in ("+", "-"):
                    offset = self.integer()
            else:
                raise self.error("an address expected", at)
        else:
            offset = self.integer()
        found: list = [Address(base, offset)]
        while self.accept(","):
            self.operand(found)
        self.expect("]")
        return found[0] if len(found) == 1 else Vector(tuple(found))


class _Initialiser:
    """The initial value of a variable: bytes, and addresses to be filled in at load."""

    def __init__(self, parser: _Parser, type_: str, shape: list[int]):
        self.parser = parser
        self.type = type_
        self.size = SIZES[type_]
        self.shape = shape
        self.bytes = bytearray()
        self.addresses: dict[tuple[int, str, int], int] = {}  # place, symbol, addend: bits covered

    def read(self) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        at = self.parser.at
        if self.parser.tokens[at] == "{":
            self.braces(0, 0)
        else:
            self.scalar(0)
        if any(mask != 2**64 - 1 for mask in self.addresses.values()):
            raise self.parser.error("only whole 8-byte addresses can be initial values", at)
        return bytes(self.bytes), tuple(self.addresses)

    def braces(self, level: int, offset: int) -> None:
        parser = self.parser
        parser.expect("{")
        row = total_of(self.shape[level + 1 :], self.size)
        while not parser.accept("}"):
            if parser.tokens[parser.at] == "{":
                self.braces(level + 1, offset)
                offset += row
            else:
                self.scalar(offset)
                offset += self.size
            if parser.tokens[parser.at] != "}":
                parser.expect(",")

    def scalar(self, offset: int) -> None:
        parser = self.parser
        token = parser.tokens[parser.at]
        if token[:1] in "_$%" or token[:1].isalpha():
            self.address(offset, (1 << 8 * self.size) - 1)
        elif token[:1].isdigit() and parser.tokens[parser.at + 1] == "(":
            mask = parser.integer()
            parser.expect("(")
            self.address(offset, mask)
            parser.expect(")")
        else:
            self.put(offset, self.pack(parser.constant()))

    def address(self, offset: int, mask: int) -> None:
        """sym, generic(sym), each with + bytes or [element]: what `mask` selects goes here."""
        parser = self.parser
        symbol = Symbol(parser.name())
        if symbol.name == "generic" and parser.accept("("):
            symbol = parser.moved(Symbol(parser.name()))
            parser.expect(")")
        symbol = parser.moved(symbol)
        low = (mask & -mask).bit_length() - 1
        key = (offset - low // 8, symbol.name, symbol.offset)
        self.addresses[key] = self.addresses.get(key, 0) | mask
        self.put(offset, bytes(self.size))

    def pack(self, value: Immediate) -> bytes:
        number, kind = value.value, value.kind
        if self.type in FLOATS and kind != self.type:
            if kind != "int":
                (number,) = struct.unpack(FLOATS[kind], number.to_bytes(SIZES[kind], "little"))
            try:
                return struct.pack(FLOATS[self.type], number)
            except OverflowError:
                raise self.parser.error(
                    f"a number beyond {self.type}", self.parser.at - 1
                ) from None
        return (number & ((1 << 8 * self.size) - 1)).to_bytes(self.size, "little")

    def put(self, offset: int, data: bytes) -> None:
        if len(self.bytes) < offset:
            self.bytes += bytes(offset - len(self.bytes))
        self.bytes[offset : offset + len(data)] = data


def total_of(extents: list[int], size: int) -> int:
    """Bytes of an array of elements of `size` bytes."""
    return math.prod(extents, start=size)
