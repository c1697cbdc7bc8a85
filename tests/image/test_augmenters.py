"""Augmenters; sums and texts are recorded from MXNet 1.9.1 with the same seeds."""

import random

import numpy as np
import pytest

from minigluon import image, nd

PIXELS = np.random.RandomState(3).randint(0, 256, (40, 60, 3))


@pytest.fixture(autouse=True)
def seeds():
    random.seed(5)
    np.random.seed(5)


@pytest.fixture
def picture():
    return nd.array(PIXELS, dtype="float32")


def test_brightness_contrast_and_saturation_follow_their_formulas(picture):
    factor = 1 + random.Random(5).uniform(-0.3, 0.3)
    gray = PIXELS @ [0.299, 0.587, 0.114]
    expected = {
        image.BrightnessJitterAug: PIXELS * factor,
        image.ContrastJitterAug: PIXELS * factor + (1 - factor) * gray.mean(),
        image.SaturationJitterAug: PIXELS * factor + (1 - factor) * gray[:, :, None],
    }
    for augmenter, wanted in expected.items():
        random.seed(5)
        found = augmenter(0.3)(picture.copy()).asnumpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


def test_turning_the_hue_keeps_grey(picture):
    gray = nd.array(np.full((2, 2, 3), 100.0))
    np.testing.assert_allclose(image.HueJitterAug(0.5)(gray).asnumpy(), gray.asnumpy(), rtol=0.01)


def test_lighting_adds_a_drawn_colour(picture):
    found = image.LightingAug(0.1, np.array([55.46, 4.794, 1.148]), np.eye(3))(picture.copy())
    amounts = np.random.RandomState(5).normal(0, 0.1, 3) * [55.46, 4.794, 1.148]
    np.testing.assert_allclose(found.asnumpy(), PIXELS + amounts, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_grey_and_mirror_happen_with_their_probability(picture, p):
    gray = image.RandomGrayAug(p)(picture).asnumpy()
    assert (np.ptp(gray, axis=2).max() < 1e-3) == bool(p)
    mirrored = image.HorizontalFlipAug(p)(picture).asnumpy()
    np.testing.assert_array_equal(mirrored, PIXELS[:, ::-1] if p else PIXELS)


@pytest.mark.parametrize(
    ("augmenter", "shape"),
    [
        (image.ResizeAug(20), (20, 30, 3)),
        (image.ForceResizeAug((10, 12)), (12, 10, 3)),
        (image.RandomCropAug((20, 30)), (30, 20, 3)),
        (image.RandomSizedCropAug((20, 30), (0.1, 1), (0.75, 1.33)), (30, 20, 3)),
        (image.CenterCropAug((20, 30)), (30, 20, 3)),
    ],
)
def test_sizes_come_out_as_asked(picture, augmenter, shape):
    assert augmenter(picture).shape == shape


def test_random_order_does_everything_once(picture):
    parts = [image.CastAug(), image.ForceResizeAug((30, 20))]
    assert image.RandomOrderAug(parts)(picture.astype("uint8")).shape == (20, 30, 3)


def test_augmenters_say_what_they_are_as_in_mxnet():
    assert image.ResizeAug(20).dumps() == '["resizeaug", {"size": 20, "interp": 2}]'
    assert image.ColorNormalizeAug(nd.array([1, 2, 3]), None).dumps() == (
        '["colornormalizeaug", {"mean": [1.0, 2.0, 3.0], "std": null}]'
    )
    assert image.SequentialAug([image.CastAug()]).dumps() == [
        "sequentialaug",
        ['["castaug", {"type": "float32"}]'],
    ]


def test_an_augmenter_of_ones_own_must_do_something(picture):
    with pytest.raises(NotImplementedError, match="Must override"):
        image.Augmenter(a=1)(picture)


@pytest.mark.parametrize(
    ("settings", "names", "total"),
    [
        ({}, "CenterCrop Cast", 232353.0),
        ({"rand_resize": True, "rand_crop": True}, "RandomSizedCrop Cast", 229332.0),
        (
            {"mean": np.array([1, 2, 3]), "inter_method": 9},
            "CenterCrop Cast ColorNormalize",
            228753,
        ),
        ({"std": True}, "CenterCrop Cast ColorNormalize", 4031.645),
        (
            {"resize": 30, "rand_crop": True, "rand_mirror": True, "mean": True, "std": True}
            | dict.fromkeys(("brightness", "contrast", "saturation", "hue", "pca_noise"), 0.1)
            | {"rand_gray": 0.1},
            "Resize RandomCrop HorizontalFlip Cast ColorJitter HueJitter Lighting RandomGray "
            "ColorNormalize",
            596.24,
        ),
    ],
)
def test_the_usual_augmenters_do_what_those_of_mxnet_do(settings, names, total):
    augmenters = image.CreateAugmenter((3, 20, 30), **settings)
    assert [type(a).__name__ for a in augmenters] == [f"{name}Aug" for name in names.split()]
    found = image.SequentialAug(augmenters)(nd.array(PIXELS, dtype="uint8"))
    assert (found.shape, found.dtype) == ((20, 30, 3), np.float32)
    np.testing.assert_allclose(found.asnumpy().sum(dtype=np.float64), total, rtol=2e-5)


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"rand_resize": True}, "rand_resize needs rand_crop"), ({"mean": np.ones(2)}, "mean=")],
)
def test_settings_that_do_not_fit_are_refused(settings, says):
    with pytest.raises(AssertionError, match=says):
        image.CreateAugmenter((3, 20, 30), **settings)


def test_an_unknown_argument_of_a_crop_is_refused():
    with pytest.raises(ValueError, match="min_aera"):
        image.RandomSizedCropAug((2, 2), 0.5, (1, 1), min_aera=0.2)
