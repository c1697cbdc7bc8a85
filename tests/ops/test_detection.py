"""Boxes of object detection; recorded values are those of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

BOXES = [
    [0, 0.9, 0, 0, 1, 1],
    [0, 0.9, 0, 0, 0.9, 1],
    [1, 0.95, 0, 0, 1, 1],
    [0, -0.1, 3, 3, 4, 4],
    [0, 0.9, 5, 5, 6, 6],
    [-1, 0.99, 7, 7, 8, 8],
]


def test_overlap_of_empty_and_inverted_boxes_is_zero():
    boxes = nd.array([[0, 0, 1, 1], [0.5, 0.5, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
    wanted = [[1, 0.25, 0, 0], [0.25, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(nd.contrib.box_iou(boxes, boxes).asnumpy(), wanted)


def test_overlap_of_centre_boxes():
    boxes = nd.array([[0, 0, 1, 1], [0.5, 0.5, 1, 1]])
    got = nd.contrib.box_iou(boxes, boxes, format="center").asnumpy()
    np.testing.assert_allclose(got, [[1, 1 / 7], [1 / 7, 1]], rtol=1e-6)


@pytest.mark.parametrize(
    ("attrs", "scores"),
    [
        ({}, [0.99, 0.95, 0.9]),
        ({"id_index": 0}, [0.95, 0.9, 0.9]),  # class -1 is the background by default
        ({"id_index": 0, "background_id": 0}, [0.99, 0.95]),
        ({"topk": 2}, [0.99, 0.95]),
        ({"id_index": 0, "force_suppress": True}, [0.95, 0.9]),
        ({"valid_thresh": 0.92}, [0.99, 0.95]),
    ],
)
def test_suppression_keeps_the_best(attrs, scores):
    got = nd.contrib.box_nms(nd.array(BOXES), **attrs).asnumpy()
    np.testing.assert_allclose(got[: len(scores), 1], scores, rtol=1e-6)
    np.testing.assert_array_equal(got[len(scores) :], -1)


def test_suppression_changes_the_form_of_boxes():
    got = nd.contrib.box_nms(nd.array(BOXES), out_format="center").asnumpy()
    np.testing.assert_allclose(got[0], [-1, 0.99, 7.5, 7.5, 1, 1], rtol=1e-6)


def test_the_gradient_of_suppression_goes_to_the_rows_kept():
    boxes = nd.array(BOXES)
    boxes.attach_grad()
    with autograd.record():
        out = nd.contrib.box_nms(boxes)
    out.backward(nd.arange(36).reshape((6, 6)))
    wanted = np.zeros((6, 6))
    wanted[[5, 2, 4]] = np.arange(18).reshape(3, 6)
    np.testing.assert_array_equal(boxes.grad.asnumpy(), wanted)


@pytest.mark.parametrize(
    ("shape", "attrs", "words"),
    [
        ((2, 3), {}, "at least 5"),
        ((6,), {}, "hold boxes"),
        ((2, 6), {"score_index": 9}, "score_index"),
        ((2, 6), {"coord_start": 4}, "coord_start"),
        ((2, 6), {"id_index": 7}, "id_index"),
    ],
)
def test_suppression_refuses_what_lies_outside_a_row(shape, attrs, words):
    with pytest.raises(MXNetError, match=words):
        nd.contrib.box_nms(nd.ones(shape), **attrs)


@pytest.mark.parametrize(
    ("attrs", "rows", "columns"),
    [
        ({"threshold": 1e-12}, [1, -1, 0], [2, 0]),
        ({"threshold": 0.35}, [1, -1, -1], [-1, 0]),
        ({"threshold": 0.45, "is_ascend": True}, [-1, 0, 1], [1, 2]),
    ],
)
def test_matching_takes_the_best_pairs_first(attrs, rows, columns):
    scores = nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    got = nd.contrib.bipartite_matching(scores, **attrs)
    np.testing.assert_array_equal(got[0].asnumpy(), rows)
    np.testing.assert_array_equal(got[1].asnumpy(), columns)


def test_decoding_undoes_encoding():
    anchors = nd.array([[[0.1, 0.1, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5]]])
    boxes = nd.array([[[0.15, 0.1, 0.4, 0.5], [0.5, 0.5, 0.8, 0.9]]])
    stds = (0.1, 0.1, 0.2, 0.2)
    targets, masks = nd.contrib.box_encode(
        nd.ones((1, 2)), nd.array([[1, 0]]), anchors, boxes, nd.zeros(4), nd.array(stds)
    )
    back = nd.contrib.box_decode(
        targets, anchors, format="corner", **{f"std{k}": s for k, s in enumerate(stds)}
    )
    np.testing.assert_allclose(back.asnumpy()[0], boxes.asnumpy()[0, ::-1], rtol=1e-5)
    np.testing.assert_array_equal(masks.asnumpy(), np.ones((1, 2, 4)))


@pytest.mark.parametrize("match", [0, 1, -1])
def test_encoding_refuses_matches_outside_of_the_boxes(match):  # MXNet 1.9.1 ends the process
    arrays = [nd.ones((1, 1)), nd.array([[match]]), nd.ones((1, 1, 4))]
    empty = nd.ones((1, 1, 4))[:, :0] if match == 0 else nd.ones((1, 1, 4))
    with pytest.raises(MXNetError, match="matches points outside of refs"):
        nd.contrib.box_encode(*arrays, empty, nd.zeros(4), nd.ones(4))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nd.contrib.box_iou(nd.ones((2, 3)), nd.ones((2, 4))), "must be 4"),
        (lambda: nd.contrib.bipartite_matching(nd.ones(3), threshold=0.1), "dim >= 2"),
    ],
)
def test_wrong_inputs_are_named(call, words):
    with pytest.raises(MXNetError, match=words):
        call()
