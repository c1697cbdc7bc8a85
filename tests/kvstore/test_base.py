import numpy as np
import pytest

from minigluon import kvstore, nd
from minigluon.kvstore import KVStoreBase, TestStore


def pair():
    return [nd.ones((2,)), nd.ones((2,)) * 2]


def test_the_test_store_has_one_worker_and_no_optimizer():
    store = kvstore.create("TestStore")
    assert (store.type, store.rank, store.num_workers) == ("teststore", 0, 1)
    assert store.is_capable("optimizer") is False
    assert TestStore.is_capable(KVStoreBase.OPTIMIZER) is False
    with pytest.raises(ValueError, match="Unknown capability: foo"):
        store.is_capable("foo")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_optimizer", (None,)),
        ("save_optimizer_states", ("file",)),
        ("load_optimizer_states", ("file",)),
    ],
)
def test_what_needs_an_optimizer_is_not_implemented(name, arguments):
    with pytest.raises(NotImplementedError):
        getattr(kvstore.create("teststore"), name)(*arguments)


def test_pushpull_in_place_writes_the_sum_to_the_values():
    values = pair()
    kvstore.create("teststore").pushpull("a", values)
    assert [v.asnumpy().tolist() for v in values] == [[3, 3], [3, 3]]


def test_pushpull_into_out_leaves_the_values():
    values, out = pair(), [nd.zeros((2,)), nd.zeros((2,))]
    kvstore.create("teststore").pushpull("a", values, out=out)
    assert [v.asnumpy().tolist() for v in (*values, *out)] == [[1, 1], [2, 2], [3, 3], [3, 3]]


def test_pushpull_of_one_array_changes_nothing():
    value = nd.ones((2,))
    kvstore.create("teststore").pushpull("a", value)
    np.testing.assert_array_equal(value.asnumpy(), [1, 1])


def test_broadcast_copies_to_every_out():
    out = [nd.zeros((2,)), nd.zeros((2,))]
    value = nd.ones((2,)) * 7
    kvstore.create("teststore").broadcast("a", value, out=[*out, value])
    assert [v.asnumpy().tolist() for v in out] == [[7, 7], [7, 7]]


def test_a_registered_store_is_found_by_its_name(monkeypatch):
    monkeypatch.setattr(KVStoreBase, "kv_registry", dict(KVStoreBase.kv_registry))

    @KVStoreBase.register
    class Mine(KVStoreBase):
        pass

    assert type(kvstore.create("MINE")) is Mine
    with pytest.warns(UserWarning, match="is overriding existing kvstore"):
        KVStoreBase.register(Mine)


def test_the_base_promises_and_does_nothing():
    store = KVStoreBase()
    for name in ("type", "rank", "num_workers"):
        with pytest.raises(NotImplementedError):
            getattr(store, name)
    with pytest.raises(NotImplementedError):
        store.pushpull("a", nd.ones((1,)))
