"""Regions proposed by the network of Faster R-CNN."""

import numpy as np
import pytest

from minigluon import MXNetError, nd
from minigluon.ops.proposal import anchors_of


def test_anchors_are_those_of_the_paper():
    """The first of py-faster-rcnn's documented anchors, in its order."""
    wanted = [[-84, -40, 99, 55], [-176, -88, 191, 103], [-360, -184, 375, 199]]
    got = anchors_of(16, (8.0, 16.0, 32.0), (0.5, 1.0, 2.0))
    np.testing.assert_array_equal(got[:3], wanted)
    assert got.shape == (9, 4)


def test_proposals_are_sorted_cut_off_and_repeated():
    scores = nd.zeros((1, 2, 1, 2))
    scores[0, 1, 0] = nd.array([0.3, 0.8])
    rois, found = nd.contrib.Proposal(
        scores, nd.zeros((1, 4, 1, 2)), nd.array([[16, 32, 1]]), scales=(2,), ratios=(1,),
        rpn_post_nms_top_n=3, rpn_min_size=1, output_score=True,
    )  # fmt: skip
    np.testing.assert_array_equal(
        rois.asnumpy(), [[0, 8, 0, 31, 15], [0, 0, 0, 23, 15], [0, 8, 0, 31, 15]]
    )
    np.testing.assert_allclose(found.asnumpy().ravel(), [0.8, 0.3, 0.8])


def test_every_image_of_a_batch_has_its_proposals():
    rois = nd.contrib.MultiProposal(
        nd.ones((3, 2, 2, 2)), nd.zeros((3, 4, 2, 2)), nd.array([[32, 32, 1]] * 3), scales=(1,),
        ratios=(1,), rpn_post_nms_top_n=2, rpn_min_size=1,
    )  # fmt: skip
    np.testing.assert_array_equal(rois.asnumpy()[:, 0], [0, 0, 1, 1, 2, 2])


def test_shapes_that_do_not_fit_the_anchors_are_named():
    with pytest.raises(MXNetError, match=r"12 anchors"):
        nd.contrib.Proposal(nd.ones((1, 4, 2, 2)), nd.zeros((1, 8, 2, 2)), nd.ones((1, 3)))
