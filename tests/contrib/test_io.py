"""DataLoaderIter."""

import pytest

from minigluon import nd
from minigluon.contrib.io import DataLoaderIter

LOADER = [(nd.array([0, 1]), nd.array([0, 1])), (nd.array([4]), nd.array([4]))]


def test_a_short_last_batch_is_filled_with_zeros():
    # MXNet 1.9.1 fills it with uninitialised memory
    batches = DataLoaderIter(LOADER)
    for _ in range(2):
        found = [
            (batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist(), batch.pad)
            for batch in batches
        ]
        assert found == [([0, 1], [0, 1], 0), ([4, 0], [4, 0], 1)]
        batches.reset()


def test_batches_are_described_and_cast():
    batches = DataLoaderIter(LOADER, "d", "l", "float64")
    assert repr(batches.provide_data) == "[DataDesc[d,(2,),float64,NCHW]]"
    assert batches.provide_label[0].name == "l"
    assert batches.next().data[0].dtype.__name__ == "float64"


def test_an_empty_loader_is_refused():
    with pytest.raises(ValueError, match="the loader is empty"):
        DataLoaderIter([])
