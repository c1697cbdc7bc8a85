"""Pooling whose cells are moved by offsets."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

ATTRS = {"spatial_scale": 1.0, "output_dim": 1, "group_size": 2, "pooled_size": 2}


def test_without_offsets_cells_read_their_own_channels():
    x = np.arange(4, dtype="float32").reshape(1, 4, 1, 1) * np.ones((1, 4, 6, 6), "float32")
    rois = nd.array([[0, 1, 1, 4, 4]])
    got = nd.contrib.DeformablePSROIPooling(nd.array(x), rois, no_trans=True, **ATTRS)
    np.testing.assert_array_equal(got.asnumpy()[0, 0], [[0, 1], [2, 3]])


def test_offsets_move_cells_by_parts_of_the_region():
    x = np.broadcast_to(np.arange(8, dtype="float32"), (1, 4, 8, 8))
    rois, still = nd.array([[0, 2, 2, 5, 5]]), nd.zeros((1, 2, 2, 2))
    run = nd.contrib.DeformablePSROIPooling
    plain = run(nd.array(x), rois, still, trans_std=0.25, **ATTRS).asnumpy()
    moved = run(
        nd.array(x), rois, still + nd.array([1, 0]).reshape((1, 2, 1, 1)), trans_std=0.25, **ATTRS
    ).asnumpy()
    np.testing.assert_allclose(moved, plain + 1, rtol=1e-5)  # a quarter of a width of 4


def test_channels_that_do_not_fit_are_named():
    with pytest.raises(MXNetError, match="4 channels"):
        nd.contrib.DeformablePSROIPooling(
            nd.ones((1, 3, 4, 4)), nd.zeros((1, 5)), no_trans=True, **ATTRS
        )
