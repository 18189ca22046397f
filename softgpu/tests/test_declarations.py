"""What is read from CUDA source and from mangled names."""

import pytest

from softgpu.declarations import Declarations, short_name


@pytest.mark.parametrize(
    "mangled, name",
    [
        ("kernel", "kernel"),
        ("_ZZ6kernelPfE4tile", "tile"),
        ("_ZZ6reduceILi256EEvPKfPfE4tile", "tile"),
        ("_Z6reduceILi256EfEvPKT0_PS0_i", "reduce<256, float>"),
        ("_ZN4algo4scanI6float4Lb1EEEvPKT_mP13__nv_bfloat16", "scan<float4, true>"),
        ("_Z9transformIZ4mainEUlfE0_EvPfiT_", "transform<main::{lambda(float)#2}>"),
        ("_Z3addIN3foo3BarIiEEEvPT_S3_", "add<foo::Bar<int> >"),
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_names_are_what_the_author_wrote(mangled, name):
    assert short_name(mangled) == name


def types(source, kernel="k"):
    found = Declarations(source).parameters(kernel)
    return found and [(p.type, p.name) for p in found]


@pytest.mark.parametrize(
    "source, found",
    [
        ("__global__ void k(const float *x, int n) {}", [("float *", "x"), ("int", "n")]),
        ("__global__ void __launch_bounds__(64) k(float const* __restrict__ x, size_t n)\n{}",
         [("float *", "x"), ("size_t", "n")]),
        ("__global__ void k(float x[], // int y\n unsigned long long int n /* , int m */) {}",
         [("float *", "x"), ("unsigned long long", "n")]),
        ("using T = half; __global__ void k(T *x, const T n) {}", [("half *", "x"), ("half", "n")]),
        ('#define KERNEL extern "C" __global__\n#define GLOBAL_MEM /* empty */\n'
         "KERNEL void k(GLOBAL_MEM float *x) {}", [("float *", "x")]),
        ("#define REAL double\n__global__ void k(REAL **x, REAL n) {}",
         [("double **", "x"), ("double", "n")]),
        ("template <typename T> __global__ void k(T *x, int n) {}", [("", "x"), ("int", "n")]),
        ("#if A\n__global__ void k(int *x) {}\n#else\n__global__ void k(int x) {}\n#endif", None),
        ("__global__ void __launch_bounds__(64, sizeof(int) == 4 ? 2 : 1) k(int n) {}",
         [("int", "n")]),
        ("__global__ void k(void) {}", []),
        ("#define ARGUMENTS int *x, int n\n__global__ void k(ARGUMENTS) {}", None),
        ("__global__ void k(void (*f)(int)) {}", None),
        ("__global__ void k(int *x); __global__ void other(int *x, int n) {}", None),
    ],
)  # fmt: skip
def test_the_parameters_of_a_kernel(source, found):
    assert types(source) == found


def test_the_types_of_a_template_are_those_of_its_name():
    source = "template <int N, typename T> __global__ void reduce(const T *x, T *y, int n) {}"
    found = types(source, "_Z6reduceILi256EfEvPKT0_PS0_i")
    assert found == [("float *", "x"), ("float *", "y"), ("int", "n")]


@pytest.mark.parametrize(
    "source, size, gaps",
    [
        ("", None, None),
        ("struct S { float x, y; };", 8, []),
        ("struct __align__(16) S { float x, y, z; };", 16, [12, 13, 14, 15]),
        ("struct S { short a; char b; };", 4, [3]),
        ("struct S { char kind; double value[2]; int *next, n; };", 40,
         [1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 39]),
        ("typedef struct { float3 at; char c; } S;", 16, [13, 14, 15]),
        ("typedef struct _S { int x; } __align__(8) S;", 8, [4, 5, 6, 7]),
        ("struct S { int x; } ALIGN(8);", 8, [4, 5, 6, 7]),
        ("struct T { char a; int b; }; struct S { T both[2]; };", 16, [1, 2, 3, 9, 10, 11]),
        ("struct S { unsigned a : 3, b : 5; };", 1, [0]),
        ("struct S { int x; __device__ int get() { return x; } };", None, None),
        ("template <class T> struct S { T x; };", None, None),
        ("struct S { float x[N]; };", None, None),
    ],
)  # fmt: skip
def test_structs_and_their_gaps(source, size, gaps):
    found = Declarations(source).extent("S")
    assert (found and found.bytes, found and sorted(found.gaps)) == (size, gaps)


def test_the_type_of_a_shared_variable():
    source = "__shared__ Point s[64], t[2]; __shared__ float u; extern __shared__ int v[];"
    found = [Declarations(source).shared_type(name) for name in "stuvw"]
    assert found == ["Point", "Point", "float", "int", ""]
