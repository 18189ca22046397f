"""The forms of the instructions that the software GPU runs: their modifiers and operands.

A line of the table: opcodes, a pattern of modifiers, and a letter for each operand:

    d  a register, or the sink _           a  a number: register, constant, special register, name
    p  a predicate register, or the sink   q  a predicate: register, its negation or a constant
    w  one d, or {d, d, ...}               v  one a, or {a, a, ...}
    m  memory, [address]                   n  an integer constant
    t  a box of an array, [map, {a, a}]
    l  a label or another name             r  the list that a call returns
                                           *  whatever follows

The d, p, w and r in front are what the instruction writes. A ? after a letter: it may be missing.
What is no form is refused, so that whoever emits an instruction finds the operands that it has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from ..phrases import Phrase
from .matrices import matrix_problem
from .program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    PtxError,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)
from .tokens import line_number

__all__ = ["check_forms", "opcodes", "place_of", "refusal", "result_count"]

_MACROS = {
    "INTS": ".(u16|u32|u64|s16|s32|s64)",
    "WORDS": ".(u32|u64|s32|s64)",
    "BITS": ".(b16|b32|b64)",
    "SCALARS": ".(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)",
    "BYTES": ".(u8|u16|u32|u64|s8|s16|s32|s64)",
    "HALVES": ".(f16|f16x2)",
    "BFLOATS": ".(bf16|bf16x2)",
    "FLOATS": ".(f16|bf16|f32|f64)",
    "FP8": ".(e4m3x2|e5m2x2)",
    "ROUND": "(.rn|.rz|.rm|.rp)",
    "WHOLE": "(.rni|.rzi|.rmi|.rpi)",
    "ORDER": ".(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)",
    "COMPARE": ".(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)",
    "LOGIC": ".(and|or|xor)",
    "ACCESS": "(.(weak|volatile|relaxed|acquire|release|acq_rel|sc|mmio|cta|cluster|gpu|sys|const"
    "|global|local|param|shared|param::entry|param::func|shared::cta|shared::cluster|ca|cg|cs|lu"
    "|cv|nc|wb|wt|L[12]::\\w+|L[12]::evict_\\w+))*",
    "MEMORY": "(.v2|.v4|.v8)?.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
    "LOADED": ".shared::cluster.global",
    "STORED": ".global.shared::cta",
    "PASSED": ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
    "TOLD": ".mbarrier::complete_tx::bytes",
    "ANYWHERE": "(.shared::cluster)?",
    "GROUP": ".bulk_group(.L2::cache_hint)?",
    "HINT": "(.L2::cache_hint)?",
    "BOXES": ".tensor.(1d|2d|3d|4d|5d)",
    "IMAGES": ".tensor.(3d|4d|5d)",
    "REDUCED": ".(add|min|max|inc|dec|and|or|xor)",
    "SCOPE": ".(cta|cluster|gpu|sys)",
    "MAP": "(.global|.shared::cta)?.b1024",
    "EVICT": ".L2::evict_(first|last|normal|unchanged)",
    "TEXELS": ".(1d|2d|3d|a1d|a2d)",
    "SURFACE": "(.v2|.v4)?.(b8|b16|b32|b64)(.trap|.clamp|.zero)",
    "SPACE": ".(global|const|local|param|shared|shared::cta|shared::cluster|param::entry)",
}

_TABLE = """
add sub          .(u16|u32|u64|s16|s64|u16x2|s16x2)          d a a
add sub          (.sat)?.s32                                 d a a
add sub          .ccWORDS                                    d a a
add sub          ROUND?(.ftz)?(.sat)?.f32                    d a a
add sub mul      ROUND?.f64                                  d a a
add sub mul      (.rn)?(.ftz)?(.sat)?HALVES                  d a a
add sub mul      (.rn)?BFLOATS                               d a a
addc subc        (.cc)?WORDS                                 d a a
mul              (.lo|.hi|.wide).(u16|u32|s16|s32)           d a a
mul              (.lo|.hi).(u64|s64)                         d a a
mul              ROUND?(.ftz)?(.sat)?.f32                    d a a
mad              (.lo|.hi|.wide).(u16|u32|s16|s32)           d a a a
mad              (.lo|.hi).(u64|s64)                         d a a a
mad              .hi.sat.s32                                 d a a a
mad              (.lo|.hi).ccWORDS                           d a a a
madc             (.lo|.hi)(.cc)?WORDS                        d a a a
fma mad          ROUND?(.ftz)?(.sat)?.f32                    d a a a
fma mad          ROUND?.f64                                  d a a a
fma              .rn(.ftz)?(.sat|.relu)?HALVES               d a a a
fma              .rn(.relu)?BFLOATS                          d a a a
mul24            (.lo|.hi).(u32|s32)                         d a a
mad24            (.lo|.hi).(u32|s32)                         d a a a
mad24            .hi.sat.s32                                 d a a a
div rem          INTS                                        d a a
div              (.approx|.full|ROUND)(.ftz)?.f32            d a a
div              ROUND.f64                                   d a a
sad              INTS                                        d a a a
abs neg          .(s16|s32|s64|f64)                          d a
abs neg          (.ftz)?.f32                                 d a
abs neg          (.ftz)?HALVES                               d a
abs neg          BFLOATS                                     d a
min max          .(u16|u32|u64|u16x2|s16|s64|f64)            d a a
min max          (.relu)?.(s32|s16x2)                        d a a
min max          .(s32|s16x2).relu                           d a a
min max          (.ftz)?(.NaN)?(.xorsign.abs)?.f32           d a a
min max          (.ftz)?(.NaN)?(.xorsign.abs)?HALVES         d a a
min max          (.NaN)?(.xorsign.abs)?BFLOATS               d a a
sqrt rcp         (.approx|ROUND)(.ftz)?.f32                  d a
sqrt rcp         ROUND.f64                                   d a
rcp              .approx.ftz.f64                             d a
rsqrt            .approx(.ftz)?.(f32|f64)                    d a
sin cos lg2 ex2  .approx(.ftz)?.f32                          d a
ex2              .approxHALVES                               d a
ex2              .approx.ftzBFLOATS                          d a
tanh             .approx.(f32|f16|f16x2|bf16|bf16x2)         d a
copysign         .(f32|f64)                                  d a a
testp            .(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)  p a

and or xor       BITS                                        d a a
and or xor       .pred                                       p q q
not              BITS                                        d a
not              .pred                                       p q
cnot             BITS                                        d a
lop3             .b32                                        d a a a n
lop3             .(and|or).b32                               d p a a a n q
shl              BITS                                        d a a
shr              .(b16|b32|b64|u16|u32|u64|s16|s32|s64)      d a a
shf              (.l|.r)(.clamp|.wrap).b32                   d a a a
popc clz brev    .(b32|b64)                                  d a
bfind            (.shiftamt)?WORDS                           d a
bfe              WORDS                                       d a a a
bfi              .(b32|b64)                                  d a a a a
bmsk             (.clamp|.wrap).b32                          d a a
szext            (.clamp|.wrap).(u32|s32)                    d a a
fns              .b32                                        d a a a
prmt             .b32(.f4e|.b4e|.rc8|.ecl|.ecr|.rc16)?       d a a a
dp4a             .(u32|s32).(u32|s32)                        d a a a
dp2a             (.lo|.hi).(u32|s32).(u32|s32)               d a a a
vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2  .(u32|s32).(u32|s32).(u32|s32)(.sat|.add)?  d a a a
vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4  .(u32|s32).(u32|s32).(u32|s32)(.sat|.add)?  d a a a
vset2 vset4      .(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge)(.add)?  d a a a

setp             ORDER.(b16|b32|b64|u16|u32|u64|s16|s32|s64)                 p p? a a
setp             COMPARE(.ftz)?.(f16|f16x2|bf16|bf16x2|f32|f64)              p p? a a
setp             ORDERLOGIC.(b16|b32|b64|u16|u32|u64|s16|s32|s64)            p p? a a q
setp             COMPARELOGIC(.ftz)?.(f16|f16x2|bf16|bf16x2|f32|f64)         p p? a a q
set              ORDER.(u32|s32|f32).(b16|b32|b64|u16|u32|u64|s16|s32|s64)   d a a
set              ORDERLOGIC.(u32|s32|f32).(b16|b32|b64|u16|u32|u64|s16|s32|s64)      d a a q
set              COMPARE(.ftz)?.(u16|s16|u32|s32|f16|bf16|f32).(f16|bf16|f32|f64)    d a a
set              COMPARELOGIC(.ftz)?.(u16|s16|u32|s32|f16|bf16|f32).(f16|bf16|f32|f64)  d a a q
set              COMPARE(.ftz)?.(u32|s32|f16x2|bf16x2).(f16x2|bf16x2)        d a a
set              COMPARELOGIC(.ftz)?.(u32|s32|f16x2|bf16x2).(f16x2|bf16x2)   d a a q
selp             SCALARS                                     d a a q
slct             (.ftz)?SCALARS.(s32|f32)                    d a a a
mov              .(b8|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64)      d a
mov              .(b16|b32|b64|b128)                         w v
mov              .pred                                       p q

cvt              (.sat)?BYTESBYTES                           d a
cvt              WHOLE(.ftz)?(.sat)?BYTESFLOATS              d a
cvt              ROUND(.ftz)?(.sat)?FLOATSBYTES              d a
cvt              (ROUND|WHOLE)?(.ftz)?(.sat)?FLOATSFLOATS    d a
cvt              (.rn|.rz)(.relu)?(.satfinite)?.(f16|bf16).f32        d a
cvt              (.rn|.rz)(.relu)?(.satfinite)?.(f16x2|bf16x2).f32    d a a
cvt              .rna(.satfinite)?.tf32.f32                  d a
cvt              (.rn|.rz)(.relu)?.tf32.f32                  d a
cvt              .rn.satfinite(.relu)?FP8.f32                d a a
cvt              .rn.satfinite(.relu)?FP8.f16x2              d a
cvt              .rn(.relu)?.f16x2FP8                        d a
cvt              .pack.sat.(u16|s16).s32                     d a a
cvt              .pack.sat.(u2|s2|u4|s4|u8|s8|u16|s16).s32.b32  d a a a

ld ldu           ACCESSMEMORY                                w m a?
st               ACCESSMEMORY                                m v a?
atom             ACCESSLOGICACCESS.(b32|b64)                             d m a a?
atom             ACCESS.(min|max)ACCESSWORDS                             d m a a?
atom             ACCESS.(inc|dec)ACCESS.u32                              d m a a?
atom             ACCESS.addACCESS(.v2|.v4)?.(u32|s32|u64|s64|f32|f64)    w m v a?
atom             ACCESS.addACCESS.noftzACCESS(.v2|.v4|.v8)?.(f16|f16x2|bf16|bf16x2)  w m v a?
atom             ACCESS.exchACCESS.(b32|b64|b128)                        d m a a?
atom             ACCESS.casACCESS.(b16|b32|b64|b128)                     d m a a a?
red              ACCESSLOGICACCESS.(b32|b64)                             m a a?
red              ACCESS.(min|max)ACCESSWORDS                             m a a?
red              ACCESS.(inc|dec)ACCESS.u32                              m a a?
red              ACCESS.addACCESS(.v2|.v4)?.(u32|s32|u64|s64|f32|f64)    m v a?
red              ACCESS.addACCESS.noftzACCESS(.v2|.v4|.v8)?.(f16|f16x2|bf16|bf16x2)    m v a?
st               .async(.weak)?ANYWHERETOLD(.v2)?.(b32|b64|u32|u64|s32|s64|f32|f64)  m v m
st               .async(.weak)?ANYWHERETOLD.v4.(b32|u32|s32|f32)  m v m
red              .async.relaxed.clusterANYWHERETOLD.add.(u32|s32|u64|s64)  m a m
red              .async.relaxed.clusterANYWHERETOLD.(min|max).(u32|s32)  m a m
red              .async.relaxed.clusterANYWHERETOLD.(inc|dec).u32  m a m
red              .async.relaxed.clusterANYWHERETOLDLOGIC.b32  m a m
cvta             (.to)?SPACE.(u32|u64)                       d a
isspacep         SPACE                                       p a
mapa             (.shared::cluster)?.(u32|u64)               d a a
getctarank       (.shared::cluster)?.(u32|u64)               d a
membar           .(cta|gl|sys)                               -
fence            (.(sc|acq_rel|acquire|release|sync_restrict::\\S+))?(.(cta|cluster|gpu|sys))?  -
fence            .(mbarrier_init|proxy).*                    *
prefetch prefetchu applypriority discard  .*                 m n?
createpolicy     .fractionalEVICT(EVICT)?.b64                d a?
createpolicy     .range(.global)?EVICT(EVICT)?.b64           d m a a
createpolicy     .cvt.L2.b64                                 d a
nanosleep        .u32                                        a
pmevent          (.mask)?                                    n
griddepcontrol   .(wait|launch_dependents)                   -
cp               .async(.ca|.cg).shared(::cta)?.global(.L[12]::\\w+)*  m m n * a?
cp               .async.(commit_group|wait_all)              -
cp               .async.wait_group                           n
cp               .async.mbarrier.arrive(.noinc)?(.shared|.shared::cta)?.b64      m
cp               .async.bulk.commit_group                    -
cp               .async.bulk.wait_group(.read)?              n
cp               .async.bulk.shared::(cta|cluster).globalTOLDHINT  m m a m a?
cp               .async.bulkLOADEDTOLD.multicast::clusterHINT  m m a m a a?
cp               .async.bulkPASSED                           m m a m
cp               .async.bulkSTOREDGROUP                      m m a a?
cp               .async.bulk.prefetch.L2.globalHINT          m a a?
cp               .async.bulkBOXES.shared::(cta|cluster).global(.tile)?TOLDHINT  m t m a?
cp               .async.bulkBOXESLOADED(.tile)?TOLD.multicast::clusterHINT  m t m a a?
cp               .async.bulkIMAGES.shared::(cta|cluster).global.im2colTOLDHINT  m t m v a?
cp               .async.bulkIMAGESLOADED.im2colTOLD.multicast::clusterHINT  m t m v a a?
cp               .async.bulkBOXESSTORED(.tile)?GROUP         t m a?
cp               .async.bulkIMAGESSTORED.im2col_no_offsGROUP t m a?
cp               .async.bulk.prefetchBOXES.L2.global(.tile)?HINT  t a?
cp               .async.bulk.prefetchIMAGES.L2.global.im2colHINT  t v a?
cp               .reduce.async.bulkBOXESSTOREDREDUCED(.tile)?GROUP  t m a?
cp               .reduce.async.bulkIMAGESSTOREDREDUCED.im2col_no_offsGROUP  t m a?
cp               .reduce.async.bulkPASSED.add.(u32|s32|u64)  m m a m
cp               .reduce.async.bulkPASSED.(min|max).(u32|s32)  m m a m
cp               .reduce.async.bulkPASSED.(inc|dec).u32      m m a m
cp               .reduce.async.bulkPASSEDLOGIC.b32           m m a m
cp               .reduce.async.bulkSTOREDGROUP.add.(u32|s32|u64|f32|f64)  m m a a?
cp               .reduce.async.bulkSTOREDGROUP.add.noftz.(f16|bf16)  m m a a?
cp               .reduce.async.bulkSTOREDGROUP.(min|max).(u32|s32|u64|s64|f16|bf16)  m m a a?
cp               .reduce.async.bulkSTOREDGROUP.(inc|dec).u32 m m a a?
cp               .reduce.async.bulkSTOREDGROUPLOGIC.(b32|b64)  m m a a?
tensormap        .replace.tile.global_addressMAP.b64         m a
tensormap        .replace.tile.global_strideMAP.b64          m n a
tensormap        .replace.tile.(box_dim|global_dim|element_stride)MAP.b32  m n a
tensormap        .replace.tile.(rank|elemtype|interleave_layout|swizzle_mode|fill_mode)MAP.b32  m a
tensormap        .cp_fenceproxySTORED.tensormap::generic.releaseSCOPE.sync.aligned  m m n
mbarrier         .initACCESS.b64                             m a
mbarrier         .invalACCESS.b64                            m
mbarrier         .(expect_tx|complete_tx)ACCESS.b64          m a
mbarrier         .(arrive|arrive_drop)(.noComplete)?ACCESS.b64  d m a?
mbarrier         .(arrive|arrive_drop)(.expect_tx)ACCESS.b64  d m a
mbarrier         .(test_wait|try_wait)(.parity)?ACCESS.b64   p m a a?
mbarrier         .pending_count.b64                          d a

shfl             (.up|.down|.bfly|.idx).b32                  d p? a a a
shfl             .sync(.up|.down|.bfly|.idx).b32             d p? a a a a
vote             .sync.(all|any|uni).pred                    p q a
vote             .sync.ballot.b32                            d q a
vote             .(all|any|uni).sync.pred                    p q a
vote             .ballot.sync.b32                            d q a
match            .any.sync.(b32|b64)                         d a a
match            .all.sync.(b32|b64)                         d p? a a
redux            .sync.(add|min|max).(u32|s32)               d a a
redux            .sync.(and|or|xor).b32                      d a a
elect            .sync                                       d p a
activemask       .b32                                        d
mma              .sync.aligned.*                             w v v v
mma              .sp(::\\w+)?.sync.aligned.*                 w v v v a n
wmma             .mma.*                                      w v v v
wmma             .load.*                                     w m a?
wmma             .store.*                                    m v a?
ldmatrix         .sync.*                                     w m
stmatrix         .sync.*                                     m v
movmatrix        .sync.*                                     d a
wgmma            .mma_async.sync.aligned.*                   w v v a q n? n? n? n?
wgmma            .(fence|commit_group).sync.aligned          -
wgmma            .wait_group.sync.aligned                    n
setmaxnreg       .(inc|dec).sync.aligned.u32                 n
bar barrier      (.cta)?.sync(.aligned)?                     a a?
bar barrier      (.cta)?.arrive(.aligned)?                   a a
tex              TEXELS.v4.(f32|s32|u32).(f32|s32)           w t
tex              .levelTEXELS.v4.(f32|s32|u32).f32           w t a
tld4             .(r|g|b|a).(2d|a2d).v4.(f32|s32|u32).f32    w t
suld             .bTEXELSSURFACE                             w t
sust             .bTEXELSSURFACE                             t v
bar barrier      (.cta)?.red.popc(.aligned)?.u32             d a a? q
bar barrier      (.cta)?.red.(and|or)(.aligned)?.pred        p a a? q
bar              .warp.sync                                  a
barrier          .cluster.arrive(.release|.relaxed)?(.aligned)?  -
barrier          .cluster.wait(.acquire)?(.aligned)?         -
bra              (.uni)?                                     l
brx              .idx(.uni)?                                 d l
ret exit         (.uni)?                                     -
trap brkpt       -                                           -
call             (.uni)?                                     r *
"""


_SPECIAL_PREDICATE = Special("is_explicit_cluster")


def _is_number(operand: Any) -> bool:
    if isinstance(operand, Register):
        return operand.type != "pred"
    return isinstance(operand, (Immediate, Special, Symbol)) and operand != _SPECIAL_PREDICATE


def _is_result(operand: Any) -> bool:
    return operand is None or (isinstance(operand, Register) and operand.type != "pred")


def _all_in(operand: Any, test: Callable) -> bool:
    """Whether a brace list, or the one operand in its place, passes a test."""
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    return len(elements) > 0 and all(test(element) for element in elements)


def _is_predicate(operand: Any) -> bool:
    return isinstance(operand, Register) and operand.type == "pred"


def _is_box(operand: Any) -> bool:
    if not isinstance(operand, Vector) or not isinstance(operand.elements[0], Address):
        return False
    places = operand.elements[1:]
    return len(places) == 1 and _all_in(places[0], _is_number)


_TESTS = {
    "d": _is_result,
    "p": lambda operand: operand is None or _is_predicate(operand),
    "a": _is_number,
    "q": lambda o: (
        _is_predicate(o) or isinstance(o, Immediate) or _is_negation(o) or o == _SPECIAL_PREDICATE
    ),
    "w": lambda operand: _all_in(operand, _is_result),
    "v": lambda operand: _all_in(operand, _is_number),
    "m": lambda operand: isinstance(operand, Address),
    "n": lambda operand: isinstance(operand, Immediate) and operand.kind == "int",
    "t": _is_box,
    "l": lambda operand: isinstance(operand, Symbol),
    "r": lambda operand: isinstance(operand, Vector),
}
_RESULTS = "dpwr"


def _is_negation(operand: Any) -> bool:
    return isinstance(operand, Not) and _is_predicate(operand.register)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """What a row says of modifiers: most programs need few rows, and reading one takes 0.5 ms."""
    for name, macro in _MACROS.items():
        text = text.replace(name, macro)
    return re.compile("" if text == "-" else re.sub(r"\.(?!\*)", r"\\.", text))


@cache
def _forms() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """By opcode, the patterns of modifiers with the operands that go with them."""
    forms: dict[str, list] = {}
    for line in filter(None, _TABLE.splitlines()):
        words = line.split()
        at = next(n for n, word in enumerate(words) if not word.islower() or not word.isalnum())
        operands = tuple(word for word in words[at + 1 :] if word != "-")
        for opcode in words[:at]:
            forms.setdefault(opcode, []).append((words[at], operands))
    return forms


def opcodes() -> set[str]:
    """All that have a form."""
    return set(_forms())


@cache
def _operands_of(opcode: str, modifiers: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What may follow an opcode with these modifiers."""
    text = "".join(f".{modifier}" for modifier in modifiers)
    rows = _forms()[opcode]
    return [operands for pattern, operands in rows if _pattern(pattern).fullmatch(text)]


def _fits(operands: tuple, letters: tuple[str, ...]) -> bool:
    if not letters:
        return not operands
    letter, *rest = letters
    if letter == "*":
        return any(_fits(operands[n:], tuple(rest)) for n in range(len(operands) + 1))
    taken = operands and _TESTS[letter[0]](operands[0]) and _fits(operands[1:], tuple(rest))
    return bool(taken) or (letter.endswith("?") and _fits(operands, tuple(rest)))


_result_counts: dict[tuple, int] = {}


def result_count(item: Instruction) -> int:
    """How many operands an instruction writes, which are its first ones."""
    key = item.opcode, item.modifiers, len(item.operands)  # that is all it depends on
    if key not in _result_counts:
        forms = _operands_of(item.opcode, item.modifiers)
        letters = next(letters for letters in forms if _fits(item.operands, letters))
        results = [letter for letter in letters if letter[0] in _RESULTS]
        absent = len(letters) - len(item.operands) if "p?" in results else 0
        _result_counts[key] = len(results) - absent
    return _result_counts[key]


class Misfit(Phrase):
    """Why an instruction has no form here."""

    FORM = "no such form of it is known here"
    OPERANDS = "these are not its operands"
    PREDICATE = "{name} is no predicate"
    WIDTH = "{count} values, where it moves {width}"
    PARTS = "{count} parts of {bits} bits"
    NAME = "there is no {name}"
    LABEL = "there is no label {name}"
    LIST = "there is no list {name}"
    FUNCTION = "there is no function {name} here"
    BUILT_IN = "{name} takes {takes} bytes and returns {returns}"
    PARAMETERS = "{name} has other parameters"
    PASSED = "only .param variables are passed here"
    PROTOTYPE = "no prototype is given"


def _problem(item: Instruction) -> str:
    """What keeps an instruction from being of any form; "" if nothing does."""
    if item.predicate and item.predicate.type != "pred":
        return Misfit.PREDICATE(name=item.predicate.name)
    candidates = _operands_of(item.opcode, item.modifiers)
    if not candidates:
        return Misfit.FORM()
    if any(_fits(item.operands, letters) for letters in candidates):
        return ""
    return Misfit.OPERANDS()


def place_of(module: Module, function: Function, item: Instruction) -> str:
    """Where an instruction stands, in words: its line of CUDA source or else of PTX."""
    known = item.user_line
    line = str(known) if known.line else f"PTX line {line_number(module.text, item.token)}"
    return f"{line}, in {function.name}"


def refusal(module: Module, function: Function, item: Instruction, why: str = "") -> PtxError:
    """An instruction that cannot be run, with the place where it stands."""
    where = place_of(module, function, item)
    reason = f": {why}" if why else ""
    error = PtxError(f"the software GPU does not run the instruction {item.name} ({where}){reason}")
    error.why = why
    return error


def _sizes(variables: list[Variable]) -> list[int]:
    return [variable.bytes for variable in variables]


_BUILT_IN = {
    "vprintf": ([4], [8, 8]),
    "malloc": ([8], [8]),
    "free": ([], [8]),
    "__assertfail": ([], [8, 8, 4, 8, 8]),
    "cudaGraphSetConditional": ([], [8, 4]),
}
"""The functions that every GPU has: the bytes of their results and of their parameters."""


def _built_in_problem(name: str, handed: list[int], returned: int) -> str:
    """What keeps a call from being one of a function that every GPU has; a result may be unused."""
    if name not in _BUILT_IN:
        return Misfit.FUNCTION(name=name)
    results, parameters = _BUILT_IN[name]
    if handed[returned:] == parameters and handed[:returned] in ([], results):
        return ""
    takes = " + ".join(map(str, parameters))
    return Misfit.BUILT_IN(name=name, takes=takes, returns=sum(results))


def _call_problem(module: Module, function: Function, item: Instruction) -> str:
    """What keeps a call from being one of a function or pointer with parameters that fit."""
    returned, target, passed, *more = item.operands
    formals = () if function.is_entry else (*function.params, *function.returns)
    known = {v.name: v.bytes for v in (*function.variables, *formals) if v.space == "param"}
    handed = []
    for operand in (*returned.elements, *passed.elements):
        if not isinstance(operand, Symbol) or operand.offset or operand.name not in known:
            return Misfit.PASSED()
        handed.append(known[operand.name])
    if isinstance(target, Register):
        has_prototype = target.type in ("b64", "u64", "s64") and more
        return "" if has_prototype else Misfit.PROTOTYPE()
    if not isinstance(target, Symbol) or target.name not in module.functions:
        return Misfit.FUNCTION(name=getattr(target, "name", target))
    callee = module.functions[target.name]
    if not callee.is_defined:
        return _built_in_problem(callee.name, handed, len(returned.elements))
    if not callee.returns:  # in another text, perhaps: linkers let a caller expect something
        handed = handed[len(returned.elements) :]
    fits = _sizes(callee.returns + callee.params) == handed and not callee.is_entry
    return "" if fits else Misfit.PARAMETERS(name=callee.name)


def _names(operand: Any) -> list[str]:
    """The symbols in an operand."""
    if isinstance(operand, Symbol):
        return [operand.name]
    if isinstance(operand, Address) and isinstance(operand.base, str):
        return [operand.base]
    elements = operand.elements if isinstance(operand, Vector) else ()
    return [name for element in elements for name in _names(element)]


def _name_problem(item: Instruction, known: set[str]) -> str:
    unknown = [name for operand in item.operands for name in _names(operand) if name not in known]
    return Misfit.NAME(name=unknown[0]) if unknown else ""


def _width_problem(item: Instruction) -> str:
    """What keeps an access from moving as many values as its .v2, .v4 or .v8 says."""
    width = next((int(m[1:]) for m in item.modifiers if m in ("v2", "v4", "v8")), 1)
    operands = [operand for operand in item.operands if not isinstance(operand, Address)]
    counts = [len(o.elements) for o in operands if isinstance(o, Vector)] or [1]
    return "" if set(counts) == {width} else Misfit.WIDTH(count=counts[0], width=width)


def _parts_problem(item: Instruction) -> str:
    """What keeps a `mov` from taking a register apart, or putting one together."""
    counts = {len(o.elements) for o in item.operands if isinstance(o, Vector)}
    bits = int(item.modifiers[-1].lstrip("bsuf")) if counts else 0
    if all(count in (2, 4) and bits // count >= 8 for count in counts) and len(counts) < 2:
        return ""
    return Misfit.PARTS(count=min(counts), bits=bits)


def _jump_problem(function: Function, item: Instruction, labels: set[str]) -> str:
    targets = [item.operands[-1].name]
    if item.opcode == "brx":
        if targets[0] not in function.branch_targets:
            return Misfit.LIST(name=targets[0])
        targets = function.branch_targets[targets[0]]
    return next((Misfit.LABEL(name=name) for name in targets if name not in labels), "")


def check_forms(module: Module, function: Function) -> None:
    """Refuse a function with an instruction that is of none of the known forms."""
    variables = (*function.variables, *function.params, *function.returns)
    known = {*module.variables, *module.functions, *(variable.name for variable in variables)}
    labels = {item.name for item in function.body if isinstance(item, Label)}
    for item in function.body:
        if isinstance(item, Label) or item.opcode not in _forms():
            continue
        problem = _problem(item)
        if problem:
            pass
        elif item.opcode == "call":
            problem = _call_problem(module, function, item)
        elif item.opcode in ("bra", "brx"):
            problem = _jump_problem(function, item, labels)
        else:
            problem = _name_problem(item, known)
            if item.opcode in ("ld", "ldu", "st", "atom", "red"):
                problem = problem or _width_problem(item)
            elif item.opcode == "mov":
                problem = problem or _parts_problem(item)
            elif item.opcode in ("mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"):
                problem = problem or matrix_problem(item)
        if problem:
            raise refusal(module, function, item, problem)
