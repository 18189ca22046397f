"""The first greatest of each warp."""

import numpy as np

from helpers.exercises.launches import Far, In, Launch, Out, Wrong, varied

SIZES = 32, 64, 96, 384, 512, 1024


def drawn(rng):
    return 3 * 256, int(rng.choice(range(11, 31, 2))) * 256


def launch(rng, n):
    rows = varied(rng, n // 32, 32)
    return Launch(
        [In(rows.ravel()), Out(rows.argmax(1), dtype=np.int32)],
        grid=-(-n // 256) if n != 384 else 3,
        block=min(n, 256) if n != 384 else 128,
    )


def far(rng):
    n, last = 2**31 + 256, 2**31 + 64
    row = varied(rng, 1, 32)[0]
    out = Far(n // 32, np.int32, {}, {last // 32: [row.argmax()]})
    arguments = [Far(n, np.float32, {last: row}), out]
    return Launch(
        arguments, n // 256, 256, what=f"n = {n:,}", blocks=[range(n // 256 - 1, n // 256)]
    )


def beside(launch, places, got):
    """The element of the lane that was found, and of the right one."""
    rows, right = launch.arguments[0].values.reshape(-1, 32), launch.arguments[1].expected
    return {
        "x there": [rows[g, got[g]] if 0 <= got[g] < 32 else np.nan for g in places],
        "greatest": [rows[g, right[g]] for g in places],
    }


COUNTED = 1 << 12
BUDGET = {"ld.sectors": 512, "st.sectors": 128, "shuffles": (1280, 1536)}
IDEA = {"shuffles": (640, "Let the lanes exchange what they have by shuffles.")}
WITHOUT = {
    r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
    r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
}

WRONG = {
    "blocks of 256": Wrong(
        "out of bounds|values", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "any of equals": Wrong("values", {"|| (other == best && place < where)": ""}),
    "the last of equals": Wrong("values", {"place < where": "place > where"}),
    "the least": Wrong("values", {"other > best": "other < best"}),
    "the value alone": Wrong("values", {"best = other, where = place": "best = other"}),
    "one step too few": Wrong("values", {"mask = 16": "mask = 8"}),
    "the shuffle in the if": Wrong(
        "inactive|values",
        {
            "int place = __shfl_xor_sync(0xffffffff, where, mask);\n": "",
            "(other == best && place < where)) best = other, where = place;": "(other == best)) best = other, where = __shfl_xor_sync(0xffffffff, where, mask);",
        },
    ),
    "the value from elsewhere": Wrong("values", {"best, mask)": "best, mask / 2)"}),
    "whole numbers": Wrong("values", {"float other": "int other"}),
    "the greatest bits": Wrong(
        "values",
        {
            "other > best ||": "__float_as_int(other) > __float_as_int(best) ||",
        },
    ),
    "value and lane in one float": Wrong(
        "values", {"float best = x[i]": "float best = x[i] * 32 - threadIdx.x % 32"}
    ),
    "equal to six digits": Wrong("values", {"other == best": "fabsf(other - best) < 1e-6f"}),
    "nothing below -1000": Wrong("values", {"best = x[i]": "best = fmaxf(x[i], -1000.f)"}),
    "by lane 0 through shared memory": Wrong(
        "instructions: .*shared",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; __shared__ float s[256];"
        " int t = threadIdx.x, where = 0; s[t] = x[i]; __syncwarp(); if (t % 32 > 0) return;"
        " for (int k = 1; k < 32; ++k) if (s[t + k] > s[t + where]) where = k; out[i / 32] = where;",
    ),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "in one instruction": Wrong(
        "shuffles",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; unsigned bits = __float_as_uint(x[i] + 0.f);"
        " bits = bits >> 31 ? ~bits : bits | 0x80000000u; unsigned most = __reduce_max_sync(~0u, bits);"
        " int where = __ffs(__ballot_sync(~0u, most == bits)) - 1; where = __shfl_xor_sync(~0u, where, 1);"
        " if (threadIdx.x % 32 == 0) out[i / 32] = where;",
    ),
    "zeros": Wrong("values", {"= where;": "= 0;"}),
}

SURVIVORS = {
    "place <= where": "no two lanes have the same place",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    "% 32 != 0": "all lanes of the warp have the same result",
    "== 1)": "all lanes of the warp have the same result",
    "% 31 == 0": "there is one in each warp, and all of its lanes have the same result",
    "% 33 == 0": "there is one in each warp, and all of its lanes have the same result",
    "threadIdx.y": "all lanes of the warp have the same result",
    "if (!(threadIdx.x % 32": "all lanes of the warp have the same result",
}
