import numpy as np
import pytest

import minigluon as mx
from minigluon import kvstore, nd, optimizer
from minigluon.optimizer.pickles import loads


def ones(factor=1.0, shape=(2,), **kwargs):
    return nd.ones(shape, **kwargs) * factor


def rows(values):
    return nd.array(values).tostype("row_sparse")


def pulled(store, key, shape=(2,)):
    out = nd.zeros(shape)
    store.pull(key, out=out)
    return out.asnumpy().tolist()


def pulled_rows(store, key, ids, shape=(4, 1)):
    out = nd.zeros(shape, stype="row_sparse")
    store.row_sparse_pull(key, out=out, row_ids=nd.array(ids, dtype="int64"))
    return out.indices.asnumpy().tolist(), out.asnumpy()[:, 0].tolist()


@pytest.fixture(params=["local", "device"])
def store(request):
    return kvstore.create(request.param)


# --- keys and values --------------------------------------------------------------------------


def test_without_updater_the_sum_of_a_push_replaces_the_value(store):
    store.init(3, ones())
    store.push(3, [ones()] * 4)
    assert pulled(store, 3) == [4, 4]


def test_an_updater_is_called_once_a_push_with_the_sum():
    calls = []

    def double(key, gradient, weight):
        calls.append((key, gradient.asnumpy().tolist()))
        weight += 2 * gradient

    for key in (3, "w"):
        store = kvstore.create("local")
        store._set_updater(double)
        store.init(key, ones())
        store.push(key, [ones()] * 4)
        assert pulled(store, key) == [9, 9]
    assert calls == [(3, [4, 4]), ("w", [4, 4])]


def test_values_of_several_devices_are_summed(store):
    store.init("a", ones())
    store.push("a", [ones(2, ctx=mx.cpu(0)), ones(3, ctx=mx.cpu(1))])
    outs = [nd.zeros((2,), ctx=mx.cpu(1)), nd.zeros((2,), ctx=mx.cpu(0))]
    store.pull("a", out=outs)
    assert [o.asnumpy().tolist() for o in outs] == [[5, 5], [5, 5]]
    assert outs[0].context == mx.cpu(1)


def test_lists_of_keys_go_with_lists_of_values(store):
    store.init([1, 2], [ones(), ones(2)])
    store.push([1, 2], [[ones(), ones(2)], ones(9)])
    outs = [[nd.zeros((2,)), nd.zeros((2,))], nd.zeros((2,))]
    store.pull([1, 2], out=outs)
    assert [o.asnumpy().tolist() for o in (*outs[0], outs[1])] == [[3, 3], [3, 3], [9, 9]]


def test_a_key_may_stand_several_times(store):
    store.init([1, 2], [ones(), ones()])
    store.push([1, 1, 2], [ones(), ones(2), ones(9)])
    assert (pulled(store, 1), pulled(store, 2)) == ([3, 3], [9, 9])


def test_the_store_has_its_own_copies(store):
    value = ones()
    store.init("a", value)
    value[:] = 7
    assert pulled(store, "a") == [1, 1]
    value[:] = 3
    store.push("a", value)
    value[:] = 9
    assert pulled(store, "a") == [3, 3]


def test_pull_casts_to_the_dtype_of_out(store):
    store.init("a", ones(1.5, dtype="float64"))
    out = nd.zeros((2,), dtype="float16")
    store.pull("a", out=out)
    assert out.dtype == np.float16
    assert out.asnumpy().tolist() == [1.5, 1.5]


def test_the_second_init_of_a_key_raises_and_changes_nothing(store):
    store.init("a", ones())
    with pytest.raises(mx.MXNetError, match="duplicate init of key a"):
        store.init("a", ones(2))
    assert pulled(store, "a") == [1, 1]


@pytest.mark.parametrize("first", [1, "a"])
def test_keys_are_all_ints_or_all_strings(store, first):
    store.init(first, ones())
    other = "a" if first == 1 else 1
    for act in (store.init, store.push, store.pull):
        with pytest.raises(mx.MXNetError, match="Mixed key types are not allowed"):
            act(other, ones())


def test_unknown_keys_raise(store):
    store.init("a", ones())
    for act in (store.push, store.pull, store.pushpull):
        with pytest.raises(mx.MXNetError, match="Did you init"):
            act("zz", ones())


@pytest.mark.parametrize("key", [1.5, None, True])
def test_keys_of_other_types_raise(store, key):
    with pytest.raises(AssertionError, match="unexpected type for keys"):
        store.init(key, ones())


def test_another_shape_raises_and_leaves_the_store_unharmed(store):
    store.init("a", ones())
    with pytest.raises(mx.MXNetError, match="push: the value of key 'a' has the wrong shape"):
        store.push("a", [ones(), ones(shape=(3,))])
    with pytest.raises(mx.MXNetError, match="pull: out has the wrong shape"):
        store.pull("a", out=ones(shape=(3,)))
    assert pulled(store, "a") == [1, 1]


def test_lists_of_unequal_length_raise(store):
    with pytest.raises(AssertionError, match="2 keys"):
        store.init([1, 2], [ones()])


def test_values_are_ndarrays(store):
    with pytest.raises(AssertionError, match="NDArray"):
        store.init("a", np.ones(2))
    with pytest.raises(AssertionError, match="out"):
        store.pull("a")


# --- pushpull, broadcast ------------------------------------------------------------------------


def test_pushpull_writes_to_out(store):
    store.init("a", ones())
    values, out = [ones(), ones(2)], nd.zeros((2,))
    store.pushpull("a", values, out=out)
    assert [v.asnumpy().tolist() for v in (*values, out)] == [[1, 1], [2, 2], [3, 3]]


def test_pushpull_without_out_writes_to_the_values(store):
    store.init(["a", "b"], [ones(), ones()])
    values = [[ones(), ones(2)], [ones(4)]]
    store.pushpull(["a", "b"], values)
    assert [v.asnumpy().tolist() for v in (*values[0], *values[1])] == [[3, 3], [3, 3], [4, 4]]


def test_broadcast_is_init_and_pull(store):
    outs = [nd.zeros((2,)), nd.zeros((2,))]
    store.broadcast("a", ones(3), out=outs)
    assert [o.asnumpy().tolist() for o in outs] == [[3, 3], [3, 3]]
    with pytest.raises(mx.MXNetError, match="duplicate init"):
        store.broadcast("a", ones(3), out=outs)


# --- row_sparse -----------------------------------------------------------------------------------


def test_a_pull_skips_sparse_outs_unless_told(store):
    store.init("r", rows([[1], [0], [3], [4]]))
    out = nd.zeros((4, 1), stype="row_sparse")
    store.pull("r", out=out)
    assert out.indices.shape == (0,)
    store.pull("r", out=out, ignore_sparse=False)
    assert out.indices.asnumpy().tolist() == [0, 2, 3]
    assert pulled(store, "r", (4, 1)) == [[1], [0], [3], [4]]  # a dense out is filled


@pytest.mark.parametrize("ids", [[3, 1, 3, 0], [[3, 1], [3, 0]]])
def test_pulled_rows_are_unique_and_ascending(store, ids):
    store.init("r", rows([[1], [0], [3], [4]]))
    assert pulled_rows(store, "r", ids) == ([0, 1, 3], [1, 0, 0, 4])


def test_no_ids_give_no_rows(store):
    store.init("r", rows([[1], [0], [3], [4]]))
    out = rows([[9], [9], [9], [9]])
    store.row_sparse_pull("r", out=out, row_ids=nd.array([], dtype="int64"))
    assert out.indices.shape == (0,)


def test_outs_share_ids_or_have_their_own(store):
    store.init("r", rows([[1], [2], [3], [4]]))
    for ids, expected in (([1], [[1], [1]]), ([1, 3], [[1], [3]])):
        outs = [nd.zeros((4, 1), stype="row_sparse") for _ in range(2)]
        store.row_sparse_pull("r", out=outs, row_ids=[nd.array([i]) for i in ids])
        assert [o.indices.asnumpy().tolist() for o in outs] == expected
    with pytest.raises(AssertionError, match="the number of row_ids"):
        store.row_sparse_pull("r", out=outs, row_ids=[nd.array([1])] * 3)


def test_several_keys_have_an_out_and_ids_each(store):
    store.init(["a", "b"], [rows([[1], [2]]), rows([[3], [4]])])
    outs = [nd.zeros((2, 1), stype="row_sparse") for _ in range(2)]
    store.row_sparse_pull(["a", "b"], out=outs, row_ids=[nd.array([1]), nd.array([0])])
    assert [o.asnumpy().tolist() for o in outs] == [[[0], [2]], [[3], [0]]]
    with pytest.raises(AssertionError, match="one row_ids a key"):
        store.row_sparse_pull(["a", "b"], out=outs, row_ids=nd.array([1]))


def test_row_sparse_pull_wants_row_sparse_on_both_sides(store):
    store.init(["r", "d"], [rows([[1], [2]]), nd.ones((2, 1))])
    with pytest.raises(mx.MXNetError, match="out of key 'r' is not row_sparse"):
        store.row_sparse_pull("r", out=nd.ones((2, 1)), row_ids=nd.array([0]))
    with pytest.raises(mx.MXNetError, match="the stored value of key 'd' is not row_sparse"):
        store.row_sparse_pull("d", out=rows([[1], [2]]), row_ids=nd.array([0]))
    with pytest.raises(mx.MXNetError, match="out has the wrong shape"):
        store.row_sparse_pull("r", out=rows([[1], [2], [3]]), row_ids=nd.array([0]))


def test_row_sparse_pull_wants_out_and_ids(store):
    store.init("r", rows([[1], [2]]))
    for kwargs in ({"out": rows([[1], [2]])}, {"row_ids": nd.array([0])}):
        with pytest.raises(AssertionError, match="out and row_ids"):
            store.row_sparse_pull("r", **kwargs)
    with pytest.raises(AssertionError, match="row_ids should be NDArray or list of NDArray"):
        store.row_sparse_pull("r", out=rows([[1], [2]]), row_ids=np.array([0]))


@pytest.mark.parametrize("ids", [[4], [-1], [0, 9]])
def test_ids_out_of_range_raise(store, ids):  # MXNet 1.9.1 returned other memory
    store.init("r", rows([[1], [0], [3], [4]]))
    with pytest.raises(mx.MXNetError, match="a row of key 'r' does not exist"):
        pulled_rows(store, "r", ids)


def test_a_row_sparse_push_replaces_all_rows(store):
    store.init("r", rows([[1], [1], [1], [1]]))
    store.push("r", [rows([[0], [5], [6], [0]]), rows([[0], [0], [6], [1]])])
    assert pulled_rows(store, "r", [0, 1, 2, 3])[1] == [0, 5, 12, 1]


def test_pushes_take_the_storage_of_the_value(store):
    store.init(["r", "d"], [rows([[1], [1]]), nd.ones((2, 1))])
    store.push(["r", "d"], [nd.ones((2, 1)) * 2, [rows([[0], [5]]), nd.ones((2, 1))]])
    assert pulled_rows(store, "r", [0, 1], (2, 1)) == ([0, 1], [2, 2])
    assert pulled(store, "d", (2, 1)) == [[1], [6]]


def test_an_array_may_be_pushed_and_pulled_into(store):
    array = rows([[1], [2], [3], [4]])
    store.init(1, array)
    store.push(1, array)
    store.row_sparse_pull(1, out=array, row_ids=nd.array([2]))
    assert array.indices.asnumpy().tolist() == [2]
    assert pulled_rows(store, 1, [0, 1, 2, 3])[1] == [1, 2, 3, 4]


# --- optimizer ------------------------------------------------------------------------------------


def test_with_an_optimizer_a_push_is_an_update(store):
    store.init("a", ones(3))
    store.set_optimizer(optimizer.SGD(learning_rate=0.1, momentum=0.9))
    store.push("a", ones())
    store.push("a", [ones(0.5), ones(0.5)])
    np.testing.assert_allclose(pulled(store, "a"), [2.71, 2.71], rtol=1e-6)
    assert list(store._updater.states) == ["a"]


@pytest.mark.parametrize(
    ("lazy", "expected"),  # recorded from MXNet 1.9.1
    [(True, [0.899, 1, 0.607201, 1]), (False, [0.807201, 0.997101, 0.607201, 0.997101])],
)
def test_lazy_updates_change_the_pushed_rows_only(store, lazy, expected):
    store.init("w", nd.ones((4, 1)).tostype("row_sparse"))
    store.set_optimizer(optimizer.SGD(learning_rate=0.1, momentum=0.9, wd=0.01, lazy_update=lazy))
    store.push("w", rows([[1], [0], [1], [0]]))
    store.push("w", [rows([[0], [0], [1], [0]])] * 2)
    np.testing.assert_allclose(pulled_rows(store, "w", [0, 1, 2, 3])[1], expected, rtol=1e-6)


def test_optimizer_states_are_saved_and_loaded(store, tmp_path):
    store.init("a", ones())
    store.set_optimizer(optimizer.SGD(learning_rate=0.1, momentum=0.9))
    store.push("a", ones())
    for dump in (False, True):
        store.save_optimizer_states(tmp_path / "states", dump_optimizer=dump)
        other = kvstore.create("local")
        other.set_optimizer(optimizer.SGD(learning_rate=5))
        other.load_optimizer_states(tmp_path / "states")
        np.testing.assert_allclose(other._updater.states["a"].asnumpy(), [-0.1, -0.1])
        assert other._updater.optimizer.learning_rate == (0.1 if dump else 5)
    assert type(loads((tmp_path / "states").read_bytes())) is tuple


def test_states_need_an_optimizer(store, tmp_path):
    with pytest.raises(AssertionError, match="Cannot save states"):
        store.save_optimizer_states(tmp_path / "states")
    with pytest.raises(AssertionError, match="Cannot load states"):
        store.load_optimizer_states(tmp_path / "states")


def test_a_store_can_run_an_optimizer(store):
    assert store.is_capable("optimizer")
    assert kvstore.KVStore.is_capable("Optimizer")
    with pytest.raises(ValueError, match="Unknown capability: foo"):
        store.is_capable("foo")


def test_one_process_waits_for_nobody(store):
    assert store.barrier() is store._barrier() is None
    assert store.get_num_dead_node() == 0


def test_of_several_keys_none_is_touched_when_one_does_not_fit(store):
    store.init([1, 2], [ones(), ones()])
    with pytest.raises(mx.MXNetError, match="duplicate init"):
        store.init([3, 2], [ones(), ones()])
    store.init(3, ones())
    with pytest.raises(ValueError, match="key 2 has the wrong shape"):
        store.push([1, 2], [ones(5), ones(5, (3,))])
    assert pulled(store, 1) == [1, 1]
    outs = [nd.zeros((2,)), nd.zeros((3,))]
    with pytest.raises(ValueError, match="out has the wrong shape"):
        store.pull([1, 2], out=outs)
    assert outs[0].asnumpy().tolist() == [0, 0]
