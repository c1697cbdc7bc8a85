"""UpSampling, BilinearResize2D and Crop; values recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd, sym

IMAGE = nd.array(np.arange(12).reshape(1, 2, 2, 3))


def test_nearest_repeats_elements():
    y = nd.UpSampling(IMAGE, scale=2, sample_type="nearest", num_args=1)
    wanted = IMAGE.asnumpy().repeat(2, axis=2).repeat(2, axis=3)
    assert y.asnumpy().tolist() == wanted.tolist()
    named = nd.UpSampling(data=IMAGE, scale=2, sample_type="nearest")
    assert named.asnumpy().tolist() == wanted.tolist()


def test_several_arrays_are_joined_or_summed_at_the_size_of_the_first():
    other = nd.ones((1, 2, 4, 6))
    joined = nd.UpSampling(IMAGE, other, scale=2, sample_type="nearest", num_args=2)
    assert joined.shape == (1, 4, 4, 6)
    summed = nd.UpSampling(
        IMAGE, other, scale=2, sample_type="nearest", num_args=2, multi_input_mode="sum"
    )
    assert summed.asnumpy()[0, 0, 0].tolist() == [1, 1, 2, 2, 3, 3]
    with pytest.raises(MXNetError, match="common size"):
        nd.UpSampling(IMAGE, nd.ones((1, 2, 3, 6)), scale=2, sample_type="nearest", num_args=2)


def test_bilinear_weights_work_as_in_a_deconvolution():
    y = nd.UpSampling(IMAGE, nd.ones((2, 1, 4, 4)), scale=2, sample_type="bilinear", num_filter=2)
    wanted = [[0, 1, 1, 3, 3, 2], [3, 8, 8, 12, 12, 7], [3, 8, 8, 12, 12, 7], [3, 7, 7, 9, 9, 5]]
    assert y.asnumpy()[0, 0].tolist() == wanted


@pytest.mark.parametrize("scale, kernel", [(2, 4), (3, 5)])
def test_a_symbol_makes_the_bilinear_weight(scale, kernel):
    net = sym.UpSampling(
        sym.Variable("data"), scale=scale, sample_type="bilinear", num_filter=2, name="u"
    )
    assert net.list_arguments() == ["data", "u_weight"]
    assert net.attr_dict()["u_weight"]["__init__"] == '["bilinear", {}]'
    arguments, outputs, _ = net.infer_shape(data=(1, 2, 2, 3))
    assert arguments[1] == (2, 1, kernel, kernel)
    assert outputs == [(1, 2, 2 * scale, 3 * scale)]


X = np.array(
    [[1.7641, 0.4002, 0.9787, 2.2409, 1.8676], [-0.9773, 0.9501, -0.1514, -0.1032, 0.4106],
     [0.1440, 1.4543, 0.7610, 0.1217, 0.4439], [0.3337, 1.4941, -0.2052, 0.3131, -0.8541]]
)  # fmt: skip


@pytest.mark.parametrize(
    "attrs, wanted",
    [
        ({"height": 2, "width": 3}, [[1.7641, 0.9787, 1.8676], [0.3337, -0.2052, -0.8541]]),
        (
            {"height": 2, "width": 3, "align_corners": False},
            [[0.4873, 0.4137, 1.1157], [0.6506, 0.2779, -0.0643]],
        ),
        ({"height": 1, "width": 1}, [[1.7641]]),
    ],
)
def test_resizing_interpolates(attrs, wanted):
    y = nd.contrib.BilinearResize2D(nd.array(X[None, None]), **attrs)
    np.testing.assert_allclose(y.asnumpy()[0, 0], wanted, atol=2e-4)


@pytest.mark.parametrize(
    "attrs, size",
    [
        ({"scale_height": 1.5, "scale_width": 2.0}, (6, 10)),
        ({"mode": "odd_scale", "scale_height": 1.5, "scale_width": 2.0}, (6, 9)),
        ({"mode": "odd_scale", "scale_height": 0.5, "scale_width": 0.5}, (2, 3)),
        ({"mode": "to_even_down"}, (4, 4)),
        ({"mode": "to_even_up"}, (4, 6)),
        ({"mode": "to_odd_down"}, (3, 5)),
        ({"mode": "to_odd_up"}, (5, 5)),
        ({"height": 3, "scale_width": 2.0}, (3, 1)),
    ],
)
def test_sizes_are_chosen_as_the_mode_says(attrs, size):
    assert nd.contrib.BilinearResize2D(nd.ones((1, 1, 4, 5)), **attrs).shape[2:] == size
    net = sym.contrib.BilinearResize2D(sym.Variable("data"), **attrs)
    assert net.infer_shape(data=(1, 1, 4, 5))[1] == [(1, 1, *size)]


def test_half_a_scale_and_an_empty_result_are_refused():
    with pytest.raises(MXNetError, match="scale_width"):
        nd.contrib.BilinearResize2D(IMAGE, scale_height=1.5)
    with pytest.raises(MXNetError, match="nothing is left"):
        nd.contrib.BilinearResize2D(nd.ones((1, 1, 1, 2)), scale_height=0.5, scale_width=0.5)


def test_crop_cuts_at_the_offset_or_in_the_middle():
    x = nd.array(np.arange(30).reshape(1, 1, 5, 6))
    y = nd.Crop(x, offset=(1, 2), h_w=(2, 2), num_args=1)
    assert y.asnumpy()[0, 0].tolist() == [[8, 9], [14, 15]]
    y = nd.Crop(x, center_crop=True, h_w=(2, 3), num_args=1)
    assert y.asnumpy()[0, 0].tolist() == [[7, 8, 9], [13, 14, 15]]
    y = nd.Crop(x, nd.ones((1, 1, 3, 3)), offset=(1, 2), num_args=2)
    assert y.asnumpy()[0, 0].tolist() == [[8, 9, 10], [14, 15, 16], [20, 21, 22]]
    with pytest.raises(MXNetError, match="does not lie within"):
        nd.Crop(x, offset=(4, 4), h_w=(3, 3), num_args=1)


def test_what_crop_leaves_out_gets_no_gradient():
    x, like = nd.ones((1, 1, 5, 6)), nd.ones((1, 1, 4, 3))
    x.attach_grad()
    like.attach_grad()
    with autograd.record():
        y = nd.Crop(x, like, center_crop=True, num_args=2)
    y.backward()
    assert not like.grad.asnumpy().any()
    wanted = np.zeros((5, 6))
    wanted[0:4, 1:4] = 1
    assert x.grad.asnumpy()[0, 0].tolist() == wanted.tolist()
