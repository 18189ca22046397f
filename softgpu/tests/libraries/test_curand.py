"""cuRAND: numbers that libcurand 10.4 makes on the host, which documents them to be a GPU's."""

import hashlib
from ctypes import byref, c_double, c_float, c_size_t, c_ulonglong, c_void_p

import numpy as np
import pytest

from softgpu.tests.facts import missing

from . import Device, loaded, software

XORWOW, MRG32K3A, MTGP32, PHILOX, SOBOL32, SOBOL64 = 101, 121, 141, 161, 201, 203
CALLS = {
    "u32": ("curandGenerate", np.uint32),
    "u64": ("curandGenerateLongLong", np.uint64),
    "f": ("curandGenerateUniform", np.float32),
    "d": ("curandGenerateUniformDouble", np.float64),
    "n": ("curandGenerateNormal", np.float32),
    "nd": ("curandGenerateNormalDouble", np.float64),
    "ln": ("curandGenerateLogNormal", np.float32),
}
# Of the seed 0xdeadbeefcafe: what kind, from which offset on, in which calls; SHA-256
RECORDED = {
    (101, "u32", 0, 300000): "866af462ce677fc935cdc07670448554",
    (101, "f", 10006, 500, 20000): "9f9e98e5a75043f140abb79dee720d72",
    (101, "d", 8589934598, 100, 7000): "59d626a7ffa8f9bf75144b3823b767b1",
    (121, "u32", 0, 300000): "895fe21e6eaff079acfac888d494b538",
    (121, "f", 10006, 500, 20000): "aee362c395523a4e4ab0d33e4349841a",
    (121, "d", 8589934598, 100, 7000): "5d6cad2e8adee3f1ce8a0e83846f6cd4",
    (161, "u32", 0, 300000): "094bbdca1daea5678beb83ce63a7fe87",
    (161, "f", 10006, 500, 20000): "e4e70f2374674076d6233a21b1db4bf6",
    (161, "d", 8589934598, 100, 7000): "de43a246cd9fa714c943b4927ecf66a5",
    (201, "u32", 0, 300000): "c194291dad146f6dbbe8df21af36aabb",
    (201, "f", 10006, 500, 20000): "e7f4d71f2fb2a3fbff800bd84ac09e6d",
    (201, "d", 8589934598, 100, 7000): "b986bafe4e4382d07523f79802243897",
    (203, "u64", 0, 300000): "de829e98d7656ffc908b1941d2bfb09a",
    (203, "f", 10006, 500, 20000): "e7f4d71f2fb2a3fbff800bd84ac09e6d",
    (203, "d", 8589934598, 100, 7000): "2f15b2854b2551fe98ebbcea2a0ec7e1",
}
NORMAL = {  # of the seed 1234, with mean 1 and deviation 2: floats and doubles
    101: ([2.5619471073150635, -2.603156328201294, 0.4383028745651245,
           2.1270933151245117, -1.0226657390594482, 1.8280786275863647],
          [1.71747959704891, -1.479185006447104, 0.8170092004527827,
           0.2397621226320915]),
    121: ([0.27869242429733276, -0.18256258964538574, -2.437072992324829,
           -0.8032239675521851, 1.6877989768981934, 1.2675867080688477],
          [0.27869270777651056, -0.1825628074834882, -2.437072123306228,
           -0.8032252504334711]),
    161: ([-2.232980966567993, 3.458310842514038, -2.1210808753967285,
           1.929242730140686, 2.1369104385375977, 0.42820727825164795],
          [-0.07905339181463766, 1.3212666928840457, 3.016393415474539,
           4.664498495630479]),
    201: ([-11.675914764404297, 1.0, 2.3489794731140137,
           -0.34897947311401367, 0.3627212643623352, 3.300698757171631],
          [-11.67591550910758, 1.0000000005836198, 2.34897950112485,
           -0.34897949965947683]),
    203: ([-11.675914764404297, 1.0, 2.3489794731140137,
           -0.34897947311401367, 0.3627212643623352, 3.300698757171631],
          [-15.584722151627187, 1.0, 2.3489795003921636,
           -0.3489795003921632]),
}  # fmt: skip
UNSUPPORTED = 204


@pytest.fixture(scope="module")
def curand():
    return loaded("curand")


def digest(numbers):
    return hashlib.sha256(np.concatenate(numbers).tobytes()).hexdigest()[:32]


def taken(curand, kind, calls, kind_of, *words, seed=1234, offset=0, dimensions=1, on_host=False):
    """What a new generator gives in so many calls."""
    generator = c_void_p()
    create = curand.curandCreateGeneratorHost if on_host else curand.curandCreateGenerator
    assert create(byref(generator), kind) == 0
    if kind < 200:
        assert curand.curandSetPseudoRandomGeneratorSeed(generator, c_ulonglong(seed)) == 0
    else:
        assert curand.curandSetQuasiRandomGeneratorDimensions(generator, dimensions) == 0
    assert curand.curandSetGeneratorOffset(generator, c_ulonglong(offset)) == 0
    name, of = CALLS[kind_of]
    out = []
    for count in calls:
        numbers = np.zeros(count, of)
        place = c_void_p(numbers.ctypes.data) if on_host else Device(numbers)
        assert getattr(curand, name)(generator, place, c_size_t(count), *words) == 0
        out.append(numbers if on_host else place.get())
    assert curand.curandDestroyGenerator(generator) == 0
    return out


@pytest.mark.parametrize("case", RECORDED, ids=str)
def test_numbers_are_those_of_nvidia(curand, case):
    kind, kind_of, offset, *calls = case
    numbers = taken(curand, kind, calls, kind_of, seed=0xDEADBEEFCAFE, offset=offset)
    assert digest(numbers) == RECORDED[case]


def test_sobol_has_many_dimensions(curand):
    found = taken(curand, SOBOL32, [6400], "u32", dimensions=64)
    assert digest(found) == "1e37313ccfc6646be1d07e69a4fa7760"
    found = taken(curand, SOBOL64, [51200], "u64", dimensions=1024, offset=77)
    assert digest(found) == "fd9ce77d716d2f6d4d11357b9d1aab32"


@pytest.mark.parametrize("kind", NORMAL)
def test_normal_numbers_are_as_recorded_but_for_rounding(curand, kind):
    floats, doubles = NORMAL[kind]
    found = taken(curand, kind, [6], "n", c_float(1), c_float(2))[0]
    np.testing.assert_allclose(found, floats, rtol=3e-6, atol=3e-6)
    found = taken(curand, kind, [4], "nd", c_double(1), c_double(2))[0]
    np.testing.assert_allclose(found, doubles, rtol=1e-12)
    logarithms = np.log(taken(curand, kind, [6], "ln", c_float(1), c_float(2))[0])
    np.testing.assert_allclose(logarithms, floats, rtol=3e-6, atol=3e-6)


def test_normal_numbers_are_normal(curand):
    found = taken(curand, XORWOW, [1 << 20], "nd", c_double(0), c_double(1))[0]
    assert abs(found.mean()) < 4e-3 and abs(found.std() - 1) < 3e-3
    assert abs((abs(found) < 1).mean() - 0.682689) < 2e-3


def test_a_generator_of_the_host_writes_there(curand):
    words = (curand, PHILOX, [1000], "f")
    assert (taken(*words, on_host=True)[0] == taken(*words)[0]).all()


@software
def test_what_there_is_not_is_refused_by_name(curand, capfd):
    generator = c_void_p()
    assert curand.curandCreateGenerator(byref(generator), MTGP32) == UNSUPPORTED
    assert not missing(capfd.readouterr().err, "curandCreateGenerator")
    assert curand.curandGeneratePoisson(None) == UNSUPPORTED
    assert not missing(capfd.readouterr().err, "curandGeneratePoisson")


@software
def test_lengths_that_do_not_fit_are_refused(curand):
    generator, place = c_void_p(), Device(np.zeros(8, np.float32))
    assert curand.curandCreateGenerator(byref(generator), XORWOW) == 0
    odd = (generator, place, c_size_t(7), c_float(0), c_float(1))
    assert curand.curandGenerateNormal(*odd) == 105
    assert curand.curandGenerateLongLong(generator, place, c_size_t(1)) == 103
    assert curand.curandGenerateUniform(generator, place, c_size_t(9)) == 201
    assert curand.curandGenerateUniform(None, place, c_size_t(9)) == 101
