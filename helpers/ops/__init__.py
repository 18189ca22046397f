"""Operations on arrays on the GPU, by the course's fastest kernels.

    from helpers import autoinit, ops
    x = pycuda.gpuarray.to_gpu(...)          # any shape and strides
    ops.sum(x), ops.max(x, axis=0), ops.mean(x, axis=(-2, -1)), ops.argmin(x, axis=1)
    ops.softmax(x)                           # over the last axis; floats only
    ops.matmul(a, b)                         # floats and int8
    ops.add(x, y), ops.multiply(x, 2), ops.less(x, y, out=z), ops.isclose(x, y)
    ops.im2col(x, 3, padding=1), ops.col2im(columns, (H, W), 3, padding=1)
    ops.attention(q, k, v, causal=True)      # [..., heads, rows, size], floats
    ops.rms_norm(x, weight), ops.linear(x, weights, scales)  # for one word at a time
    ops.conv2d(x, weight, bias, padding=1), ops.conv2d_input(...), ops.conv2d_weight(...)

    ops.all_reduce(arrays), ops.reduce_scatter(arrays), ops.all_gather(arrays), ops.broadcast(x)
    ops.split_matmul(parts, factors)         # rows on several devices, the product on all
    ops.all_reduce(x, comm), ops.reduce_scatter(x, comm), ops.all_gather(x, comm)

All work is queued on `stream`. Each result is a new contiguous array, bit for bit the same in every
run. You may drop an array as soon as the operations that use it are queued on the stream on which
it was created.

Reductions and softmax take float16, float32, float64 and int32. float16 is accumulated in float32.
int32 sums and products are accumulated in int64, and means are float64, as in NumPy. max, min,
argmax and argmin propagate NaN: the first NaN is the result. Views are copied first.

matmul takes [..., m, k] and [..., k, n] of the same type; the leading dimensions must be equal, or
absent in one of the two. Transposed views are read in place. matmul and convolutions accumulate
float16 in float32. Their only scratch memory is for split sums, or up to 32 MB of columns.

attention takes float16, float32 and bfloat16 arrays with any strides, as long as the last stride is
1 (other arrays are copied). It never stores the matrix of scores. attention_backward computes the
gradients.

Elementwise operations broadcast a and b, and either may be a number. They take float16, float32,
float64, int8, int32, int64 and bool where NumPy has the operator; a and b must have the same type.
Results equal NumPy's: integers wrap, comparisons return bool; float16 is computed in float32 and
rounded once. Views are read in place. Pass `out` to choose where the result goes: an array of the
result's shape and type, which may be a or b itself.

`scales=(s0, s1, so)` treats int8 arrays as quantised: a stands for a * s0, b for b * s1, and the
result times so is the true value. The computation is in float32, with the quotients of the scales
rounded to float32. The result is rounded half away from zero and saturated; 0 / 0 is 0.

`layout="NHWC"` in elementwise operations: the result's shape is N, C, H, W, as usual, but its
memory order is N, H, W, C. Inputs are read by their strides in either case.

Collective operations (all_reduce and the others above that take `arrays`) take one array per device
(helpers.ranks). With an mpi4py communicator, each process passes its own array (helpers.mpi). On
GPUs, all_reduce of several arrays launches one kernel per device; the kernels wait for each other.

tune(ops.matmul, a, b), or any other product or convolution, times each kernel and tile that might
make it, and remembers the quickest (docs/choices.md).

A window's kernel size, stride, padding and dilation are numbers, or (height, width) pairs."""

from .collective import *  # noqa: F403
from .collective import __all__ as _collective
from .convolution import *  # noqa: F403
from .convolution import __all__ as _convolution
from .decode import *  # noqa: F403
from .decode import __all__ as _decode
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
from .tuning import tune
from .windows import *  # noqa: F403
from .windows import __all__ as _windows

__all__ = [
    *_collective,
    *_attention,
    *_convolution,
    *_decode,
    *_elementwise,
    *_product,
    *_reduce,
    *_softmax,
    *_windows,
    "tune",
]
