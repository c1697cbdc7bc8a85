"""The layers of SSD; recorded values are those of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, nd


def test_anchors_of_a_feature_map():
    got = nd.contrib.MultiBoxPrior(nd.ones((1, 3, 2, 3)), sizes=(0.5, 0.25), ratios=(1, 2, 0.5))
    assert got.shape == (1, 24, 4)
    wanted = [
        [0.0, 0.0, 0.33333334, 0.5],
        [0.08333334, 0.125, 0.25, 0.375],
        [-0.06903559, 0.07322331, 0.40236893, 0.4267767],
        [0.04881554, -0.10355338, 0.2845178, 0.60355341],
    ]
    np.testing.assert_allclose(got.asnumpy()[0, :4], wanted, rtol=1e-5)


ANCHORS = [
    [[0.1, 0.1, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5], [0, 0, 1, 1], [0.4, 0.4, 0.6, 0.9],
     [0.7, 0.7, 0.9, 0.9]]
]  # fmt: skip
LABELS = [
    [[1, 0.15, 0.1, 0.4, 0.5], [0, 0.5, 0.5, 0.8, 0.9], [-1, -1, -1, -1, -1]],
    [[-1, -1, -1, -1, -1]] * 3,
]


@pytest.mark.parametrize(
    ("attrs", "classes"),
    [
        ({}, [0, 2, 0, 1, 0]),
        ({"overlap_threshold": 0.2}, [2, 2, 0, 1, 0]),
        ({"negative_mining_ratio": 1.0}, [-1, 2, 0, 1, 0]),
        ({"negative_mining_ratio": 0.5, "ignore_label": -7}, [-7, 2, -7, 1, 0]),
        # too few negatives to mine: MXNet fails, here there are fewer
        ({"negative_mining_ratio": 1.0, "negative_mining_thresh": 0.05}, [-1, 2, -1, 1, -1]),
    ],
)
def test_targets_of_anchors(attrs, classes):
    background = [[0.6, 0.2, 0.21, 0.03, 0.05]] * 2
    scores = np.log(np.stack([background, np.full((2, 5), 0.2), np.full((2, 5), 0.2)], axis=1))
    location, mask, found = nd.contrib.MultiBoxTarget(
        nd.array(ANCHORS), nd.array(LABELS), nd.array(scores), **attrs
    )
    np.testing.assert_array_equal(found.asnumpy()[0], classes)
    np.testing.assert_array_equal(found.asnumpy()[1], attrs.get("ignore_label", -1))
    np.testing.assert_array_equal(mask.asnumpy()[0].reshape(5, 4)[3], 1)
    wanted = [7.5, 1, 2.0273256, -1.1157178]
    np.testing.assert_allclose(location.asnumpy()[0].reshape(5, 4)[3], wanted, rtol=1e-5)


def test_detections_are_sorted_and_suppressed_within_a_class():
    anchors = nd.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [0.5, 0.5, 0.6, 0.6], [0, 0, 0.1, 0.1]]])
    scores = nd.array([[[0.1, 0.1, 0.2, 0.995], [0.3, 0.9, 0.8, 0.005], [0.6, 0, 0, 0]]])
    got = nd.contrib.MultiBoxDetection(scores, nd.zeros((1, 16)), anchors).asnumpy()[0]
    np.testing.assert_allclose(got[:, :2], [[0, 0.9], [0, 0.8], [1, 0.6], [-1, -1]], rtol=1e-6)
    got = nd.contrib.MultiBoxDetection(
        scores, nd.zeros((1, 16)), anchors, force_suppress=True
    ).asnumpy()[0]
    np.testing.assert_allclose(got[:, :2], [[0, 0.9], [0, 0.8], [-1, 0.6], [-1, -1]], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nd.contrib.MultiBoxPrior(nd.ones((2, 3))), "4D"),
        (lambda: nd.contrib.MultiBoxPrior(nd.ones((1, 2, 3, 4)), sizes=()), "sizes"),
        (lambda: nd.contrib.MultiBoxPrior(nd.ones((1, 2, 3, 4)), ratios=(-1,)), "ratios"),
        (
            lambda: nd.contrib.MultiBoxTarget(
                nd.ones((1, 3, 4)), nd.ones((1, 1, 5)), nd.ones((1, 2, 4))
            ),
            r"classes \+ 1, 3",
        ),
        (
            lambda: nd.contrib.MultiBoxDetection(
                nd.ones((1, 2, 3)), nd.ones((1, 9)), nd.ones((1, 3, 4))
            ),
            "n \\* 4",
        ),
    ],
)
def test_wrong_inputs_are_named(call, words):
    with pytest.raises(MXNetError, match=words):
        call()
