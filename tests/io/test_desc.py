"""DataDesc, DataBatch and DataIter."""

import copy
import pickle

import numpy as np
import pytest

from minigluon import nd
from minigluon.io import DataBatch, DataDesc, DataIter


def test_a_description_is_a_pair_of_name_and_shape():
    name, shape = DataDesc("data", (2, 3), "int32", "NT")
    assert (name, shape) == ("data", (2, 3))
    assert DataDesc("data", (2, 3)) == ("data", (2, 3))


def test_text_is_that_of_mxnet():
    assert repr(DataDesc("a", (2, 3))) == "DataDesc[a,(2, 3),<class 'numpy.float32'>,NCHW]"
    assert repr(DataDesc("a", (2,), "int32", "N")) == "DataDesc[a,(2,),int32,N]"


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda desc: pickle.loads(pickle.dumps(desc))]
)
def test_copies_keep_dtype_and_layout(copied):
    desc = copied(DataDesc("a", (1,), "int8", "TN"))
    assert (desc.dtype, desc.layout) == ("int8", "TN")


@pytest.mark.parametrize(("layout", "axis"), [(None, 0), ("NCHW", 0), ("TNC", 1), ("CHW", -1)])
def test_batch_axis_is_where_the_layout_says(layout, axis):
    assert DataDesc.get_batch_axis(layout) == axis


def test_lists_of_shapes_and_types_make_descriptions():
    shapes = [("a", (2, 3)), ("b", (4,))]
    typed = DataDesc.get_list(shapes, [("a", "float16"), ("b", np.int32)])
    assert [desc.dtype for desc in typed] == ["float16", np.int32]
    assert [desc.dtype for desc in DataDesc.get_list(shapes, None)] == [np.float32] * 2


def test_a_batch_shows_its_shapes():
    text = str(DataBatch([nd.ones((2, 3))]))
    assert text == "DataBatch: data shapes: [(2, 3)] label shapes: None"
    text = str(DataBatch([nd.ones((2, 3))], [nd.ones(2)]))
    assert text == "DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]"


def test_a_batch_takes_lists_only():
    with pytest.raises(AssertionError, match="Data must be list of NDArrays"):
        DataBatch(nd.ones(2))
    with pytest.raises(AssertionError, match="Label must be list of NDArrays"):
        DataBatch([nd.ones(2)], nd.ones(2))


def test_an_iterator_of_four_methods_is_complete():
    class Countdown(DataIter):
        left = 2

        def iter_next(self):
            self.left -= 1
            return self.left >= 0

        def getdata(self):
            return [self.left]

        def getpad(self):
            return 0

    assert [batch.data for batch in Countdown(1)] == [[1], [0]]
