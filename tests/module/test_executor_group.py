"""minigluon/module/executor_group.py; numbers called recorded come from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon.module.executor_group import (
    _prepare_group2ctxs,
    _split_input_slice,
    hand_over,
)

TWO = [mx.cpu(0), mx.cpu(1)]


@pytest.mark.parametrize(
    ("size", "workload", "ends"),  # recorded
    [(10, [1, 2, 3], [2, 5, 10]), (5, [1, 1], [2, 5]), (4, [1, 3], [1, 4]), (4, [1], [4])],
)
def test_a_batch_is_cut_in_proportion_to_the_workloads(size, workload, ends):
    starts = [0, *ends[:-1]]
    expected = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
    assert _split_input_slice(size, workload) == expected


def test_a_batch_too_small_for_its_contexts_is_refused():
    with pytest.raises(ValueError, match="Too many slices"):
        _split_input_slice(2, [1, 1, 1])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [None, None]),
        ({"a": mx.cpu(1)}, [{"a": mx.cpu(1)}, {"a": mx.cpu(1)}]),
        ({"a": [mx.cpu(1), mx.cpu(2)]}, [{"a": mx.cpu(1)}, {"a": mx.cpu(2)}]),
        ([{"a": mx.cpu(1)}, {}], [{"a": mx.cpu(1)}, {}]),
    ],
)
def test_group2ctxs_becomes_one_dict_a_context(given, expected):
    assert _prepare_group2ctxs(given, 2) == expected


@pytest.mark.parametrize("given", [{"a": [mx.cpu()] * 3}, [{"a": mx.cpu()}], 3])
def test_a_group2ctxs_that_does_not_fit_is_refused(given):
    with pytest.raises(AssertionError, match="group2ctxs"):
        _prepare_group2ctxs(given, 2)


def test_parts_of_a_batch_go_to_the_contexts_and_outputs_are_joined(small):
    module = small.bound(context=TWO, work_load_list=[1, 3])
    module.forward(small.batch(), is_train=False)
    group = module._exec_group
    assert group.slices == [slice(0, 1), slice(1, 4)]
    assert [part.shape for _, part in group.data_arrays[0]] == [(1, 5), (3, 5)]
    assert [p.shape for p in module.get_outputs(merge_multi_context=False)[0]] == [(1, 3), (3, 3)]
    one = small.bound()
    one.forward(small.batch(), is_train=False)
    np.testing.assert_allclose(
        module.get_outputs()[0].asnumpy(), one.get_outputs()[0].asnumpy(), rtol=1e-6
    )


def test_a_csr_batch_is_cut_by_rows():
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(3, 1))
    module = mx.mod.Module(mx.sym.sparse.dot(data, weight), label_names=None, context=TWO)
    module.bind([("data", (4, 3))])
    module.init_params(mx.init.One())
    batch = mx.nd.array(np.arange(12).reshape(4, 3)).tostype("csr")
    module.forward(mx.io.DataBatch([batch]), is_train=False)
    assert [part.stype for _, part in module._exec_group.data_arrays[0]] == ["csr", "csr"]
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [3.0, 12.0, 21.0, 30.0]


def test_the_layout_says_which_axis_is_the_batch():
    symbol = mx.sym.FullyConnected(
        mx.sym.Variable("data"),
        num_hidden=2,
        flatten=False,
        name="f",
        attr={"__layout__": "TNC"},
    )
    module = mx.mod.Module(symbol, label_names=None, context=TWO)
    module.bind([mx.io.DataDesc("data", (3, 4, 5), layout="TNC")])
    module.init_params(mx.init.One())
    group = module._exec_group
    assert (group.batch_size, group.data_layouts, group.output_layouts) == (4, [1], [1])
    data = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    module.forward(mx.io.DataBatch([mx.nd.array(data)]))
    output = module.get_outputs()[0].asnumpy()
    assert output.tolist() == np.stack([data.sum(2)] * 2, axis=2).tolist()
    heads = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    module.backward([mx.nd.array(heads)])
    bias = module._param_names.index("f_bias")
    parts = [grad.asnumpy().tolist() for grad in group.grad_arrays[bias]]
    assert parts == [heads[:, :2].sum((0, 1)).tolist(), heads[:, 2:].sum((0, 1)).tolist()]


def test_parameters_are_averaged_over_the_contexts(small):
    module = small.bound(context=TWO)
    for executor, value in zip(module._exec_group.execs, (1.0, 3.0), strict=True):
        executor.arg_dict["fc1_bias"][:] = value
    module._params_dirty = True
    assert module.get_params()[0]["fc1_bias"].asnumpy().tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("grad_req", "expected"),  # recorded
    [
        ("write", {"data": "null", "w": "write", "f_bias": "write"}),
        ("add", {"data": "null", "w": "add", "f_bias": "add"}),
        ({"w": "add"}, {"data": "null", "w": "add", "f_bias": "write"}),
        (["null", "add", "write"], {"data": "null", "w": "add", "f_bias": "write"}),
    ],
)
def test_grad_req_is_given_for_all_or_for_each(grad_req, expected):
    symbol = mx.sym.FullyConnected(
        mx.sym.Variable("data"), weight=mx.sym.Variable("w"), num_hidden=2, name="f"
    )
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 3))], grad_req=grad_req)
    assert module._exec_group.grad_req == expected


def test_an_unknown_grad_req_is_refused():
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="f")
    module = mx.mod.Module(symbol, label_names=None)
    with pytest.raises(RuntimeError, match="bogus"):
        module.bind([("data", (2, 3))], grad_req="bogus")
    assert not module.binded


def test_handing_over_shares_what_fits_and_converts_what_does_not():
    target = mx.nd.zeros((2, 2))
    source = mx.nd.ones((2, 2))
    hand_over(source, target)
    assert target._data is source._data
    hand_over(mx.nd.ones((2, 2), dtype="int32") * 2, target)
    assert target.dtype == np.float32
    assert target.asnumpy().tolist() == [[2.0, 2.0]] * 2
    assert source.asnumpy().tolist() == [[1.0, 1.0]] * 2
    hand_over(np.eye(2), target)
    assert target.asnumpy().tolist() == np.eye(2).tolist()
    hand_over(mx.nd.array(np.eye(2)).tostype("csr"), target)
    assert target.stype == "default"
    sparse = mx.nd.sparse.zeros("csr", (2, 2))
    hand_over(mx.nd.ones((2, 2)), sparse)
    assert sparse.stype == "csr"
    assert sparse.asnumpy().tolist() == [[1.0, 1.0]] * 2


def test_a_metric_sees_labels_and_outputs_by_name(small):
    module = small.bound()
    module.forward(small.batch(), is_train=False)
    named = mx.metric.create("acc", output_names=["softmax_output"], label_names=["softmax_label"])
    plain = mx.metric.create("acc")
    label = small.batch().label
    module.update_metric(named, label)
    module.update_metric(plain, label)
    assert named.get() == plain.get()


def test_a_metric_sees_labels_that_were_cut_before(small):
    module = small.bound(context=TWO)
    module.forward(small.batch(), is_train=False)
    whole, parts = mx.metric.create("acc"), mx.metric.create("acc")
    label = small.batch().label[0]
    module.update_metric(whole, [label])
    module.update_metric(parts, [[label[0:2]], [label[2:4]]], pre_sliced=True)
    assert whole.get() == parts.get()
