"""Check symbols against expected values and finite differences."""

from __future__ import annotations

import json

import numpy as np

from .. import ndarray as nd
from .environment import default_context
from .tolerance import as_numpy, assert_almost_equal, default_numeric_eps


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """Run a symbol on numpy arrays given by name; a numpy array, or a list for several outputs."""
    ctx = ctx or default_context()
    executor = sym.bind(ctx, {name: nd.array(value, ctx) for name, value in inputs.items()})
    outputs = [out.asnumpy() for out in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def same_symbol_structure(sym1, sym2):
    """Whether two symbols apply the same operators in the same order, names aside."""

    return _structure(sym1) == _structure(sym2)


def _structure(sym):
    """The operators of a symbol with their inputs, as its saved text lists them, without names."""
    nodes = json.loads(sym.tojson())["nodes"]
    return [(node["op"], node.get("attrs"), node["inputs"]) for node in nodes]


def check_symbolic_forward(
    sym,
    location,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    ctx=None,
    equal_nan=False,
    dtype=np.float32,
):
    """Run a symbol forward, compare its outputs with ``expected`` and return them.

    ``location``, ``aux_states`` and ``expected`` are lists in the order of ``list_arguments``,
    ``list_auxiliary_states`` and ``list_outputs``, or dicts by those names. Raises
    ``AssertionError`` where they differ and ``ValueError`` where names or numbers do not fit.
    """
    ctx = ctx or default_context()
    arguments = _by_name(sym.list_arguments(), location, ctx, dtype, "arguments", "location")
    states = _states(sym, aux_states, ctx, dtype)
    executor = sym.bind(ctx, arguments, aux_states=states)
    outputs = executor.forward(is_train=False)
    if isinstance(expected, dict):
        expected = [expected[name] for name in sym.list_outputs()]
    for name, wanted, output in zip(sym.list_outputs(), expected, outputs, strict=False):
        names = (f"EXPECTED_{name}", f"FORWARD_{name}")
        assert_almost_equal(wanted, output, rtol, atol, names, equal_nan=equal_nan)
    return outputs


def check_symbolic_backward(
    sym,
    location,
    out_grads,
    expected,
    rtol=None,
    atol=None,
    aux_states=None,
    grad_req="write",
    ctx=None,
    grad_stypes=None,
    equal_nan=False,
    dtype=np.float32,
):
    """Run a symbol forward and backward, compare gradients with ``expected`` and return them.

    Gradient arrays start with random values, so that ``grad_req`` ``"add"`` and ``"null"`` are
    seen to add and to leave alone. ``out_grads`` is None, a list, or a dict by output names.
    """
    ctx = ctx or default_context()
    names = sym.list_arguments()
    arguments = _by_name(names, location, ctx, dtype, "arguments", "location")
    states = _states(sym, aux_states, ctx, dtype)
    if not isinstance(expected, dict):
        expected = dict(zip(names, expected, strict=False))
    if isinstance(grad_req, str):
        grad_req = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, list | tuple):
        grad_req = dict(zip(names, grad_req, strict=True))
    before = {
        name: np.random.normal(size=np.shape(value)).astype(arguments[name].dtype)
        for name, value in expected.items()
    }
    gradients = {
        name: nd.array(value, ctx, dtype=value.dtype).tostype(
            (grad_stypes or {}).get(name, "default")
        )
        for name, value in before.items()
    }
    executor = sym.bind(ctx, arguments, gradients, grad_req, states)
    executor.forward(is_train=True)
    if isinstance(out_grads, dict):
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    if out_grads is not None:
        out_grads = [
            _as_array(grad, ctx, output.dtype)
            for grad, output in zip(out_grads, executor.outputs, strict=True)
        ]
    executor.backward(out_grads)
    for name, wanted in expected.items():
        request = grad_req.get(name, "null")
        wanted = {
            "write": lambda name=name, wanted=wanted: as_numpy(wanted),
            "add": lambda name=name, wanted=wanted: as_numpy(wanted) + before[name],
            "null": lambda name=name, wanted=wanted: before[name],
        }[request]()
        shown = (f"EXPECTED_{name}", f"BACKWARD_{name}")
        assert_almost_equal(wanted, gradients[name], rtol, atol, shown, equal_nan=equal_nan)
    return gradients


def numeric_grad(
    executor, location, aux_states=None, eps=1e-4, use_forward_train=True, dtype=np.float32
):
    """Gradients of the sum of the first output, by central differences, as numpy arrays by name."""
    return _differences(
        executor,
        location
        if isinstance(location, dict)
        else dict(zip(executor.arg_dict, location, strict=True)),
        aux_states or {},
        eps,
        use_forward_train,
        lambda outputs: outputs[0].asnumpy().astype(np.float64).sum(),
    )


def _differences(executor, location, states, eps, is_train, loss):
    """Central differences of ``loss(outputs)`` for every element of every floating argument."""

    def evaluate():
        for name, value in states.items():
            executor.aux_dict[name][:] = value
        return loss(executor.forward(is_train=is_train))

    gradients = {}
    for name, value in location.items():
        value = as_numpy(value)
        if value.dtype.kind != "f":
            continue
        argument = executor.arg_dict[name]
        stype = argument.stype
        gradient = np.zeros(value.shape, value.dtype)
        point = value.copy()
        for index in np.ndindex(value.shape):
            sides = []
            for step in (eps / 2, -eps / 2):
                point[index] = value[index] + step
                argument[:] = nd.array(point, dtype=point.dtype).tostype(stype)
                sides.append((evaluate(), float(point[index])))
            point[index] = value[index]
            (high, right), (low, left) = sides
            gradient[index] = (high - low) / (right - left)
        argument[:] = nd.array(value, dtype=value.dtype).tostype(stype)
        gradients[name] = gradient
    return gradients


def check_numeric_gradient(
    sym,
    location,
    aux_states=None,
    numeric_eps=None,
    rtol=None,
    atol=None,
    grad_nodes=None,
    use_forward_train=True,
    ctx=None,
    grad_stype_dict=None,
    dtype=np.float32,
):
    """Raise ``AssertionError`` unless the gradients of a symbol agree with finite differences.

    The outputs are weighted by random numbers and summed, so that every element counts.

    Parameters
    ----------
    location : values of all arguments: a list in the order of ``list_arguments``, or a dict.
    grad_nodes : the arguments to check: a list of names, or a dict from name to ``grad_req``.
    numeric_eps : the step; None takes the default of ``dtype``.
    grad_stype_dict : storage types of the gradient arrays, by name.

    Examples
    --------
    >>> x = sym.Variable("x")
    >>> check_numeric_gradient(x * x, [np.array([1.0, 2.0, 3.0])])
    """
    ctx = ctx or default_context()
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps
    arguments = _by_name(sym.list_arguments(), location, ctx, dtype, "arguments", "location")
    states = _states(sym, aux_states, ctx, dtype)
    requests = dict.fromkeys(sym.list_arguments(), "null")
    if grad_nodes is None:
        requests.update(dict.fromkeys(arguments, "write"))
    else:
        requests.update(
            grad_nodes if isinstance(grad_nodes, dict) else dict.fromkeys(grad_nodes, "write")
        )
    before = {
        name: np.random.normal(size=array.shape).astype(array.dtype)
        for name, array in arguments.items()
        if requests[name] != "null"
    }
    gradients = {
        name: nd.array(value, ctx, dtype=value.dtype).tostype(
            (grad_stype_dict or {}).get(name, "default")
        )
        for name, value in before.items()
    }
    executor = sym.bind(ctx, arguments, gradients, requests, states)
    outputs = executor.forward(is_train=True)
    weights = [np.random.rand(*out.shape) + 0.1 for out in outputs]
    executor.backward(
        [nd.array(w, ctx, dtype=out.dtype) for w, out in zip(weights, outputs, strict=True)]
    )
    found = {name: gradient.asnumpy() for name, gradient in gradients.items()}

    def loss(outputs):
        return sum(
            np.sum(weight * out.asnumpy().astype(np.float64))
            for weight, out in zip(weights, outputs, strict=True)
        )

    numeric = _differences(
        executor,
        {name: arguments[name].asnumpy() for name in gradients},
        {name: state.asnumpy() for name, state in (states or {}).items()},
        eps,
        use_forward_train,
        loss,
    )
    for name, wanted in numeric.items():
        added = before[name] if requests[name] == "add" else 0
        shown = (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        assert_almost_equal(wanted, found[name] - added, rtol, atol, shown)


def _as_array(value, ctx, dtype):
    """An NDArray as it is, anything else as a dense one (``"asnumpy"`` keeps its dtype)."""
    if hasattr(value, "asnumpy"):
        return value.as_in_context(ctx)
    value = np.asarray(value)
    return nd.array(
        value,
        ctx=ctx,
        dtype=value.dtype if isinstance(dtype, str) and dtype == "asnumpy" else dtype,
    )


def _by_name(names, values, ctx, dtype, kind, argument):
    """Arrays by name, from a list in the order of ``names`` or a dict."""
    if isinstance(values, dict):
        if set(values) != set(names):
            raise ValueError(
                f"Symbol {kind} and keys of the given {argument} do not match."
                f"symbol {kind}:{set(names)}, {argument}.keys():{set(values)}"
            )
        values = [values[name] for name in names]
    elif len(values) != len(names):
        missing = ", ".join(names[len(values) :]) or "none"
        raise ValueError(
            f"{argument} has {len(values)} values for the {len(names)} {kind} of the symbol; "
            f"missing: {missing}"
        )
    return {name: _as_array(v, ctx, dtype) for name, v in zip(names, values, strict=True)}


def _states(sym, aux_states, ctx, dtype):
    names = sym.list_auxiliary_states()
    if aux_states is None and not names:
        return None
    if aux_states is None:
        raise ValueError(f"the symbol has auxiliary states, pass aux_states for {', '.join(names)}")
    return _by_name(names, aux_states, ctx, dtype, "aux_states", "aux_states")
