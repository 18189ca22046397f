"""Operations on arrays on the GPU, by the course's fastest kernels.

    from helpers import autoinit, ops
    x = pycuda.gpuarray.to_gpu(...)          # of any shape and strides
    ops.sum(x), ops.max(x, axis=0), ops.mean(x, axis=(-2, -1)), ops.argmin(x, axis=1)
    ops.softmax(x)                           # over the last axis, floats only
    ops.matmul(a, b)                         # floats only, as softmax
    ops.add(x, y), ops.multiply(x, 2), ops.less(x, y, out=z), ops.isclose(x, y)
    ops.im2col(x, 3, padding=1), ops.col2im(columns, (H, W), 3, padding=1)
    ops.attention(q, k, v, causal=True)      # of [..., heads, rows, size], floats and halves
    ops.conv2d(x, weight, bias, padding=1), ops.conv2d_input(...), ops.conv2d_weight(...)

    ops.all_reduce(arrays), ops.reduce_scatter(arrays), ops.all_gather(arrays), ops.broadcast(x)
    ops.split_matmul(parts, factors)         # rows on several devices, the product on all
    ops.all_reduce(x, comm), ops.reduce_scatter(x, comm), ops.all_gather(x, comm)

All work is queued on `stream`. Results are new contiguous arrays, and the same bits every run. An
array may be dropped as soon as what uses it is queued on the stream that it was made on.

Reductions and softmax take float16, float32, float64 and int32. float16 is accumulated in float32.
int32 is summed and multiplied in int64, its mean is float64, as in NumPy. NaN anywhere in a max,
min, argmax or argmin is the result, of several the first. Views are copied first.

matmul takes [..., m, k] and [..., k, n], both of one type, with the same leading dimensions or none
in one of the two. Transposed views are read where they lie. matmul and convolutions accumulate
float16 in float32 and take no more memory than sums in splits or 32 MB of columns need.

attention takes float16, float32 and bfloat16, of any strides whose last one is 1 (others are
copied), and keeps no matrix of scores; attention_backward has its gradients.

Operations of two arrays broadcast them; a or b may be a number. They take float16, float32,
float64, int8, int32, int64 and bool where NumPy has the operator, both of one type, and give
NumPy's results: integers wrap, comparisons are bool; float16 is computed in float32 and rounded
once. Views are read where they lie. `out` gets the result: an array of its shape and type, which
may be a or b itself.

`scales=(s0, s1, so)`: int8 arrays stand for a * s0 and b * s1, the result for itself times so. It
is computed in float32, with the quotients of the scales rounded to that, then rounded half away
from zero and saturated; 0 / 0 is 0.

`layout="NHWC"`: the result's shape is N, C, H, W, as ever, its memory N, H, W, C; inputs lie as
their strides say.

Those of arrays are of several devices (helpers.ranks), on each of which lies one of them. With a
communicator of mpi4py, they are of its processes (helpers.mpi). On GPUs, all_reduce of arrays is
one launch for each device, which wait for each other.

Kernel, stride, padding and dilation of a window are numbers, or pairs of height and width."""

from .collective import *  # noqa: F403
from .collective import __all__ as _collective
from .convolution import *  # noqa: F403
from .convolution import __all__ as _convolution
from .elementwise import *  # noqa: F403
from .elementwise import __all__ as _elementwise
from .heads import *  # noqa: F403
from .heads import __all__ as _attention
from .product import *  # noqa: F403
from .product import __all__ as _product
from .reduce import *  # noqa: F403
from .reduce import __all__ as _reduce
from .softmax import *  # noqa: F403
from .softmax import __all__ as _softmax
from .windows import *  # noqa: F403
from .windows import __all__ as _windows

__all__ = [
    *_collective,
    *_attention,
    *_convolution,
    *_elementwise,
    *_product,
    *_reduce,
    *_softmax,
    *_windows,
]
