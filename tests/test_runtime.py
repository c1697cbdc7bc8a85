"""Features, by the names MXNet 1.9.1 gives them."""

import pytest

from minigluon import runtime
from minigluon.base import MXNetError


def test_there_is_no_gpu_and_arrays_may_be_large():
    features = runtime.Features()
    assert not features.is_enabled("cuda")
    assert features["INT64_TENSOR_SIZE"].enabled


def test_features_are_listed_in_the_order_and_the_form_of_mxnet():
    # recorded from MXNet 1.9.1
    assert list(runtime.Features())[:4] == ["CUDA", "CUDNN", "NCCL", "CUDA_RTC"]
    assert len(runtime.feature_list()) == 32
    assert repr(runtime.feature_list()[0]) == "✖ CUDA"


def test_an_unknown_feature_is_an_error_that_names_the_known_ones():
    with pytest.raises(MXNetError, match="Feature 'FOO' is unknown, known features are"):
        runtime.Features().is_enabled("foo")
