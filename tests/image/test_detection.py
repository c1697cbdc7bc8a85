"""ImageDetIter and its augmenters; sums and texts are recorded from MXNet 1.9.1."""

import random

import numpy as np
import pytest

from minigluon import image, nd
from minigluon.base import MXNetError
from minigluon.recordio import IRHeader, pack_img, unpack

PIXELS = np.random.RandomState(3).randint(0, 256, (40, 60, 3))
BOXES = np.array(
    [[0, 0.1, 0.2, 0.5, 0.6], [1, 0.4, 0.4, 0.9, 0.8], [2, 0.8, 0.7, 0.95, 0.9]], np.float32
)


@pytest.fixture
def picture():
    return nd.array(PIXELS, dtype="uint8")


@pytest.fixture
def listed(tmp_path):
    """The arguments for three pictures with two, one and three objects."""
    pytest.importorskip("PIL", reason="pictures need Pillow")
    entries = []
    for number, boxes in enumerate((BOXES[:2], BOXES[1:2], BOXES)):
        pixels = np.full((8, 8, 3), 10 * number + 10, np.uint8)
        record = pack_img(IRHeader(0, 0, 0, 0), pixels, img_fmt=".png")
        (tmp_path / f"{number}.png").write_bytes(unpack(record)[1])
        entries.append([[2, 5, *boxes.ravel().tolist()], f"{number}.png"])
    return {"imglist": entries, "path_root": tmp_path}


def pixels_at(picture, boxes):
    """The pixels each box holds, as far as whole ones go."""
    height, width = picture.shape[:2]
    corners = np.rint(boxes[:, 1:5] * [width, height, width, height]).astype(int)
    return [picture[y0:y1, x0:x1] for x0, y0, x1, y1 in corners]


def test_mirroring_moves_the_boxes_with_the_pixels(picture):
    found, boxes = image.DetHorizontalFlipAug(1.0)(picture, BOXES)
    np.testing.assert_allclose(boxes[0], [0, 0.5, 0.2, 0.9, 0.6], rtol=1e-6)  # as MXNet
    for new, old in zip(pixels_at(found.asnumpy(), boxes), pixels_at(PIXELS, BOXES), strict=True):
        np.testing.assert_array_equal(new[:, ::-1], old)


def test_a_canvas_moves_the_boxes_with_the_pixels(picture):
    random.seed(0)
    augment = image.DetRandomPadAug(area_range=(1.5, 3.0), pad_val=(1, 2, 3))
    for _ in range(20):
        found, boxes = augment(picture, BOXES)
        assert 1.4 < found.size / picture.size < 3.1
        assert found.asnumpy().sum() > PIXELS.sum()
        for new, old in zip(
            pixels_at(found.asnumpy(), boxes), pixels_at(PIXELS, BOXES), strict=True
        ):
            np.testing.assert_array_equal(new, old)


def test_a_crop_keeps_enough_of_each_object_it_touches(picture):
    random.seed(0)
    augment = image.DetRandomCropAug(0.5, area_range=(0.1, 0.9))
    whole = {b[0]: np.prod(b[3:5] - b[1:3]) * 2400 for b in BOXES}
    cut = 0
    for _ in range(50):
        found, boxes = augment(picture, BOXES)
        height, width = found.shape[:2]
        assert boxes[:, 1:].min() >= 0
        assert boxes[:, 1:].max() <= 1 + 1e-6
        for kind, x0, y0, x1, y1, *_ in boxes:
            assert (x1 - x0) * (y1 - y0) * height * width > 0.5 * whole[kind] - 1e-3
        cut += (height, width) != (40, 60)
    assert cut > 25


def test_a_crop_forgets_objects_of_which_little_is_left():
    crop = image.DetRandomCropAug(0.0, min_eject_coverage=0.5)
    kept = crop._kept(BOXES, np.array([0.0, 0.0, 0.5, 1.0]))
    np.testing.assert_allclose(kept, [[0, 0.2, 0.2, 1.0, 0.6]], rtol=1e-6)


def test_one_of_several_augmenters_is_chosen_or_none(picture):
    random.seed(0)
    flip, pad = image.DetHorizontalFlipAug(1.0), image.DetRandomPadAug(area_range=(2.0, 3.0))
    select = image.DetRandomSelectAug([flip, pad], 0.3)
    kinds = set()
    for _ in range(30):
        found, boxes = select(picture, BOXES)
        kinds.add((found.shape == picture.shape, bool((boxes == BOXES).all())))
    assert kinds == {(True, True), (True, False), (False, False)}


def test_augmenters_say_what_they_are_as_in_mxnet():
    assert image.DetBorrowAug(image.CastAug()).dumps() == [
        "detborrowaug",
        '["castaug", {"type": "float32"}]',
    ]
    assert image.DetRandomCropAug(area_range=0.5, aspect_ratio_range=1.2).dumps() == (
        '["detrandomcropaug", {"min_object_covered": 0.1, "aspect_ratio_range": [1.2, 1.2], '
        '"area_range": [0.5, 0.5], "min_eject_coverage": 0.3, "max_attempts": 50}]'
    )


def test_the_usual_augmenters_come_in_the_order_of_mxnet(picture):
    settings = dict.fromkeys(("brightness", "contrast", "saturation", "pca_noise", "hue"), 0.1)
    augmenters = image.CreateDetAugmenter(
        (3, 20, 30), resize=30, rand_crop=0.5, rand_pad=0.5, rand_gray=0.5, rand_mirror=True,
        mean=True, std=True, **settings,
    )  # fmt: skip
    names = [type(getattr(a, "augmenter", a)).__name__.removesuffix("Aug") for a in augmenters]
    order = (
        "Resize DetRandomSelect DetHorizontalFlip DetRandomSelect ForceResize Cast ColorJitter "
        "HueJitter Lighting RandomGray ColorNormalize"
    )
    assert " ".join(names) == order
    label = BOXES
    for augment in augmenters:
        picture, label = augment(picture, label)
    assert (picture.shape, picture.dtype) == ((20, 30, 3), np.float32)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: image.DetBorrowAug(3), TypeError, "Borrowing from invalid Augmenter"),
        (lambda: image.DetRandomSelectAug([3]), ValueError, "Allow DetAugmenter in list only"),
        (lambda: image.DetRandomCropAug(area_range=(0.9, 0.5)), ValueError, "area_range"),
        (
            lambda: image.CreateMultiRandCropAugmenter([0.1, 0.3], max_attempts=[1, 2, 3]),
            AssertionError,
            "lists have different lengths",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_labels_are_filled_up_with_minus_one(listed):
    batches = image.ImageDetIter(2, (3, 8, 8), **listed)
    assert batches.provide_label == [("label", (2, 3, 5))]
    first, second = batches
    np.testing.assert_array_equal(first.label[0].asnumpy()[0], [*BOXES[:2], [-1] * 5])
    np.testing.assert_array_equal(first.label[0].asnumpy()[1], [BOXES[1], [-1] * 5, [-1] * 5])
    assert second.pad == 1
    np.testing.assert_array_equal(second.label[0].asnumpy()[0], BOXES)
    assert first.data[0].asnumpy().mean() == 15


def test_a_longer_header_is_passed_over(listed):
    listed["imglist"] = [[[4, 6, 9, 9, 1, 0.1, 0.1, 0.5, 0.5, 7], "0.png"]]
    batch = next(image.ImageDetIter(1, (3, 8, 8), **listed))
    np.testing.assert_allclose(batch.label[0].asnumpy(), [[[1, 0.1, 0.1, 0.5, 0.5, 7]]])


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ([2, 5], "Label shape is invalid"),
        ([1, 5, 0.2, 0.3, 0.4, 0.4, 0.5], "inconsistent with annotation width 5"),
        ([2, 0, 0.2, 0.3, 0.4, 0.4, 0.5], "inconsistent with annotation width 0"),
        ([2, 5, 0, 0.5, 0.2, 0.1, 0.6], "no valid label"),
    ],
)
def test_a_label_without_objects_is_refused(listed, label, says):
    listed["imglist"] = [[label, "0.png"]]
    with pytest.raises(RuntimeError, match=says):
        image.ImageDetIter(1, (3, 8, 8), **listed)


def test_a_picture_without_a_known_class_is_left_out(listed):
    listed["imglist"].append([[2, 5, -1, 0.1, 0.2, 0.3, 0.4], "0.png"])
    batches = image.ImageDetIter(1, (3, 8, 8), **listed)
    assert len(list(batches)) == 3


def test_two_iterators_agree_on_the_shape_of_labels(listed):
    few = image.ImageDetIter(1, (3, 8, 8), **{**listed, "imglist": listed["imglist"][:1]})
    many = image.ImageDetIter(1, (3, 8, 8), **listed)
    assert many.sync_label_shape(few) is few
    assert few.label_shape == many.label_shape == (3, 5)
    assert next(few).label[0].shape == (1, 3, 5)


def test_labels_may_be_given_more_room_but_not_less(listed):
    batches = image.ImageDetIter(1, (3, 8, 8), **listed)
    batches.reshape(label_shape=(4, 6))
    assert next(batches).label[0].shape == (1, 4, 6)
    with pytest.raises(ValueError, match="Attempts to reduce label count from 4 to 2"):
        batches.reshape(label_shape=(2, 6))


def test_pictures_are_drawn_with_their_boxes(listed):
    batches = image.ImageDetIter(1, (3, 32, 32), **listed)
    drawn = list(
        batches.draw_next(color=(255, 0, 0), thickness=1, id2labels={0: "a", 1: "b", 2: "c"})
    )
    assert [d.shape for d in drawn] == [(32, 32, 3)] * 3
    assert drawn[0][6, 5].tolist() == [255, 0, 0]
    assert drawn[0][0, 0].tolist() == [10, 10, 10]


def test_there_are_no_windows(listed):
    with pytest.raises(MXNetError, match="no windows"):
        next(image.ImageDetIter(1, (3, 8, 8), **listed).draw_next(waitKey=1))
