import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError


def leaf(values, grad_req="write", **kwargs):
    x = nd.array(values)
    x.attach_grad(grad_req, **kwargs)
    return x


def square(x):
    with autograd.record():
        return x * x


# ---- backward


def test_a_leaf_is_its_own_gradient_of_one():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [1, 1])


@pytest.mark.parametrize(
    ("of_a", "of_b"), [("write", "write"), ("null", "write"), ("write", "null"), ("add", "write")]
)
def test_gradient_requests_do_not_disturb_each_other(of_a, of_b):
    a, b = leaf([1.0, 2.0], of_a), leaf([3.0, 4.0], of_b)
    with autograd.record():
        c = (a + b) * a
    c.backward()
    for x, req, expected in ((a, of_a, [5, 8]), (b, of_b, [1, 2])):
        if req == "null":
            assert x.grad is None
        else:
            np.testing.assert_array_equal(x.grad.asnumpy(), expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nd.clip(x, 0, 2),
        lambda x: x * 1,
        lambda x: nd.concat(x, dim=0),
        lambda x: nd.dot(x, nd.array(np.eye(3))),
        lambda x: nd.where(nd.ones((3,)), x, nd.ones((3,))),
    ],
)
def test_adding_adds_to_what_is_there(function):
    # MXNet 1.9.1 overwrites in some operators, clip among them
    x = leaf([1.0, 1.0, 1.0], "add")
    x.grad[:] = 10
    for _ in range(2):
        with autograd.record():
            y = function(x)
        y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [12, 12, 12])


def test_heads_may_have_gradients_of_their_own_or_none():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y, z = x * x, x * 3
    autograd.backward([y, z], [nd.array([1.0, 10.0]), None])
    np.testing.assert_array_equal(x.grad.asnumpy(), [5, 43])


def test_a_head_that_another_is_computed_from_counts_as_well():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * x
        z = y + y
    autograd.backward([y, z])
    np.testing.assert_array_equal(x.grad.asnumpy(), [6, 12])


def test_a_head_gradient_is_converted_to_the_dtype_of_the_head():
    x = leaf([1.0, 2.0])
    y = square(x)
    y.backward(nd.array([1, 2], dtype="float64"))
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 8])


@pytest.mark.parametrize(
    ("heads", "head_grads", "message"),
    [
        (lambda y: y, lambda: nd.ones((3,)), "head gradient 0 has the wrong shape"),
        (lambda y: [y], lambda: [nd.ones((2,)), nd.ones((2,))], "same length"),
    ],
)
def test_head_gradients_that_do_not_fit_are_refused(heads, head_grads, message):
    x = leaf([1.0, 2.0])
    x.grad[:] = 7
    with pytest.raises(MXNetError, match=message):
        autograd.backward(heads(square(x)), head_grads())
    np.testing.assert_array_equal(x.grad.asnumpy(), [7, 7])


def test_a_second_backward_needs_retain_graph():
    x = leaf([1.0, 2.0])
    y = square(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(MXNetError, match="retain_graph=True"):
        y.backward()


def test_what_was_not_recorded_has_no_gradient():
    x = leaf([1.0, 2.0])
    for y in (x * x, nd.ones((2,)), x.detach()):
        with pytest.raises(MXNetError, match="not in a computational graph"):
            y.backward()


def test_what_no_leaf_leads_to_has_no_gradient():
    with autograd.record():
        y = nd.ones((2,)) * 2
    with pytest.raises(MXNetError):
        y.backward()


def test_a_leaf_the_head_does_not_depend_on_is_left_alone():
    x, other = leaf([1.0]), leaf([1.0])
    other.grad[:] = 7
    square(x).backward()
    assert (other.grad.asscalar(), bool(other._fresh_grad)) == (7, False)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nd.BlockGrad(x * 2),
        lambda x: nd.sign(x),
        lambda x: nd.argmax(x, axis=0),
        lambda x: nd.ones_like(x) * 3,
    ],
)
def test_a_gradient_of_zero_is_written(function):
    # recorded from MXNet 1.9.1
    x = leaf([1.0, 2.0])
    x.grad[:] = 5
    with autograd.record():
        y = function(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])
    assert x._fresh_grad


def test_no_gradient_flows_through_detached_or_paused_values():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * x
        with autograd.pause():
            constant = y * 2
        z = y * constant + x.detach() * x
    z.backward()
    values = x.asnumpy()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * values * 2 * values**2 + values)


def test_a_gradient_knows_whether_it_is_fresh():
    x = leaf([1.0])
    assert not x._fresh_grad
    square(x).backward()
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad
    assert not nd.ones((1,))._fresh_grad


def test_the_dtype_of_a_gradient_is_its_variables():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x.astype("float64") * 2
    y.backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2])


def test_changing_a_value_after_recording_does_not_change_the_gradient_kept():
    # as in MXNet, the tape holds the array itself
    x = leaf([1.0, 2.0])
    y = square(x)
    x[:] = 10
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [20, 20])


# ---- leaves


def test_attaching_a_gradient_to_an_intermediate_cuts_it_off():
    x, y = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[5.0, 6.0], [7.0, 8.0]])
    with autograd.record():
        u = x * y
        u.attach_grad()
        z = u * x
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[5, 12], [21, 32]])
    np.testing.assert_array_equal(y.grad.asnumpy(), np.zeros((2, 2)))
    np.testing.assert_array_equal(u.grad.asnumpy(), x.asnumpy())


def test_attaching_again_makes_a_new_gradient():
    x = leaf([1.0, 2.0])
    first = x.grad
    square(x).backward()
    x.attach_grad("add")
    assert x.grad is not first
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])


def test_an_unknown_request_is_refused():
    with pytest.raises(MXNetError, match="grad_req='sometimes'"):
        nd.ones((1,)).attach_grad("sometimes")


def test_gradients_can_go_to_arrays_of_ones_own():
    x, y = nd.array([1.0, 2.0]), nd.array([3.0])
    grad, unused = nd.ones((2,)), nd.ones((1,))
    autograd.mark_variables([x, y], [grad, unused], ["add", "null"])
    with autograd.record():
        z = x * y
    z.backward()
    np.testing.assert_array_equal(grad.asnumpy(), [4, 4])
    np.testing.assert_array_equal(unused.asnumpy(), [1])
    assert x.grad is grad
    assert y.grad is None


@pytest.mark.parametrize(
    ("variables", "gradients", "reqs"),
    [
        ([nd.ones((2,))], [nd.ones((2,)), nd.ones((2,))], "write"),
        ([nd.ones((2,))], [nd.ones((3,))], "write"),
        ([nd.ones((2,))], [nd.ones((2,))], "sometimes"),
        ([nd.ones((2,))], [nd.ones((2,))], ["write", "write"]),
    ],
)
def test_marking_wants_a_gradient_and_a_request_for_each_variable(variables, gradients, reqs):
    with pytest.raises(MXNetError):
        autograd.mark_variables(variables, gradients, reqs)
    assert variables[0].grad is None


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_a_gradient_is_stored_like_its_array(stype):
    w = nd.ones((2, 2)).tostype(stype)
    w.attach_grad()
    assert w.grad.stype == stype


def test_a_row_sparse_gradient_holds_the_touched_rows_only():
    x = nd.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]).tostype("csr")
    w = leaf([[1.0], [2.0], [3.0]], stype="row_sparse")
    with autograd.record():
        y = nd.sparse.dot(x, w)
    y.backward()
    np.testing.assert_array_equal(w.grad.indices.asnumpy(), [1])
    np.testing.assert_array_equal(w.grad.data.asnumpy(), [[3]])


# ---- grad


def test_grad_returns_new_arrays_and_leaves_the_attached_ones_alone():
    x = leaf([1.0, 2.0], "add")
    x.grad[:] = 5
    (g,) = autograd.grad(square(x), [x])
    np.testing.assert_array_equal(g.asnumpy(), [2, 4])
    np.testing.assert_array_equal(x.grad.asnumpy(), [5, 5])


def test_grad_takes_a_bare_variable_and_gives_a_list():
    x = leaf([1.0, 2.0])
    got = autograd.grad(square(x), x)
    assert isinstance(got, list)
    np.testing.assert_array_equal(got[0].asnumpy(), [2, 4])


def test_grad_of_an_attached_intermediate():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * 3
    np.testing.assert_array_equal(autograd.grad(z, [y])[0].asnumpy(), [3, 3])


def test_grad_retains_only_if_asked():
    x = leaf([1.0, 2.0])
    y = square(x)
    autograd.grad(y, [x], retain_graph=True)
    autograd.grad(y, [x])
    with pytest.raises(MXNetError):
        autograd.grad(y, [x])


@pytest.mark.parametrize(
    ("variables", "position"),
    [
        (lambda x, other, plain: [plain], 1),
        (lambda x, other, plain: [x, plain], 2),
        (lambda x, other, plain: [x, other], 2),
        (lambda x, other, plain: [other], 1),
    ],
)
def test_grad_names_the_position_of_a_variable_outside_the_graph(variables, position):
    x, other, plain = leaf([1.0]), leaf([1.0]), nd.ones((1,))
    with pytest.raises(MXNetError, match=f"the {position}-th variable"):
        autograd.grad(square(x), variables(x, other, plain))


def test_grad_of_a_variable_that_wants_none_is_refused():
    x, y = leaf([1.0], "null"), leaf([1.0])
    with autograd.record():
        z = x * y
    with pytest.raises(MXNetError, match="does not require gradient"):
        autograd.grad(z, [x])


@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_takes_head_gradients(create_graph):
    x = leaf([1.0, 2.0])
    y = square(x)
    seed = nd.array([1, 10], dtype="float64")
    (g,) = autograd.grad(y, [x], [seed], retain_graph=True, create_graph=create_graph)
    assert g.dtype == np.float32
    np.testing.assert_array_equal(g.asnumpy(), [2, 40])
    for wrong, message in (([nd.ones((3,))], "wrong shape"), ([seed, seed], "same length")):
        with pytest.raises(MXNetError, match=message):
            autograd.grad(y, [x], wrong, retain_graph=True, create_graph=create_graph)


@pytest.mark.parametrize(("heads", "variables"), [([], []), ([], None), (None, [])])
def test_grad_wants_heads_and_variables(heads, variables):
    x = leaf([1.0])
    y = square(x)
    with pytest.raises(AssertionError, match="empty list"):
        autograd.grad([y] if heads is None else heads, [x] if variables is None else variables)


def test_higher_orders():
    x = leaf([0.5, 1.0])
    with autograd.record():
        y = nd.sin(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
    second.backward()
    values = x.asnumpy()
    np.testing.assert_allclose(first.asnumpy(), np.cos(values), rtol=1e-6)
    np.testing.assert_allclose(second.asnumpy(), -np.sin(values), rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), -np.cos(values), rtol=1e-6)


def test_a_gradient_can_be_part_of_a_loss():
    # a product's second derivative, which MXNet 1.9.1 refuses
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * x * x
        (slope,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
        penalty = nd.sum(slope * slope)
    penalty.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [36, 288])


def test_a_recorded_gradient_with_an_unused_output():
    x = leaf([[1.0, 2.0]])
    with autograd.record():
        y = nd.split(x * x, num_outputs=2, axis=1)[1]
        (slope,) = autograd.grad(y, [x], create_graph=True)
    slope.backward()
    np.testing.assert_array_equal(slope.asnumpy(), [[0, 4]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [[0, 2]])


# ---- get_symbol


def test_the_recorded_graph_has_a_variable_for_each_leaf():
    x, y = leaf([1.0]), leaf([2.0])
    with autograd.record():
        z = (x * y + x) * 2 + nd.ones((1,))
    graph = autograd.get_symbol(z)
    assert len(graph.list_arguments()) == 3
    got = graph.eval(**dict(zip(graph.list_arguments(), [x, y, nd.ones((1,))], strict=True)))
    assert got[0].asscalar() == z.asscalar()


def test_the_recorded_graph_keeps_attributes():
    x = leaf([[1.0, 2.0]])
    with autograd.record():
        y = nd.sum(nd.exp(x), axis=(1,), keepdims=True)
    attrs = autograd.get_symbol(y).list_attr()
    assert attrs == {"axis": "(1,)", "keepdims": "True"}


def test_only_recorded_arrays_have_a_graph():
    with pytest.raises(MXNetError, match="not part of a computation graph"):
        autograd.get_symbol(nd.ones((1,)))
    assert len(autograd.get_symbol(leaf([1.0])).list_arguments()) == 1


# ---- training mode


def test_dropout_follows_the_mode_not_the_recording():
    x = nd.ones((200,))
    assert (nd.Dropout(x, p=0.5).asnumpy() == 1).all()
    with autograd.train_mode():
        assert set(nd.Dropout(x, p=0.5).asnumpy().tolist()) == {0.0, 2.0}
    with autograd.record(train_mode=False):
        assert (nd.Dropout(x, p=0.5).asnumpy() == 1).all()
    with autograd.record():
        assert set(nd.Dropout(x, p=0.5).asnumpy().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("heads", [3, None, [nd.ones((1,)), "x"]])
def test_heads_that_are_no_arrays_are_refused(heads):
    with pytest.raises(TypeError, match="a head is no array"):
        autograd.backward(heads)
