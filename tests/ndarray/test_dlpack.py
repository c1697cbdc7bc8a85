"""Memory shared with other libraries through DLPack."""

import gc

import numpy as np
import pytest

from minigluon import nd
from minigluon.base import NotSupportedForSparseNDArray

DTYPES = ["float16", "float32", "float64", "int32", "int64", "uint8", "int8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_and_writes_the_memory_of_an_array(dtype):
    x = nd.array([[1, 0], [2, 3]], dtype=dtype)
    seen = np.from_dlpack(x)
    assert seen.dtype == np.dtype(dtype)
    x[0, 0] = 9
    assert seen.tolist() == [[9, 0], [2, 3]]
    back = nd.from_dlpack(x)
    back[1, 1] = 7
    assert x.asnumpy()[1, 1] == 7


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_torch_and_arrays_share_memory_both_ways(torch, dtype):
    x = nd.array([[1, 0], [2, 3]], dtype=dtype)
    tensor = torch.utils.dlpack.from_dlpack(x.to_dlpack_for_write())
    tensor[0, 0] = 0
    assert x.asnumpy()[0, 0] == 0
    y = nd.from_dlpack(torch.utils.dlpack.to_dlpack(tensor))
    assert y.dtype == x.dtype
    y[1] = 1
    assert tensor.tolist() == x.asnumpy().tolist()
    assert torch.from_dlpack(x).tolist() == tensor.tolist()


def test_memory_of_torch_outlives_its_tensor(torch):
    tensor = torch.arange(6.0)
    x = nd.from_dlpack(tensor)
    del tensor
    gc.collect()
    x += 1
    assert x.asnumpy().tolist() == [1, 2, 3, 4, 5, 6]


def test_what_numpy_cannot_hold_is_refused(torch):
    for tensor in (torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, requires_grad=True)):
        with pytest.raises(ValueError, match="Invalid DLPack Tensor"):
            nd.from_dlpack(tensor)


def test_sparse_arrays_have_no_memory_to_share():
    with pytest.raises(NotSupportedForSparseNDArray):
        np.from_dlpack(nd.ones((2, 2)).tostype("csr"))
    with pytest.raises(ValueError, match="Invalid DLPack Tensor"):
        nd.from_dlpack(5)
