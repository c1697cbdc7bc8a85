"""LayerNorm, GroupNorm, InstanceNorm, L2Normalization, LRN; values recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, nd, sym
from minigluon.base import ShapeError


def test_layer_norm_gives_mean_and_deviation_with_eps():
    x = nd.array([[1, 2, 3], [4, 5, 6.5]])
    y, mean, std = nd.LayerNorm(x, nd.ones(3), nd.ones(3), output_mean_var=True)
    wanted = [[-0.22473562, 1, 2.2247357], [-0.13554442, 0.8377795, 2.2977653]]
    np.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(mean.asnumpy(), [[2], [5.1666665]], rtol=1e-6)
    np.testing.assert_allclose(std.asnumpy(), [[0.81650275], [1.0274072]], rtol=1e-6)


def test_group_norm_has_parameters_for_groups():
    x = nd.array(np.arange(8).reshape(1, 4, 2))
    y, mean, std = nd.GroupNorm(
        x, nd.array([1, 2]), nd.array([10, 20]), num_groups=2, output_mean_var=True
    )
    wanted = [[8.658364, 9.552788], [10.447212, 11.341636], [17.316729, 19.105576],
              [20.894424, 22.683271]]  # fmt: skip
    np.testing.assert_allclose(y.asnumpy()[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(mean.asnumpy(), [[1.5, 5.5]])
    np.testing.assert_allclose(std.asnumpy(), [[1.1180384, 1.1180384]], rtol=1e-6)


@pytest.mark.parametrize(
    "axis, mean, std", [(-1, [2, 5], [0.8165] * 2), (0, [2.5, 3.5, 4.5], [1.5] * 3)]
)
def test_an_output_does_not_depend_on_who_else_is_asked_for(axis, mean, std):
    # MXNet gives zeros for the mean or the deviation alone
    net = sym.LayerNorm(sym.Variable("x"), axis=axis, output_mean_var=True, name="n")
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    size = x.shape[axis]
    for k, wanted in ((1, mean), (2, std)):
        found = net[k].eval(x=x, n_gamma=nd.ones(size), n_beta=nd.zeros(size))[0].asnumpy()
        np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-4)


def test_a_mean_of_groups_does_not_depend_on_who_else_is_asked_for():
    net = sym.GroupNorm(sym.Variable("x"), num_groups=2, output_mean_var=True, name="n")
    given = {"x": nd.array([[[1, 3], [5, 9]]]), "n_gamma": nd.ones(2), "n_beta": nd.zeros(2)}
    np.testing.assert_allclose(net[1].eval(**given)[0].asnumpy(), [[2, 7]])
    np.testing.assert_allclose(net[2].eval(**given)[0].asnumpy(), [[1, 2]], rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_instance_norm_computes_in_the_dtype_given(dtype):  # MXNet in float32 only
    one = nd.ones(1, dtype=dtype)
    y = nd.InstanceNorm(nd.array([[[1, 3]]], dtype=dtype), one, one * 0, eps=1e-6)
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_allclose(y.asnumpy()[0, 0], [-1, 1], rtol=1e-3)


def test_values_whose_squares_do_not_fit_are_normalized():
    x = nd.array([[[1e19, 2e19]]])
    np.testing.assert_allclose(
        nd.InstanceNorm(x, nd.ones(1), nd.zeros(1)).asnumpy()[0, 0], [-1, 1], rtol=1e-5
    )
    np.testing.assert_allclose(
        nd.LayerNorm(x * 10, nd.ones(2), nd.zeros(2)).asnumpy()[0, 0], [-1, 1], rtol=1e-5
    )


@pytest.mark.parametrize("name, size", [("LayerNorm", 4), ("GroupNorm", 1), ("InstanceNorm", 3)])
@pytest.mark.parametrize("wrong", ["gamma", "beta"])
def test_parameters_of_another_size_are_refused(name, size, wrong):
    shapes = {"gamma": (size,), "beta": (size,), wrong: (99,)}
    with pytest.raises(ShapeError, match=wrong):
        getattr(nd, name)(nd.ones((2, 3, 4)), nd.ones(shapes["gamma"]), nd.ones(shapes["beta"]))
    net = getattr(sym, name)(sym.Variable("data"), name="norm")
    with pytest.raises(MXNetError, match=rf"(?s)norm.*99.*{size}"):
        net.infer_shape(data=(2, 3, 4), **{f"norm_{wrong}": (99,)})


@pytest.mark.parametrize(
    "name, shape, attrs",
    [
        ("GroupNorm", (2, 5, 4), {"num_groups": 3}),
        ("GroupNorm", (2, 6), {}),
        ("InstanceNorm", (2, 6), {}),
    ],
)
def test_data_that_cannot_be_normalized_are_refused(name, shape, attrs):
    with pytest.raises(MXNetError, match=name):
        getattr(nd, name)(nd.ones(shape), nd.ones(3), nd.ones(3), **attrs)


@pytest.mark.parametrize(
    "mode, axes", [("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))]
)
def test_lengths_are_taken_as_the_mode_says(mode, axes):
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    wanted = x / np.sqrt((x**2).sum(axes, keepdims=True) + 0.01)
    found = nd.L2Normalization(nd.array(x), mode=mode, eps=0.01).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_vectors_have_no_channels_to_take_lengths_of():
    with pytest.raises(ShapeError, match="channel"):
        nd.L2Normalization(nd.ones((2, 3)), mode="channel")


@pytest.mark.parametrize("nsize, wanted", [(2, [2 / 3] * 4), (3, [0.6, 0.5, 0.5, 0.6])])
def test_an_even_neighbourhood_counts_as_the_odd_one_below(nsize, wanted):
    y = nd.LRN(nd.ones((1, 4, 1, 1)), nsize=nsize, alpha=1, beta=1, knorm=1)
    np.testing.assert_allclose(y.asnumpy().ravel(), wanted, rtol=1e-6)


def test_lengths_of_csr_data_are_dense_by_falling_back():
    x = nd.sparse.csr_matrix(nd.array([[3, 4], [0, 2]]))
    with pytest.warns(UserWarning, match="Storage type fallback"):
        y = nd.L2Normalization(x)
    assert y.stype == "default"
    np.testing.assert_allclose(y.asnumpy(), [[0.6, 0.8], [0, 1]], rtol=1e-6)
