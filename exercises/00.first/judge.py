"""out = 2 x, where every thread has an element."""

from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 256, 512, 1024, 2560


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), Out(2 * x)], grid=n // 256, block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048}

WRONG = {
    "zeros": Wrong("values", {"2 * x[i]": "0"}),
    "element 0 only": Wrong("values", {"out[i] =": "if (i == 0) out[i] ="}),
    "the first block only": Wrong("values|double|race", {"blockIdx.x * blockDim.x + ": ""}),
    "one further": Wrong("out of bounds", {"out[i]": "out[i + 1]"}),
    "threads of each block the same": Wrong("values|double", {"+ threadIdx.x": "+ 0"}),
    "yesterday's output": Wrong("values|uninit", {"2 * x[i]": "out[i]"}),
    "one block does all": Wrong(
        "counters",
        "for (int i = threadIdx.x; !blockIdx.x && i < gridDim.x * 256; i += 256) out[i] = 2 * x[i];",
    ),
}
