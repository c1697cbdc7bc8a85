"""Whatever numbers come as indices, lengths or regions: nothing outside an array is touched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigluon as mx
from minigluon import MXNetError, nd
from minigluon.core.invoke import wrap

POISON = 777.0
WILD = [0, 1, 2, 3, -1, -2, -4, 7, 1e3, -1e3, 2**31 - 1, -(2**31), 1e9, 4e7, 2**53]
FLOATS = [*WILD, float("nan"), float("inf"), float("-inf"), 1e30, 0.5, -0.5]
WHOLE = [*WILD, 2**62, -(2**63)]


class Guarded:
    """An array amid poison in one block of memory."""

    def __init__(self, shape, dtype="float32"):
        size = int(np.prod(shape))
        self.block = np.full(size + 2 * 64, POISON, dtype)
        self.values = self.block[64 : 64 + size].reshape(shape)
        self.values[...] = np.arange(1, size + 1).reshape(shape)
        self.array = wrap(self.values, mx.cpu())

    def untouched(self):
        """Whether the poison is where it was."""
        return (self.block[:64] == POISON).all() and (self.block[-64:] == POISON).all()


def numbers(shape):
    """Arrays of wild numbers, as floats or whole ones."""
    size = int(np.prod(shape))

    def make(dtype, choices):
        lists = st.lists(st.sampled_from(choices), min_size=size, max_size=size)
        return lists.map(lambda v: nd.array(clipped(v, dtype).reshape(shape), dtype=dtype))

    return st.one_of(
        make("float32", FLOATS), make("float64", FLOATS), make("int32", WHOLE), make("int64", WHOLE)
    )


def clipped(values, dtype):
    """Numbers in a dtype, those beyond it at its ends."""
    if dtype.startswith("float"):
        return np.array(values, dtype)
    limits = np.iinfo(dtype)
    whole = [min(max(int(v), limits.min), limits.max) for v in values]
    return np.array(whole, dtype)


USES = {
    "take clip": ((3,), lambda x, i: nd.take(x, i, mode="clip")),
    "take wrap": ((3,), lambda x, i: nd.take(x, i, mode="wrap")),
    "take raise": ((3,), lambda x, i: nd.take(x, i, mode="raise")),
    "take axis 1": ((3,), lambda x, i: nd.take(x, i, axis=1)),
    "pick": ((4,), nd.pick),
    "pick wrap": ((4,), lambda x, i: nd.pick(x, i, mode="wrap")),
    "pick axis 0": ((3,), lambda x, i: nd.pick(x, i, axis=0)),
    "batch_take": ((4,), nd.batch_take),
    "choose_element_0index": ((4,), nd.choose_element_0index),
    "fill_element_0index": ((4,), lambda x, i: nd.fill_element_0index(x, nd.ones((4,)), i)),
    "gather_nd": ((2, 3), nd.gather_nd),
    "scatter_nd": ((2, 3), lambda x, i: nd.scatter_nd(nd.ones((3,)), i, shape=(4, 3))),
    "index_copy": ((2,), lambda x, i: nd.contrib.index_copy(x, i, nd.ones((2, 3)))),
    "Embedding": ((3,), lambda x, i: nd.Embedding(i, x, input_dim=4, output_dim=3)),
    "one_hot": ((3,), lambda x, i: nd.one_hot(i, 3)),
    "ravel": ((2, 3), lambda x, i: nd.ravel_multi_index(i, shape=(4, 3))),
    "unravel": ((3,), lambda x, i: nd.unravel_index(i, shape=(4, 3))),
    "get": ((3,), lambda x, i: x[i]),
    "set": ((2,), lambda x, i: x.__setitem__(i, 5)),
    "retain": ((3,), lambda x, i: nd.sparse.retain(x.tostype("row_sparse"), i)),
    "SequenceMask": ((3,), lambda x, i: nd.SequenceMask(x, i, use_sequence_length=True)),
    "SequenceLast": ((3,), lambda x, i: nd.SequenceLast(x, i, use_sequence_length=True)),
    "SequenceReverse": ((3,), lambda x, i: nd.SequenceReverse(x, i, use_sequence_length=True)),
    "softmax": ((4,), lambda x, i: nd.softmax(x, i, use_length=True)),
    "SoftmaxOutput": ((4,), nd.SoftmaxOutput),
    "edge_id": (
        (3,),
        lambda x, i: nd.contrib.edge_id(x.tostype("csr"), i, i),
    ),
    "CTCLoss": ((3, 2), lambda x, i: nd.CTCLoss(x.expand_dims(0).tile((4, 1, 1))[:, :3], i)),
    "ROIPooling": (
        (2, 5),
        lambda x, i: nd.ROIPooling(x.reshape((1, 1, 4, 3)), i, pooled_size=(2, 2), spatial_scale=1),
    ),
    "ROIAlign": (
        (2, 5),
        lambda x, i: nd.contrib.ROIAlign(
            x.reshape((1, 1, 4, 3)), i, pooled_size=(2, 2), spatial_scale=1
        ),
    ),
    "BilinearSampler": (
        (1, 2, 2, 2),
        lambda x, i: nd.BilinearSampler(x.reshape((1, 1, 4, 3)), i),
    ),
    "boolean_mask": ((4,), nd.contrib.boolean_mask),
    "box_nms": ((3, 6), lambda x, i: nd.contrib.box_nms(i)),
    "bipartite_matching": ((3, 2), lambda x, i: nd.contrib.bipartite_matching(i, threshold=0.5)),
    "histogram": ((5,), lambda x, i: nd.histogram(i, bins=3, range=(0, 2))),
    "topk": ((3, 2), lambda x, i: nd.topk(i, k=2)),
}


@pytest.mark.parametrize("name", USES)
@given(data=st.data())
def test_wild_numbers_are_refused_or_lead_to_what_is_there(name, data):
    shape, use = USES[name]
    guarded = Guarded((4, 3))
    index = data.draw(numbers(shape), label="index")
    if name in ("SoftmaxOutput", "CTCLoss", "ROIPooling", "ROIAlign", "BilinearSampler"):
        index = index.astype("float32")
    try:
        results = use(guarded.array, index)
    except (MXNetError, IndexError):
        results = ()
    assert guarded.untouched()
    for result in results if isinstance(results, list | tuple) else (results,):
        if result is not None and name not in ("box_nms", "unravel", "ravel"):
            assert not (result.asnumpy() == POISON).any()


#: attribute -> a use of it on an array of shape (4, 3)
ATTRIBUTES = {
    "slice": lambda x, k, n: nd.slice(x, begin=(k, None), end=(n, None)),
    "slice backwards": lambda x, k, n: nd.slice(x, begin=(k,), end=(n,), step=(-1,)),
    "slice step": lambda x, k, n: nd.slice(x, begin=(0,), end=(4,), step=(k,)),
    "slice_axis": lambda x, k, n: nd.slice_axis(x, axis=0, begin=k, end=n),
    "getitem": lambda x, k, n: x[k:n],
    "item": lambda x, k, n: x[k],
    "setitem": lambda x, k, n: x.__setitem__(slice(k, n), 5),
    "set item": lambda x, k, n: x.__setitem__(k, 5),
    "_slice_assign_scalar": lambda x, k, n: nd._internal._slice_assign_scalar(
        x, scalar=5, begin=(k,), end=(n,)
    ),
    "split_v2": lambda x, k, n: nd.split_v2(x, (k, n)),
    "expand_dims": lambda x, k, n: nd.expand_dims(x, axis=k),
    "sum": lambda x, k, n: nd.sum(x, axis=(k, n)),
    "swapaxes": lambda x, k, n: nd.swapaxes(x, k, n),
    "topk": lambda x, k, n: nd.topk(x, k=k, axis=n),
    "diag": lambda x, k, n: nd.diag(x, k=k),
    "one_hot": lambda x, k, n: nd.one_hot(x, depth=min(k, 1000)),
    "crop": lambda x, k, n: nd.Crop(x.reshape((1, 1, 4, 3)), offset=(k, n), h_w=(2, 2)),
    "pad": lambda x, k, n: nd.Pad(
        x.reshape((1, 1, 4, 3)), mode="edge", pad_width=(0, 0, 0, 0, min(k, 9), min(n, 9), 0, 0)
    ),
    "image crop": lambda x, k, n: nd.image.crop(x.reshape((4, 3, 1)), x=k, y=n, width=2, height=2),
    "reshape": lambda x, k, n: nd.reshape(x, shape=(k, n)),
    "index_array": lambda x, k, n: nd.contrib.index_array(x, axes=(k,)),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
@given(first=st.sampled_from(WILD[:12]), second=st.sampled_from(WILD[:12]))
def test_wild_attributes_are_refused_or_lead_to_what_is_there(name, first, second):
    guarded = Guarded((4, 3))
    try:
        results = ATTRIBUTES[name](guarded.array, int(first), int(second))
    except (MXNetError, IndexError, ValueError):
        results = ()
    assert guarded.untouched()
    for result in results if isinstance(results, list | tuple) else (results,):
        assert result is None or not (result.asnumpy() == POISON).any()
