import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError


class ProductAndSum(autograd.Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y, x + y

    def backward(self, product, total):
        x, y = self.saved_tensors
        return product * y + total, product * x + total


class Tripled(autograd.Function):
    """Doubles, with a gradient of three, so that one sees whose gradient it is."""

    def forward(self, x):
        self.forward_scope = autograd.is_recording(), autograd.is_training()
        return x * 2

    def backward(self, g):
        self.backward_scope = autograd.is_recording(), autograd.is_training()
        return g * 3


def leaf(values, grad_req="write"):
    x = nd.array(values)
    x.attach_grad(grad_req)
    return x


def test_gradients_flow_through_several_outputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with autograd.record():
        product, total = ProductAndSum()(x, y)
        z = product * 2 + total
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [7, 9])
    np.testing.assert_array_equal(y.grad.asnumpy(), [3, 5])


def test_an_output_that_nothing_uses_brings_zeros():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with autograd.record():
        product, _ = ProductAndSum()(x, y)
        z = product * 2
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [6, 8])


def test_the_users_gradient_is_used():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = Tripled()(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3])


@pytest.mark.parametrize("grad_req", ["null", "write", "add"])
def test_gradient_requests_are_honoured(grad_req):
    # MXNet 1.9.1 leaves the buffer as it is for grad_req="add"
    x, y = nd.array([3.0]), leaf([1.0], "add")
    x.attach_grad(grad_req)
    y.grad[:] = 5
    if grad_req == "add":
        x.grad[:] = 100
    with autograd.record():
        product, _ = ProductAndSum()(x, y)
    product.backward()
    assert y.grad.asscalar() == 8
    expected = {"null": None, "write": 1, "add": 101}[grad_req]
    assert (x.grad is None) if expected is None else x.grad.asscalar() == expected


def test_forward_and_backward_are_not_recorded_but_know_the_mode():
    x, function = leaf([1.0]), Tripled()
    with autograd.record():
        y = function(x)
    y.backward()
    assert (function.forward_scope, function.backward_scope) == ((False, True), (False, True))


def test_a_function_is_called_once():
    function = Tripled()
    function(nd.ones((1,)))
    with pytest.raises(AssertionError, match="can only be called once"):
        function(nd.ones((1,)))


def test_outside_of_recording_only_forward_happens():
    y = Tripled()(leaf([1.0]))
    assert y.asscalar() == 2
    assert y._entry is None


class Wrong(autograd.Function):
    def __init__(self, result):
        self.result = result

    def forward(self, x):
        return x * 1

    def backward(self, g):
        return self.result


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ((nd.ones((2,)), nd.ones((2,))), "wrong number of gradients"),
        (np.ones(2), "gradient 0 is not an array"),
        (nd.ones((3,)), "gradient 0 has the wrong shape"),
    ],
)
def test_what_backward_returns_is_checked_and_nothing_is_written(result, message):
    x = leaf([1.0, 2.0])
    x.grad[:] = 7
    with autograd.record():
        y = Wrong(result)(x)
    with pytest.raises(MXNetError, match=f"Wrong.backward: {message}"):
        y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [7, 7])


def test_none_stands_for_no_gradient():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = Wrong(None)(x) + x
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [1, 1])


def test_a_list_of_outputs_stays_a_list():
    class Listed(autograd.Function):
        def forward(self, x):
            return [x * 2]

        def backward(self, g):
            return g

    with autograd.record():
        y = Listed()(leaf([1.0]))
    assert isinstance(y, list)


def test_the_gradient_of_a_function_can_be_differentiated():
    class Square(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * x

        def backward(self, g):
            (x,) = self.saved_tensors
            return 2 * x * g

    x = leaf([3.0])
    with autograd.record():
        y = Square()(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    assert (first.asscalar(), x.grad.asscalar()) == (6, 2)


def test_a_second_backward_is_refused():
    x = leaf([1.0])
    with autograd.record():
        y = Tripled()(x)
    y.backward()
    with pytest.raises(MXNetError, match="retain_graph"):
        y.backward()


def test_a_function_can_be_written_to_in_its_forward():
    class Cleared(autograd.Function):
        def forward(self, x):
            y = x.copy()
            y[:] = 0
            y += 1
            return y

        def backward(self, g):
            return g

    x = leaf([5.0])
    with autograd.record():
        y = Cleared()(x) * 2
    y.backward()
    assert (y.asscalar(), x.grad.asscalar()) == (2, 2)


@pytest.mark.parametrize("write", [lambda g: g.__imul__(3), lambda g: g.__setitem__(0, 3)])
def test_the_gradient_handed_in_belongs_to_others_and_cannot_be_written_to(write):
    # MXNet 1.9.1: "trying to multiply to a readonly NDArray", a ValueError
    class Greedy(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            write(g)
            return g

    x, head = leaf([1.0, 2.0]), nd.ones((2,))
    with autograd.record():
        y = x * 2
        z = Greedy()(y) + y
    with pytest.raises(ValueError, match="read-only"):
        z.backward(head)
    np.testing.assert_array_equal(head.asnumpy(), [1, 1])
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])
