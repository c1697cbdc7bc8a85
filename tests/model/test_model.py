"""minigluon/model/: checkpoints and stores."""

import logging

import pytest

import minigluon as mx
from minigluon import model
from minigluon.base import MXNetError


def test_a_checkpoint_gives_back_symbol_and_parameters(tmp_path):
    prefix = str(tmp_path / "m")
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    arg = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    aux = {"mean": mx.nd.ones((1,))}
    mx.model.save_checkpoint(prefix, 12, symbol, arg, aux)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m-0012.params", "m-symbol.json"]
    loaded, arg_params, aux_params = mx.model.load_checkpoint(prefix, 12)
    assert loaded.list_arguments() == symbol.list_arguments()
    assert sorted(arg_params) == ["fc_bias", "fc_weight"]
    assert arg_params["fc_weight"].asnumpy().tolist() == [[1.0] * 3] * 2
    assert list(aux_params) == ["mean"]


def test_sparse_parameters_stay_sparse_in_a_checkpoint(tmp_path):
    rows = mx.nd.sparse.row_sparse_array(([[1.0]], [3]), shape=(5, 1))
    mx.model.save_checkpoint(str(tmp_path / "m"), 1, None, {"w": rows}, {})
    loaded = mx.model.load_params(str(tmp_path / "m"), 1)[0]["w"]
    assert loaded.stype == "row_sparse"
    assert loaded.indices.asnumpy().tolist() == [3]


def test_an_empty_file_is_said_to_be_empty(tmp_path, caplog):
    mx.nd.save(str(tmp_path / "m-0001.params"), {})
    caplog.set_level(logging.WARNING)
    assert mx.model.load_params(str(tmp_path / "m"), 1) == ({}, {})
    assert "is empty" in caplog.text


def test_names_without_a_tag_are_refused_and_other_tags_ignored(tmp_path):
    fname = str(tmp_path / "m-0001.params")
    mx.nd.save(fname, {"w": mx.nd.ones((1,))})
    with pytest.raises(ValueError, match="arg: or aux:"):
        mx.model.load_params(str(tmp_path / "m"), 1)
    mx.nd.save(fname, {"foo:w": mx.nd.ones((1,))})
    assert mx.model.load_params(str(tmp_path / "m"), 1) == ({}, {})


def test_a_missing_checkpoint_is_an_mxnet_error(tmp_path):
    with pytest.raises(MXNetError, match="gone"):
        mx.model.load_checkpoint(str(tmp_path / "gone"), 1)


@pytest.mark.parametrize(
    ("kvstore", "devices", "size", "expected"),  # recorded from MXNet 1.9.1
    [
        (None, 2, 1, (None, False)),
        ("local", 1, 1, (None, False)),
        ("device", 1, 1, (None, False)),
        ("local", 2, 1, ("local", True)),
        ("local", 2, 16 * 1024 * 1024 + 1, ("local", False)),
        ("device", 2, 16 * 1024 * 1024 + 1, ("device", True)),
    ],
)
def test_which_kvstore_is_used_and_who_updates(kvstore, devices, size, expected):
    class Parameter:
        shape = (size,)

    store, update = model._create_kvstore(kvstore, devices, {"w": Parameter()})
    assert (store and store.type, update) == expected


def test_a_kvstore_given_as_an_object_updates_even_for_one_device():
    given = mx.kv.create("local")
    assert model._create_kvstore(given, 1, {}) == (given, True)


def test_a_store_that_cannot_optimize_does_not_update():
    store, update = model._create_kvstore(mx.kv.create("teststore"), 2, {})
    assert store is not None
    assert not update


def test_the_environment_can_keep_updates_with_the_worker(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    assert model._create_kvstore("device", 2, {})[1] is False


def test_what_is_no_kvstore_is_a_type_error():
    with pytest.raises(TypeError, match="kvstore must be"):
        model._create_kvstore(3, 1, {})


def test_batch_end_param_has_mxnets_fields():
    param = mx.model.BatchEndParam(epoch=1, nbatch=2, eval_metric=None, locals=None)
    assert param == (1, 2, None, None)
