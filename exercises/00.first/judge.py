"""out = 2 x, where every thread has an element."""

from helpers.exercises.launches import (
    SPECIAL,
    In,
    Launch,
    Out,
    Wrong,
    elementwise,
    numbers,
    planted,
)

SIZES = 256, 512, 1024, 2560


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(2 * x)], grid=n // 256, block=256)


inputs = elementwise
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048}

WRONG = {
    "zeros": Wrong("values", {"2 * x[i]": "0"}),
    "element 0 only": Wrong("values", {"out[i] =": "if (i == 0) out[i] ="}),
    "the first block only": Wrong("values|double|race", {"blockIdx.x * blockDim.x + ": ""}),
    "one further": Wrong("out of bounds", {"out[i]": "out[i + 1]"}),
    "threads of each block the same": Wrong("values|double", {"+ threadIdx.x": "+ 0"}),
    "yesterday's output": Wrong("values|uninit", {"2 * x[i]": "out[i]"}),
    "ten blocks": Wrong("double|race|values|uninit", {"blockIdx.x *": "blockIdx.x % 10 *"}),
    "held": Wrong("values", {"2 * x[i]": "fminf(fmaxf(2 * x[i], -3e38f), 3e38f)"}),
    "stored by atomics": Wrong("atomics", {"out[i] = 2 * x[i]": "atomicExch(out + i, 2 * x[i])"}),
    "a hundred multiplications": Wrong(
        "instructions",
        {
            "out[i] = 2 * x[i]": "float v = 2 * x[i]; for (int k = 0; k < 100; ++k)"
            ' asm volatile("mul.f32 %0, %0, 0f3F800000;" : "+f"(v)); out[i] = v'
        },
    ),
    "one block does all": Wrong(
        "counters",
        "for (int i = threadIdx.x; !blockIdx.x && i < gridDim.x * 256; i += 256) out[i] = 2 * x[i];",
    ),
}
