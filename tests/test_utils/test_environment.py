"""Contexts, variables, retries and generators of tests."""

import os

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, test_utils


def test_variables_are_restored_even_after_an_error():
    os.environ.pop("MINIGLUON_TEST_A", None)
    with (
        pytest.raises(KeyError),
        test_utils.environment({"MINIGLUON_TEST_A": "1", "HOME": None}),
    ):
        assert os.environ["MINIGLUON_TEST_A"] == "1"
        os.environ["HOME"]
    assert "MINIGLUON_TEST_A" not in os.environ
    assert "HOME" in os.environ


def test_the_default_context_can_be_set():
    before = test_utils.default_context()
    try:
        test_utils.set_default_context(mx.cpu(3))
        assert test_utils.default_context() == mx.cpu(3)
    finally:
        test_utils.set_default_context(before)


def test_a_test_is_retried_until_it_passes():
    calls = []

    @test_utils.retry(3)
    def sometimes():
        calls.append(1)
        assert len(calls) == 2

    sometimes()
    assert len(calls) == 2


def test_a_test_that_never_passes_fails():
    @test_utils.retry(2)
    def never():
        raise AssertionError("never")

    with pytest.raises(AssertionError, match="never"):
        never()


def test_stderr_is_thrown_away(capfd):
    with test_utils.discard_stderr():
        os.write(2, b"unseen")
    assert capfd.readouterr().err == ""


def test_an_exception_that_does_not_come_is_an_error():
    test_utils.assert_exception(int, ValueError, "x")
    with pytest.raises(AssertionError):
        test_utils.assert_exception(int, ValueError, "1")


def test_star_import_hands_out_what_mxnet_did():
    names = {}
    exec("from minigluon.test_utils import *", names)
    for name in ("mx", "np", "npt", "rnd", "os", "sys", "logging", "Context", "NDArray", "array"):
        assert name in names


def test_a_uniform_generator_passes_and_its_square_does_not():
    generator = np.random.RandomState(0)
    buckets, probabilities = test_utils.gen_buckets_probs_with_ppf(lambda p: p, 4)
    test_utils.verify_generator(generator.rand, buckets, probabilities, nsamples=1000)
    with pytest.raises(AssertionError, match="Generator test fails"):
        test_utils.verify_generator(
            lambda n: generator.rand(n) ** 2, buckets, probabilities, nsamples=1000
        )


def test_values_of_a_discrete_generator_are_counted():
    generator = np.random.RandomState(0)
    p, found, expected = test_utils.chi_square_check(
        lambda n: generator.randint(0, 2, n), [0, 1], [0.5, 0.5], nsamples=1000
    )
    assert 0 <= p <= 1
    assert found.sum() == expected.sum() == 1000


def test_mean_and_variance_are_checked():
    generator = np.random.RandomState(0)
    assert test_utils.mean_check(generator.randn, 0, 1, nsamples=1000)
    assert not test_utils.mean_check(generator.randn, 1, 1, nsamples=1000)
    assert test_utils.var_check(generator.randn, 1, nsamples=1000)
    assert not test_utils.var_check(generator.randn, 2, nsamples=1000)


def test_numpy_semantics_are_refused_rather_than_left_out():
    with pytest.raises(MXNetError, match="use_np"):
        test_utils.use_np(len)
