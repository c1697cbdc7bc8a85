"""Iterators over record files of pictures.

tests/data/pictures holds records of this project's own; the batches in expected.json were recorded
from MXNet 1.9.1: padding, labels, type, shape, sum and checksum of the pixels, over two epochs.
"""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd, recordio

pytest.importorskip("PIL", reason="pictures need Pillow")

DATA = Path(__file__).parent.parent / "data" / "pictures"
RECORDED = json.loads((DATA / "expected.json").read_text())
FILES = ("path_imgrec", "path_imglist", "path_imgidx")


def made(name, settings):
    """An iterator with the settings of a recording."""
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    given.update({k: str(DATA / given[k]) for k in FILES if k in given})
    return getattr(mx.io, name)(verbose=False, **given)


def iterator(**settings):
    """An ``ImageRecordIter`` over six pictures of 14 by 16."""
    return made("ImageRecordIter", {"path_imgrec": "one.rec", "data_shape": (3, 8, 8),
                                    "batch_size": 2, **settings})  # fmt: skip


def described(batch):
    pixels = batch.data[0].asnumpy()
    sum_ = float(pixels.sum(dtype="f8").round(2))
    checksum = zlib.crc32(np.ascontiguousarray(pixels).tobytes())
    labels = batch.label[0].asnumpy().round(4).tolist()
    return [batch.pad, labels, pixels.dtype.name, list(pixels.shape), sum_, checksum]


def labels(batches):
    return [x for batch in batches for x in batch.label[0].asnumpy().tolist()]


def pixels(batches):
    return np.concatenate([batch.data[0].asnumpy() for batch in batches])


@pytest.mark.parametrize(
    ("name", "settings", "epochs"), RECORDED, ids=[f"{k}-{r[0]}" for k, r in enumerate(RECORDED)]
)
def test_batches_are_those_of_mxnet_to_the_bit(name, settings, epochs):
    batches = made(name, settings)
    found = []
    for _ in range(2):
        found += [described(batch) for batch in batches]
        batches.reset()
    for one, other in zip(found, epochs, strict=True):
        np.testing.assert_allclose(one[1], other[1], 1e-6)
        assert one[2:] == other[2:]
        assert one[0] == other[0]


def test_descriptions_are_those_of_mxnet():
    batches = iterator(data_name="d", label_name="l")
    assert batches.provide_data == [("d", (2, 3, 8, 8))]
    assert batches.provide_label == [("l", (2,))]
    assert isinstance(batches, mx.io.MXDataIter)


def test_samples_are_numbered_as_their_records_are():
    batches = iterator()
    assert next(batches).index.tolist() == [0, 1]
    assert batches.getindex().tolist() == [0, 1]
    assert batches.getpad() == 0
    assert batches.getlabel().asnumpy().tolist() == [0, 1]
    assert batches.getdata().shape == (2, 3, 8, 8)


def test_an_epoch_without_wrapping_repeats_rows_of_the_batch_before():
    batches = iterator(batch_size=4, round_batch=False)
    assert labels(batches) == [0, 1, 2, 3, 4, 5, 2, 3]
    batches.reset()
    assert labels(batches)[:4] == [0, 1, 2, 3]


def test_shuffling_depends_on_the_seed_and_takes_every_record_once_an_epoch():
    one, other, third = (iterator(shuffle=True, seed=s) for s in (1, 1, 2))
    first = labels(one)
    assert sorted(first) == [0, 1, 2, 3, 4, 5]
    assert first == labels(other)
    assert first != labels(third)
    one.reset()
    assert sorted(labels(one)) == [0, 1, 2, 3, 4, 5]


def test_rows_that_fill_up_a_shuffled_epoch_are_the_first_of_the_next():
    batches = iterator(shuffle=True, seed=1, batch_size=4)
    first = labels(batches)
    batches.reset()
    assert sorted(first[6:] + labels(batches)) == [0, 1, 2, 3, 4, 5]


VARIED = {
    "rand_crop": True, "rand_mirror": True, "max_rotate_angle": 20, "max_shear_ratio": 0.2,
    "max_aspect_ratio": 0.3, "brightness": 0.3, "contrast": 0.3, "saturation": 0.3,
    "pca_noise": 0.1, "random_h": 20, "random_s": 20, "random_l": 20, "max_random_contrast": 0.1,
    "max_random_illumination": 5, "max_random_scale": 1.2, "min_random_scale": 0.9,
}  # fmt: skip


def test_what_is_random_is_the_same_for_any_number_of_threads():
    one, other = (pixels(iterator(preprocess_threads=n, seed=3, **VARIED)) for n in (1, 4))
    assert (one == other).all()
    assert (one != pixels(iterator(seed=4, **VARIED))).any()


def test_what_is_random_differs_between_epochs():
    batches = iterator(rand_crop=True)
    first = pixels(batches)
    batches.reset()
    assert (first != pixels(batches)).any()


@pytest.mark.parametrize(
    "settings",
    [
        {"random_resized_crop": True, "min_random_area": 0.3, "max_random_area": 0.9,
         "min_aspect_ratio": 0.7, "max_aspect_ratio": 1.4},
        {"max_crop_size": 12, "min_crop_size": 6, "rand_crop": True},
        {"inter_method": 9, "resize": 9}, {"inter_method": 10, "resize": 9}, VARIED,
    ],
)  # fmt: skip
def test_every_kind_of_variation_gives_pictures_of_the_shape(settings):
    found = pixels(iterator(**settings))
    assert found.shape == (6, 3, 8, 8)
    assert np.isfinite(found).all()


def test_a_random_crop_is_a_part_of_the_picture():
    whole = pixels(iterator(data_shape=(3, 14, 16)))
    part = pixels(iterator(rand_crop=True))
    for picture, cut in zip(whole, part, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(picture, (3, 8, 8))
        assert (windows == cut).all(axis=(3, 4, 5)).any()


def test_half_of_the_pictures_are_mirrored():
    plain = pixels(iterator())
    batches = iterator(rand_mirror=True)
    turned = 0
    for _ in range(20):
        for picture, other in zip(plain, pixels(batches), strict=True):
            same = (picture == other).all()
            assert same or (picture[:, :, ::-1] == other).all()
            turned += not same
        batches.reset()
    assert 40 < turned < 80


def test_the_mean_picture_is_made_once_and_then_read(tmp_path):
    path = tmp_path / "mean.nd"
    first = pixels(iterator(mean_img=str(path)))
    plain = pixels(iterator())
    np.testing.assert_allclose(first, plain - plain.mean(0), atol=1e-4)
    held = nd.load(str(path))["mean_img"]
    np.testing.assert_allclose(held.asnumpy(), plain.mean(0), rtol=1e-6)
    nd.save(str(path), {"mean_img": held * 0})
    assert (pixels(iterator(mean_img=str(path))) == plain).all()
    with pytest.raises(MXNetError, match="the mean picture has another shape"):
        iterator(mean_img=str(path), data_shape=(3, 5, 5))


def test_several_files_are_read_as_one():
    path = str(DATA / "one.rec")
    batches = mx.io.ImageRecordIter(
        path_imgrec=f"{path};{path}", data_shape=(3, 8, 8), batch_size=4
    )
    assert labels(batches) == [0, 1, 2, 3, 4, 5] * 2


def test_a_module_learns_from_an_iterator():
    data = mx.sym.Flatten(mx.sym.var("data"))
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=6), name="softmax")
    batches = iterator(scale=1 / 255)
    module = mx.mod.Module(net)
    module.fit(batches, num_epoch=30, optimizer_params={"learning_rate": 0.1})
    batches.reset()
    assert module.score(batches, "acc")[0][1] == 1


def boxes_of(batch):
    """The objects of every row of detection labels."""
    for row in batch.label[0].asnumpy():
        count, head, width = int(row[3]), int(row[4]), int(row[5])
        yield row[4 + head : 4 + count].reshape(-1, width)


DETECTION = {"path_imgrec": "det.rec", "batch_size": 2, "data_shape": (3, 8, 8)}


def test_detection_crops_keep_objects_inside_the_picture():
    batches = made("ImageDetRecordIter", {
        **DETECTION, "rand_crop_prob": 1, "min_crop_scales": (0.3, 0.6), "num_crop_sampler": 2,
        "max_crop_scales": (0.9, 1.0), "min_crop_aspect_ratios": (0.5,),
        "max_crop_aspect_ratios": (2.0,), "min_crop_object_coverages": (0.2,),
        "rand_pad_prob": 0.5, "max_pad_scale": 2.0, "rand_mirror_prob": 0.5,
        "max_random_hue": 10, "random_hue_prob": 1, "max_random_contrast": 0.2,
        "random_contrast_prob": 1, "max_random_saturation": 9, "random_saturation_prob": 1,
        "max_random_illumination": 9, "random_illumination_prob": 1,
    })  # fmt: skip
    for _ in range(10):
        for batch in batches:
            for boxes in boxes_of(batch):
                assert 1 <= len(boxes) <= 3
                assert (boxes[:, 1:] >= 0).all()
                assert (boxes[:, 1:] <= 1).all()
                assert (boxes[:, 3] > boxes[:, 1]).all()
        batches.reset()


def test_a_larger_canvas_makes_objects_smaller():
    plain = made("ImageDetRecordIter", DETECTION)
    wide = made("ImageDetRecordIter", {**DETECTION, "rand_pad_prob": 1, "max_pad_scale": 3.0})
    for one, other in zip(plain, wide, strict=True):
        for before, after in zip(boxes_of(one), boxes_of(other), strict=True):
            old, new = (b[:, 3] - b[:, 1] for b in (before, after))
            assert (new < old).all()


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            ({"data_shape": (2, 8, 8)}, r"Invalid output shape \[2, 8, 8\]"),
            ({"data_shape": (8, 8)}, "Invalid output shape"),
            ({"dtype": "float16"}, "unknown dtype"),
            ({"batch_size": 0}, "batch_size cannot be used"),
            ({"batch_size": None}, "required parameter batch_size is missing"),
            ({"data_shape": None}, "required parameter data_shape is missing"),
            ({"num_parts": 2, "part_index": 2}, "there is no such part"),
            ({"num_parts": 7, "part_index": 0}, "there are no records"),
            ({"label_width": 2}, "1-dimensional label but label_width is set to 2"),
            ({"path_imgrec": "var.rec"}, "2-dimensional label but label_width is set to 1"),
            ({"path_imgrec": "gone.rec"}, r"gone\.rec: No such file"),
            ({"path_imglist": "gone.lst"}, r"gone\.lst: No such file"),
            ({"path_imgidx": "gone.idx"}, r"gone\.idx: No such file"),
            ({"data_shape": (4, 8, 8)}, r"one\.rec, byte 0: Invalid image. Expected 4 channels"),
        ],
    )
    def test_settings_that_do_not_fit_are_refused(self, settings, says):
        with pytest.raises(MXNetError, match=says):
            iterator(**settings)

    def test_there_must_be_a_file(self):
        with pytest.raises(MXNetError, match="must specify image_rec"):
            mx.io.ImageRecordIter(data_shape=(3, 8, 8), batch_size=1)

    def test_a_list_that_lacks_a_record_names_it(self, tmp_path):
        path = tmp_path / "short.lst"
        path.write_text("".join((DATA / "six.lst").read_text().splitlines(True)[:4]))
        batches = mx.io.ImageRecordIter(
            str(DATA / "one.rec"), (3, 8, 8), 2, path_imglist=str(path), label_width=2
        )
        with pytest.raises(MXNetError, match=r"id 4[\s\S]*one\.rec, byte \d+[\s\S]*has 4"):
            list(batches)

    @pytest.mark.parametrize("line", ["a\t1\tx.png", "1\tx\ty.png", "1 2 3", "5"])
    def test_a_line_that_is_none_of_a_list_is_named(self, tmp_path, line):
        (tmp_path / "bad.lst").write_text(f"0\t1\tx.png\n{line}\n")
        with pytest.raises(MXNetError, match=r"bad\.lst, line 2: not a line of an image list"):
            iterator(path_imglist=str(tmp_path / "bad.lst"))

    def test_an_index_of_another_file_is_found_out(self, tmp_path):
        (tmp_path / "other.idx").write_text("0\t0\n1\t40\n")
        batches = iterator(path_imgidx=str(tmp_path / "other.idx"))
        with pytest.raises(MXNetError, match=r"one\.rec, byte 40: Invalid RecordIO File"):
            next(batches)

    @pytest.mark.parametrize(("cut", "says"), [(-3, "ends inside a record"), (5, "byte 0: the")])
    def test_a_cut_file_is_found_out_at_once(self, tmp_path, cut, says):
        (tmp_path / "cut.rec").write_bytes((DATA / "one.rec").read_bytes()[:cut])
        with pytest.raises(MXNetError, match=rf"cut\.rec, byte \d+: {says[-9:]}|{says}"):
            iterator(path_imgrec=str(tmp_path / "cut.rec"))

    def test_a_record_without_a_picture_is_named(self, tmp_path):
        writer = recordio.MXRecordIO(tmp_path / "text.rec", "w")
        writer.write(recordio.pack(recordio.IRHeader(0, 1, 0, 0), b"no picture at all"))
        writer.close()
        with pytest.raises(MXNetError, match=r"text\.rec, byte 0: .*not an image"):
            iterator(path_imgrec=str(tmp_path / "text.rec"))

    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            ({"label_pad_width": 10}, "label_pad_width is smaller than a label"),
            ({"label_width": 7}, "label_width is set to 7"),
            ({"resize_mode": "stretch"}, "resize_mode is not valid"),
            ({"path_imgrec": "one.rec"}, r"Not enough label packed[\s\S]*one\.rec, byte 0"),
        ],
    )
    def test_detection_settings_that_do_not_fit_are_refused(self, settings, says):
        with pytest.raises(MXNetError, match=says):
            made("ImageDetRecordIter", {**DETECTION, **settings})
