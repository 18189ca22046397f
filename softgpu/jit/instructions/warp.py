"""Shuffles, votes, barriers and traps."""

from __future__ import annotations

from ... import contract
from ...ptx.program import Immediate
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from ..facts.types import bits_of

# --- shuffles and votes --------------------------------------------------------------------------

_SHUFFLES = contract.names("Shuffle", "SHUFFLE_")


def _source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Return (source lane, in range) of shfl for constant operands, as the PTX manual defines
    it."""
    clamp, segment = c & 31, c >> 8 & 31
    highest = (lane & segment) | (clamp & ~segment & 31)
    lowest = lane & segment
    if mode == "up":
        source, inside = lane - b, lane - b >= highest
    elif mode == "down":
        source, inside = lane + b, lane + b <= highest
    elif mode == "bfly":
        source, inside = lane ^ b, lane ^ b <= highest
    else:
        source = lowest | (b & ~segment & 31)
        inside = source <= highest
    return (source if inside else lane), inside


def _meet(e: FunctionEmitter, item, site: int) -> Value:
    """Return the active lanes that a member mask names. As on an H100, a mask that ptxas knows
    is ignored, and all executing lanes take part; any other mask stops the launch if it leaves
    out an executing lane."""
    known = e.found.masks.get(item)
    if known is not None:
        if known != 0xFFFFFFFF:
            _tell_left_out(e, site, e.op("and", e.active, _signed(~known & 0xFFFFFFFF)), known)
        return e.active
    members = e.read(item.operands[-1], "b32")
    named = members
    if not members.uniform:
        own = e.lanes(_signed(1 << lane) for lane in range(LANES))
        named = e.bits(e.compare("icmp ne", e.op("and", members, own), 0))
    _tell_left_out(e, site, e.op("and", e.active, e.invert(named)), 0)
    return e.op("and", members, e.active)


def _tell_left_out(e: FunctionEmitter, site: int, left_out: Value, known: int) -> None:
    with e.when(e.compare("icmp ne", left_out, 0)):
        place = f"i32 {site}", str(left_out)
        e.call_void("sg_left_out", "ptr %w", *place, f"i32 {_signed(known)}")


@instruction("shfl")
def _shuffle(e, item):
    mode = next(m for m in item.modifiers if m in _SHUFFLES)
    operands = list(item.operands)
    if "sync" in item.modifiers:
        members = operands.pop()
        b, c = operands[-2:]
        site = e.site(item, "shuffle")
        e.observer.shuffle(site, members, _SHUFFLES.index(mode), b, c)
        _meet(e, item, site)
    a, b, c = operands[-3:]
    results = operands[:-3]
    value = e.splat(e.read(a, "b32"))
    if isinstance(b, Immediate) and isinstance(c, Immediate):
        picks = [_source_lane(mode, lane, b.value & 31, c.value) for lane in range(LANES)]
        order = ", ".join(f"i32 {source}" for source, _ in picks)
        text = e.assign(f"shufflevector {value}, {value.type} poison, <{LANES} x i32> <{order}>")
        inside = e.from_bits(str(_signed(sum(ok << lane for lane, (_, ok) in enumerate(picks)))))
        moved = Value(text, "i32", False)
    else:
        inputs = e.spill_all(value, e.read(b, "u32"), e.read(c, "u32"))
        out, bits = e.temporary("i32", 1, "result"), e.temporary("i32", 1, "in range")
        number = f"i32 {_SHUFFLES.index(mode)}"
        e.call_void("sg_shuffle", number, *inputs, e.active, f"ptr {out}", f"ptr {bits}")
        moved = e.unspill(out, "i32")
        inside = e.from_bits(e.assign(f"load i32, ptr {bits}"))
    e.write(results[0], moved)
    if len(results) > 1:
        e.write(results[1], inside)


def _signed(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits


def _vote_members(e: FunctionEmitter, item) -> Value:
    """Return the lanes that take part in an instruction with a member mask."""
    site = e.site(item, "shuffle")
    e.observer.vote(site, item.operands[-1])
    return _meet(e, item, site)


@instruction("vote")
def _vote(e, item):
    mode = next(m for m in item.modifiers if m in ("all", "any", "uni", "ballot"))
    members = _vote_members(e, item)
    yes = e.op("and", e.bits(e.read(item.operands[1], "pred")), members)
    all_agree = e.compare("icmp eq", yes, members)
    none = e.compare("icmp eq", yes, 0)
    result = {
        "ballot": lambda: yes,
        "all": lambda: all_agree,
        "any": lambda: e.invert(none),
        "uni": lambda: e.op("or", all_agree, none),
    }[mode]()
    e.write(item.operands[0], result)


@instruction("activemask")
def _activemask(e, item):
    e.write(item.operands[0], e.active)


@instruction("elect")
def _elect(e, item):
    members = _vote_members(e, item)
    leader = e.intrinsic("cttz", members, tail="i1 false")
    e.write(item.operands[0], leader)
    e.write(item.operands[1], e.compare("icmp eq", e.lanes(range(LANES)), leader))


@instruction("match")
def _match(e, item):
    size = bits_of(item.modifiers[-1]) // 8
    value = e.read(item.operands[-2], item.modifiers[-1])
    members = _vote_members(e, item)
    pointer = f"ptr {e.spill(value)}"
    out = e.temporary("i32", 1, "result")
    e.call_void("sg_match_any", f"i32 {size}", pointer, e.active, f"ptr {out}")
    equal = e.op("and", e.unspill(out, "i32"), members)
    if "any" in item.modifiers:
        e.write(item.operands[0], equal)
        return
    same = e.compare("icmp eq", equal, members)
    if members.uniform:  # then the first active lane decides for all
        lane = e.intrinsic("cttz", e.active, tail="i1 true")
        same = e.extract(same, lane.text)
    e.write(item.operands[0], e.select(same, members, 0))
    if len(item.operands) == 4:
        e.write(item.operands[1], same)


_NEUTRAL = {"add": 0, "and": -1, "or": 0, "xor": 0}
_NEUTRAL |= {"umin": -1, "umax": 0, "smin": 2**31 - 1, "smax": -(2**31)}


@instruction("redux")
def _redux(e, item):
    operation = next(m for m in item.modifiers if m in (*_NEUTRAL, "min", "max"))
    kind = item.modifiers[-1]
    if kind not in ("u32", "s32", "b32"):
        raise e.refusal(item)
    value = e.splat(e.read(item.operands[1], kind))
    members = _vote_members(e, item)
    if operation in ("min", "max"):
        operation = kind[0] + operation
    if members.uniform:
        e.write(item.operands[0], _reduced(e, operation, value, members))
        return
    # lanes with different member masks form groups: reduce for each group in turn
    left, out = e.temporary("i32", 1, "left"), e.temporary("i32", 1, "result")
    mask_lanes = e.spill(members, "members")
    e.line(f"store {e.active}, ptr {left}")
    again, end = e.label(), e.label()
    e.line(f"br label %{again}")
    e.start(again)
    rest = Value(e.assign(f"load i32, ptr {left}"), "i32", True)
    lane = e.intrinsic("cttz", rest, tail="i1 true")
    at = e.assign(f"getelementptr i32, ptr {mask_lanes}, i32 {lane.text}")
    group = Value(e.assign(f"load i32, ptr {at}"), "i32", True)
    group = e.op("and", group, e.active)
    group = e.op("or", group, e.op("shl", 1, lane))
    result = e.splat(_reduced(e, operation, value, group))
    merged = e.select(e.from_bits(group.text), result, e.unspill(out, "i32"))
    e.line(f"store {merged}, ptr {out}, align 64")
    rest = e.op("and", rest, e.invert(group))
    e.line(f"store {rest}, ptr {left}")
    e.line(f"br {e.compare('icmp eq', rest, 0)}, label %{end}, label %{again}")
    e.start(end)
    e.write(item.operands[0], e.unspill(out, "i32"))


def _reduced(e: FunctionEmitter, operation: str, value: Value, members: Value) -> Value:
    neutral = e.constant(_NEUTRAL[operation], "i32", uniform=False)
    chosen = e.select(e.from_bits(members.text), value, neutral)
    name = f"llvm.vector.reduce.{operation}.v{LANES}i32"
    e.text.declare(name, f"declare i32 @{name}(<{LANES} x i32>)")
    return Value(e.assign(f"call i32 @{name}({chosen})"), "i32", True)


# --- barriers, traps -----------------------------------------------------------------------------


@instruction("bar", "barrier")
def _barrier(e, item):
    modifiers = [m for m in item.modifiers if m not in ("cta", "aligned")]
    if "cluster" in modifiers:
        _barrier_of_cluster(e, item)
        return
    if modifiers[0] == "warp":  # the lanes of a warp already run in lockstep
        site = e.site(item, "other")
        e.observer.warp_barrier(site, item.operands[0])
        _meet(e, item, site)
        return
    reduction = modifiers[1] if modifiers[0] == "red" else None
    operands = list(item.operands)
    destination = operands.pop(0) if reduction else None
    predicate = operands.pop() if reduction else None
    number = _first_lane(e, operands[0])
    threads = _first_lane(e, operands[1]) if len(operands) > 1 else "0"
    with e.when_active():
        site = e.site(item, "barrier")
        e.observer.barrier(site, number, threads, waits=modifiers[0] != "arrive")
        common = ["ptr %w", f"i32 {site}", f"i32 {number}", f"i32 {threads}", e.active]
        if modifiers[0] == "arrive":
            e.call_checked("void", "barrier_arrive", *common)
        elif number == threads == "0" and not reduction and not e.mode.through_driver:
            e.sync(site)
        else:
            votes = e.bits(e.read(predicate, "pred")) if reduction else "i32 0"
            kind = {None: 0, "popc": 1, "and": 2, "or": 3}[reduction]
            result = e.call_checked("i32", "barrier", *common, f"i32 {kind}", votes)
            if reduction == "popc":
                e.write(destination, Value(result, "i32", True))
            elif reduction:
                e.write(destination, e.compare("icmp ne", Value(result, "i32", True), 0))


def _barrier_of_cluster(e: FunctionEmitter, item) -> None:
    step = "arrive" if "arrive" in item.modifiers else "wait"
    with e.when_active():
        place = f"i32 {e.site(item, 'barrier')}", str(e.active)
        e.call_checked("void", f"cluster_{step}", "ptr %w", *place)


def _first_lane(e: FunctionEmitter, operand) -> str:
    value = e.read(operand, "u32")
    lane = e.intrinsic("cttz", e.active, tail="i1 false")
    lane = e.op("and", lane, 31)
    return e.extract(value, lane.text).text


@instruction("trap", "brkpt")
def _trap(e, item):
    with e.when_active():
        e.call_void("sg_trap", "ptr %w", f"i32 {e.site(item, 'trap')}", e.active)
