"""Factorisations, inverses and determinants."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

R = np.random.default_rng(0)
REGULAR = R.normal(size=(2, 3, 3)) + 3 * np.eye(3)
DEFINITE = REGULAR @ REGULAR.swapaxes(1, 2)


def double(x):
    return nd.array(x, dtype="float64")


def close(got, wanted):
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-9, atol=1e-11)


def gradient(function, x):
    """The gradient of the sum of a function, and central differences, both symmetric parts."""
    x = double(x)
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    slopes = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = x.asnumpy()
            mirrored = (*at[:-2], at[-1], at[-2])
            moved[at] += step / 2
            moved[mirrored] += step / 2
            ends.append(function(double(moved)).sum().asscalar())
        slopes[at] = (ends[0] - ends[1]) / 2e-5
    got = x.grad.asnumpy()
    return (got + got.swapaxes(-1, -2)) / 2, slopes


def test_potrf_gives_the_cholesky_factor():
    close(nd.linalg.potrf(double(DEFINITE)), np.linalg.cholesky(DEFINITE))
    got, slopes = gradient(lambda x: nd.linalg.potrf(x) * double(REGULAR), DEFINITE)
    np.testing.assert_allclose(got, slopes, rtol=1e-5, atol=1e-7)


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(MXNetError, match="potrf"):
        nd.linalg.potrf(nd.array([[1, 2], [2, 1]]))


def test_potri_inverts_from_the_factor():
    factor = np.linalg.cholesky(DEFINITE)
    close(nd.linalg.potri(double(factor)), np.linalg.inv(DEFINITE))


def test_gelqf_gives_orthonormal_rows_and_a_lower_triangle():
    # recorded from MXNet 1.9.1
    q, lower = nd.linalg.gelqf(nd.array([[1, -2, 3], [-4, -5, 7]]))
    wanted = [[-0.2672612, 0.5345225, -0.8017837], [-0.9626464, -0.1855704, 0.1971686]]
    np.testing.assert_allclose(q.asnumpy(), wanted, atol=1e-6)
    np.testing.assert_allclose(lower.asnumpy(), [[-3.7416575, 0], [-7.216054, 6.158617]], atol=1e-5)
    with pytest.raises(MXNetError, match="more rows than columns"):
        nd.linalg.gelqf(nd.ones((3, 2)))


def test_syevd_gives_eigenvectors_as_rows():
    vectors, values = nd.linalg.syevd(nd.array([[4, 1], [1, 3]]))
    # recorded from MXNet 1.9.1
    np.testing.assert_allclose(
        vectors.asnumpy(), [[-0.5257311, 0.8506508], [0.8506508, 0.5257311]], atol=1e-6
    )
    np.testing.assert_allclose(values.asnumpy(), [2.381966, 4.618034], atol=1e-6)


@pytest.mark.parametrize("k", [0, 1])
def test_gradients_of_eigenvectors_and_eigenvalues(k):
    weights = double(R.normal(size=(2, 3, 3) if k == 0 else (2, 3)))
    got, slopes = gradient(lambda x: nd.linalg.syevd(x)[k] * weights, DEFINITE)
    np.testing.assert_allclose(got, slopes, rtol=1e-4, atol=1e-6)


def test_inverse_and_determinants_are_those_of_numpy():
    x = double(REGULAR)
    close(nd.linalg.inverse(x), np.linalg.inv(REGULAR))
    close(nd.linalg.det(x), np.linalg.det(REGULAR))
    sign, logarithm = nd.linalg.slogdet(-x)
    close(sign, [-1, -1])
    close(logarithm, np.log(np.linalg.det(REGULAR)))
    close(nd.linalg.sumlogdiag(double(DEFINITE)), np.log(DEFINITE.diagonal(0, 1, 2)).sum(1))


def test_a_singular_matrix_has_no_inverse_but_a_determinant_with_gradient():
    x = nd.array([[1, 2], [2, 4]])
    with pytest.raises(MXNetError, match="Singular"):
        nd.linalg.inverse(x)
    assert nd.linalg.slogdet(x)[1].asscalar() == -np.inf
    x.attach_grad()
    with autograd.record():
        y = nd.linalg.det(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [[4, -2], [-2, 1]], atol=1e-5)


@pytest.mark.parametrize("name", ["potrf", "potri", "inverse", "det", "slogdet", "syevd"])
def test_what_is_not_square_is_refused(name):
    with pytest.raises(MXNetError, match="square"):
        getattr(nd.linalg, name)(nd.ones((2, 3)))
