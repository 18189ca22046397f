"""Make a chip's constants of what measure.py found:

    python bench/chip/constants.py softgpu/xray/chips/h200.csv > softgpu/xray/chips/h200.json

Each constant is one measurement, or a difference or a slope of two."""

import csv
import json
import sys

import numpy as np

from softgpu.xray.chip import LIMITS

MB = 1 << 20


class Values:
    """Measured values: values("write", bytes=..., width=16)."""

    def __init__(self, path):
        self.rows = []
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                how = dict(item.split("=") for item in row["how"].split() if "=" in item)
                self.rows.append((row["what"], how, float(row["value"]), row["how"]))

    def all(self, what, **how):
        """[(how, value)] of the measurements that were made so."""
        wanted = {key: str(value) for key, value in how.items()}
        return [(h, v) for w, h, v, _ in self.rows if w == what and wanted.items() <= h.items()]

    def __call__(self, what, **how):
        return self.all(what, **how)[0][1]


def clock(v):
    """Cycles per µs: the slope between a short and a long kernel of known cycles."""
    cycles, us = [], []
    for name, pipe in (("fma32_rate", "fma32 rate"), ("special_rate", "special rate")):
        cycles.append(64 * 16 * 4 * 1024 / v(pipe))
        us.append(cycles[-1] / v("clock", kernel=name))
    return (cycles[1] - cycles[0]) / (us[1] - us[0])


def per_step(v, name, launch, sms, **how):
    """µs of one step of a loop of loads, where few are under way: {(width, deep): µs}."""
    found = {}
    for h, us in v.all(name, threads=32, **how):
        flying = int(h["width"]) * int(h["deep"]) * 32 * sms
        found[int(h["width"]), int(h["deep"])] = (us - launch) / (int(h["bytes"]) / flying)
    return found


def both(latency, throughput, waiting):
    """As in softgpu/xray/clock.py: what two limits take together."""
    apart = ((latency - throughput) ** 2 + 4 * waiting * latency * throughput) ** 0.5
    return (latency + throughput + apart) / 2


def queueing(v, launch, step, peak, sms):
    """How much later data comes as memory gets busy: by reads of one load at a time, of all
    numbers of threads."""
    points = []  # what the latency needs, what the memory needs, and what both took
    for how, us in v.all("read dram", deep=1):
        bytes_, width = int(how["bytes"]), int(how["width"])
        turns = bytes_ / (width * int(how["threads"]) * sms)
        points.append((turns * step[width, 1], bytes_ / peak / 1e3, us - launch))

    def error(share):
        return sum((both(a, b, share) / took - 1) ** 2 for a, b, took in points)

    return min((n / 1000 for n in range(300)), key=error)


def scrambled(i):
    """As in chip.cu."""
    i *= np.uint32(0x9E3779B1)
    i ^= i >> np.uint32(15)
    i *= np.uint32(0x85EBCA77)
    return i ^ i >> np.uint32(13)


def turns_of(adds, words):
    """Turns that the L2 takes for the kernel's random atomics: a warp's instruction goes through
    each sector of 8 words as often as lanes want its most wanted word."""
    thread, step = np.divmod(np.arange(adds, dtype=np.uint32), np.uint32(4))
    word = scrambled(4 * thread + step) & np.uint32(words - 1)
    instruction = (thread // 32 * 4 + step).astype(np.int64)
    places, lanes = np.unique(instruction * words + word, return_counts=True)
    sectors, first = np.unique(places // 8, return_index=True)
    return np.maximum.reduceat(lanes, first).sum()


def atomics(v, launch, kind):
    """ns of one turn, by how many lines they are spread over."""
    found = {}
    for how, us in v.all("atomics", kind=kind, together=0):
        words, adds = int(how["words"]), int(how["adds"])
        if 32 <= words <= 1 << 20:
            found[words // 32] = 1e3 * (us - launch) / float(turns_of(adds, words))
    return found


def turn(v, launch, mhz):
    """From a block's end to the work of its successor: by blocks that wait for 8000 cycles, eight
    on a multiprocessor at a time, 32 one after the other."""
    return (v("waits", threads=256, seats=8, cycles=8000) - launch) / 32 - 8000 / mhz


def first_us(v, launch, sms):
    """Until data is there from memory, for one block and for one on each of all multiprocessors:
    the slowest of them counts."""
    return {
        told: v("one_step", blocks=blocks, threads=256, cold=True)
        - v("nothing", blocks=blocks, threads=256, cold=True)
        for told, blocks in (("one", 1), ("all", sms))
    }


QUARTERS = 4  # of a multiprocessor
DEEP = {"TF32": 8, "HGMMA": 16, "QGMMA": 32, "IGMMA": 32}  # along k


def products(v):
    """By opcode: cycles until a product can be added to, and of a busy multiprocessor, also where
    the second factor is another one each time; of warpgroups, for each of their four warps."""
    found = {}
    for of in ("latency", "rate", "fresh"):
        for how, cycles in v.all("product", of=of):
            found.setdefault(how["opcode"], []).append(cycles)
    for how, cycles in v.all("group product", of="latency", a="shared"):
        base, *kind = how["opcode"].split(".")
        deep = DEEP.get(kind[-1]) or DEEP[base]
        name = ".".join([base, f"64x{how['columns']}x{deep}", *kind])
        same = {key: how[key] for key in ("opcode", "columns", "a")}
        busy = v("group product", of="rate", groups=2, **same)
        found[name] = [cycles, busy / QUARTERS]
    return found


def hopper(v):
    """What chips with bulk copies have: cycles of one that is waited for, and of each byte
    of it; of an mbarrier's passing."""
    boxes = {int(h["bytes"]): n for h, n in v.all("boxes", deep=1, blocks=1, cold=False)}
    if not boxes:
        return {}
    least, most = min(boxes), max(boxes)
    each = (boxes[most] - boxes[least]) / (most - least)
    return {"box": [boxes[least] - each * least, each], "loaded": loaded(v)}


def loaded(v):
    """Cycles per µs while tensor cores work on numbers, by how long they did: slopes between a
    shorter and a longer launch."""
    found = {}
    for kind, kernel in (("groups", "loaded_groups"), ("warps", "loaded_warps")):
        all_ = {int(h["turns"]): us for h, us in v.all("loaded", kernel=kernel, data="numbers")
                if "blocks" not in h}  # fmt: skip
        turns = sorted(all_)[2:]  # the shortest are done before it shows
        each = v("loaded turn", kernel=kernel, data="numbers", turns=turns[-1])
        found[kind] = {
            str(round(all_[b])): each * (b - a) / (all_[b] - all_[a])
            for a, b in zip(turns, turns[1:])
        }
    return found


def further(v):
    """Latencies of ldmatrix, an mbarrier, a fence and a bulk copy's beginning, where they were
    measured."""
    found = {
        "matrices": v.all("ldmatrix", matrices=4, of="latency"),
        "signal": v.all("signal", of="own"), "fence": v.all("signal", of="fence"),
    }  # fmt: skip
    found = {name: values[0][1] for name, values in found.items() if values}
    many = v.all("boxes", bytes=1024, deep=8, blocks=1, cold=False)
    # a thread that asks for one box after the other, each time an mbarrier has been passed
    return found | ({"copy": many[0][1] - found["signal"]} if many else {})


def limits(v, sms):
    """What the chip has that the software GPU has otherwise."""
    found = {"multiprocessors": sms} | {how["of"]: int(n) for how, n in v.all("limit")}
    return {name: n for name, n in found.items() if n != LIMITS[name]}


def constants(path):
    v = Values(path)
    device, sms = next((how, int(value)) for what, _, value, how in v.rows if what == "device")
    mhz, nothing = clock(v), v("nothing", blocks=1, threads=256, cold=True)
    far = v("chase", bytes=1024 * MB)
    peak = max(int(h["bytes"]) / (us - nothing) for h, us in v.all("read dram") if us > 30) / 1e3
    many = {cold: v("nothing", blocks=1 << 20, threads=256, cold=cold) for cold in (True, False)}
    few = v("nothing", blocks=1 << 14, threads=256, cold=True)
    big = 512 * MB
    l2_line = (
        128 * 1e3 / max(int(h["bytes"]) / (us - nothing) for h, us in v.all("read l2") if us > 10)
    )
    l2_single = 1e3 * (v("random read", table=16 * MB, cold=False) - nothing) / 2**22
    stored_line = 4e3 * (v("write", bytes=32 * MB, width=16) - nothing) / MB
    stored_sector = 1e3 * (v("random write", table=16 * MB, cold=False) - nothing) / 2**22
    one_address = {
        fraction: 1e3 * (v("atomics", kind=kind, words=1, together=0) - nothing) / 2**18
        for fraction, kind in (("no", "add_u32"), ("yes", "add_f32"))
    }
    step = per_step(v, "read dram", nothing, sms)
    write = big / (v("write", bytes=big, width=16) - nothing) / 1e3
    read_page = 1e3 * (v("random read", table=1024 * MB, cold=True) - nothing) / 2**22 - 64 / peak
    write_page = 1e3 * (v("random write", table=1024 * MB, cold=True) - nothing) / 2**22
    write_page -= 64 / peak + read_page + 32 / write  # the rest of a sector is read before
    copy = big / (v("copy", bytes=big, width=16) - nothing) / 1e3
    return {
        "name": device,
        **limits(v, sms),
        "cycles_per_us": mhz,
        "launch_us": nothing,
        "first_us": first_us(v, nothing, sms),
        "turn_us": turn(v, nothing, mhz),
        "blocks_per_us": ((1 << 20) - (1 << 14)) / (many[True] - few),
        "latency": {
            **{n: v(f"{n} latency") for n in (
                "fma32", "mad", "alu", "special", "to_int", "fma64", "fma16", "shuffle", "redux",
                "ballot", "shared",
            )},
            "l1": v("chase", bytes=16 << 10),
            "l2": v("chase", bytes=4 * MB),
            "dram": far,
            **further(v),
        },
        "barrier": {int(h["threads"]): value for h, value in v.all("barrier")},
        "rate": {
            n: v(f"{n} rate")
            for n in ("fma32", "mad", "alu", "special", "to_int", "fma64", "fma16", "shuffle",
                      "redux", "ballot")
        },
        "products": products(v),
        **hopper(v),
        "near_cycles": v("near_16", stride=1) / 4,
        "l2_bytes": max(
            int(h["bytes"]) for h, us in v.all("read again")
            if 8 * int(h["bytes"]) / us / 1e3 > 1.3 * peak
        ),
        "l2_read_ns": [(4 * l2_single - l2_line) / 3, (l2_line - l2_single) / 3],
        "l2_write_ns": [(4 * stored_sector - stored_line) / 3, (stored_line - stored_sector) / 3],
        "read_gb_per_s": peak,
        "write_gb_per_s": write,
        "copy_gb_per_s": copy,
        "read_page_ns": read_page,
        "write_page_ns": write_page,
        "atomic_ns": atomics(v, nothing, "add_u32"),
        "fetch_ns": atomics(v, nothing, "fetch_u32"),
        "same_address_ns": one_address,
        "queueing": queueing(v, nothing, step, peak, sms),
    }  # fmt: skip


if __name__ == "__main__":

    def rounded(value):
        if isinstance(value, dict):
            return {key: rounded(item) for key, item in value.items()}
        if isinstance(value, list):
            return [rounded(item) for item in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    print(json.dumps(rounded(constants(sys.argv[1])), indent=1))
