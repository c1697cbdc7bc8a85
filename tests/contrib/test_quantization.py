"""Quantization is refused with its reason."""

import pytest

from minigluon import MXNetError
from minigluon.contrib import quantization


@pytest.mark.parametrize("name", quantization.__all__)
def test_every_function_of_it_is_refused_with_the_reason(name):
    with pytest.raises(MXNetError, match="no int8 kernels"):
        getattr(quantization, name)(None, None)
