"""Features of regions of interest."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

X = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)


def test_the_largest_value_of_each_cell():
    got = nd.ROIPooling(
        nd.array(X), nd.array([[0, 0, 0, 3, 3]]), pooled_size=(2, 2), spatial_scale=1.0
    )
    np.testing.assert_array_equal(got.asnumpy()[0, 0], [[5, 7], [13, 15]])


def test_the_gradient_goes_to_the_largest_value_and_to_the_first_of_equal_ones():
    x = nd.zeros((1, 1, 3, 3))
    x.attach_grad()
    with autograd.record():
        y = nd.ROIPooling(x, nd.array([[0, 0, 0, 2, 2]]), pooled_size=(1, 1), spatial_scale=1.0)
    y.backward()
    assert x.grad.asnumpy()[0, 0, 0, 0] == 1
    assert x.grad.asnumpy().sum() == 1


def test_regions_of_no_image_and_outside_give_zeros():
    rois = nd.array([[-1, 0, 0, 2, 2], [0, -9, -9, -5, -5]])
    for operator in (nd.ROIPooling, nd.contrib.ROIAlign):
        got = operator(nd.array(X) + 1, rois, pooled_size=(2, 2), spatial_scale=1.0)
        np.testing.assert_array_equal(got.asnumpy(), 0)


def test_samples_of_a_plane_are_on_the_plane():
    rois = nd.array([[0, 0.5, 0.5, 2.5, 2.5]])
    got = nd.contrib.ROIAlign(nd.array(X), rois, pooled_size=(2, 2), spatial_scale=1.0)
    at = np.array([1.0, 2.0])
    np.testing.assert_allclose(got.asnumpy()[0, 0], 4 * at[:, None] + at, rtol=1e-6)
    got = nd.contrib.ROIAlign(
        nd.array(X), rois, pooled_size=(2, 2), spatial_scale=1.0, aligned=True
    )
    np.testing.assert_allclose(got.asnumpy()[0, 0], 4 * (at[:, None] - 0.5) + at - 0.5, rtol=1e-6)


def test_a_region_that_is_not_turned_is_a_plain_one():
    turned = nd.array([[0, 1.5, 1.5, 2, 2, 0], [0, 1.5, 1.5, 2, 2, 90]])
    got = nd.contrib.RROIAlign(
        nd.array(X), turned, pooled_size=(2, 2), spatial_scale=1.0, sampling_ratio=2
    ).asnumpy()
    plain = nd.contrib.ROIAlign(
        nd.array(X), nd.array([[0, 0.5, 0.5, 2.5, 2.5]]), pooled_size=(2, 2), spatial_scale=1.0,
        sample_ratio=2,
    ).asnumpy()  # fmt: skip
    np.testing.assert_allclose(got[0], plain[0], rtol=1e-6)
    np.testing.assert_allclose(np.rot90(got[1, 0]), plain[0, 0], rtol=1e-5)


def test_cells_read_channels_of_their_own():
    x = np.arange(4, dtype="float32").reshape(1, 4, 1, 1) * np.ones((1, 4, 4, 4), "float32")
    got = nd.contrib.PSROIPooling(
        nd.array(x), nd.array([[0, 0, 0, 3, 3]]), spatial_scale=1.0, output_dim=1, pooled_size=2
    )
    np.testing.assert_array_equal(got.asnumpy()[0, 0], [[0, 1], [2, 3]])


@pytest.mark.parametrize("operator", [nd.ROIPooling, nd.contrib.ROIAlign])
@pytest.mark.parametrize(
    ("rois", "attrs", "words"),
    [
        ([[5, 0, 0, 1, 1]], {}, "image 5 of a batch of 1"),  # MXNet reads beyond the array
        ([[0, 0, 0, 1]], {}, "wrong shape"),
        ([[0, 0, 0, 1, 1]], {"pooled_size": (0, 2)}, "pooled_size"),
    ],
)
def test_wrong_regions_are_named(operator, rois, attrs, words):
    attrs = {"pooled_size": (2, 2), "spatial_scale": 1.0, **attrs}
    with pytest.raises(MXNetError, match=words):
        operator(nd.array(X), nd.array(rois), **attrs)


def test_empty_regions_are_refused_where_boxes_are_taken_as_they_are():  # MXNet ends the process
    with pytest.raises(MXNetError, match="region 0"):
        nd.contrib.ROIAlign(
            nd.array(X), nd.array([[0, 2, 2, 1, 1]]), pooled_size=(1, 1), spatial_scale=1.0,
            aligned=True,
        )  # fmt: skip
