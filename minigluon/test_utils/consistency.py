"""Check that things agree with each other: contexts, dtypes, eager and hybridised, optimizers."""

from __future__ import annotations

import time
import warnings

import numpy as np

from .. import autograd, initializer
from .. import ndarray as nd
from .arrays import rand_ndarray
from .environment import default_context
from .tolerance import as_numpy, assert_almost_equal, get_tols


def check_consistency(
    sym,
    ctx_list,
    scale=1.0,
    grad_req="write",
    arg_params=None,
    aux_params=None,
    rtol=None,
    atol=None,
    raise_on_err=True,
    ground_truth=None,
    equal_nan=False,
    use_uniform=False,
    rand_type=np.float64,
):
    """Check that symbols give the same outputs and gradients in every context and dtype.

    Parameters
    ----------
    sym : a symbol, or one for each entry of ``ctx_list``.
    ctx_list : dicts with ``ctx``, ``type_dict`` (dtypes by argument) and the shapes of inputs.
    ground_truth : values by output and argument name to compare with, instead of those of the
        entry with the widest dtype, which are returned.
    raise_on_err : False warns instead of raising ``AssertionError``.
    """
    symbols = sym if isinstance(sym, list | tuple) else [sym] * len(ctx_list)
    executors = [
        symbol.simple_bind(grad_req=grad_req, **spec)
        for symbol, spec in zip(symbols, ctx_list, strict=True)
    ]
    first = executors[0]
    given = {**(arg_params or {}), **(aux_params or {})}
    draw = np.random.uniform if use_uniform else np.random.normal
    values = {}
    for name, array in {**first.arg_dict, **first.aux_dict}.items():
        if name in given:
            values[name] = as_numpy(given[name])
        elif name in first.aux_dict:
            values[name] = np.zeros(array.shape)
        elif use_uniform:
            values[name] = draw(-0.92 * scale, 0.92 * scale, array.shape).astype(rand_type)
        else:
            values[name] = draw(0, scale, array.shape).astype(rand_type)
    for executor in executors:
        for name, array in {**executor.arg_dict, **executor.aux_dict}.items():
            array[:] = nd.array(values[name], dtype=array.dtype)
        for gradient in executor.grad_dict.values():
            if gradient is not None:
                gradient[:] = 0

    names = sym[0].list_outputs() if isinstance(sym, list | tuple) else sym.list_outputs()
    heads = None
    results = []
    training = grad_req != "null"
    for executor in executors:
        outputs = executor.forward(is_train=training)
        found = dict(zip(names, outputs, strict=True))
        if training:
            if heads is None:
                heads = [np.random.normal(size=out.shape) for out in outputs]
            executor.backward(
                [nd.array(h, dtype=out.dtype) for h, out in zip(heads, outputs, strict=True)]
            )
            found.update({k: g for k, g in executor.grad_dict.items() if g is not None})
        results.append(found)

    widest = max(range(len(results)), key=lambda k: _width(results[k]))
    truth = ground_truth or results[widest]
    for k, found in enumerate(results):
        if found is truth:
            continue
        for name, value in found.items():
            tolerances = get_tols(value, truth[name], rtol, atol)
            try:
                assert_almost_equal(value, truth[name], *tolerances, (name, "truth"), equal_nan)
            except AssertionError as error:
                if raise_on_err:
                    raise AssertionError(f"entry {k} of ctx_list, {name}:{error}") from error
                warnings.warn(f"entry {k} of ctx_list, {name}:{error}", stacklevel=2)
    return truth


def _width(results):
    return sum(np.dtype(array.dtype).itemsize for array in results.values())


def check_gluon_hybridize_consistency(
    net_builder, data_l, numpy_func=None, test_grad=True, rtol=1e-4, atol=1e-4
):
    """Check that a block gives the same results and gradients eager and hybridised.

    ``net_builder(prefix=...)`` makes the block, ``data_l`` are its inputs, and ``numpy_func``
    computes on numpy arrays what it should give.
    """
    saved, results = None, []
    for hybrid in (False, True):
        net = net_builder(prefix="net_")
        net.initialize(initializer.Uniform())
        inputs = [x.copy() for x in data_l]
        net(*inputs)
        if saved is None:
            saved = {name: p.data().copy() for name, p in net.collect_params().items()}
        for name, parameter in net.collect_params().items():
            parameter.set_data(saved[name])
        if hybrid:
            net.hybridize()
        for x in inputs:
            x.attach_grad()
        with autograd.record():
            out = net(*inputs)
        found = {"output": out.asnumpy()}
        if test_grad:
            out.backward()
            found.update({f"input {k}": x.grad.asnumpy() for k, x in enumerate(inputs)})
            found.update(
                {
                    name: parameter.grad().asnumpy()
                    for name, parameter in net.collect_params().items()
                    if parameter.grad_req != "null"
                }
            )
        results.append(found)
    eager, hybrid = results
    for name, value in eager.items():
        assert_almost_equal(value, hybrid[name], rtol, atol, (f"eager {name}", f"hybrid {name}"))
    if numpy_func is not None:
        wanted = numpy_func(*[x.asnumpy() for x in data_l])
        assert_almost_equal(wanted, eager["output"], rtol, atol, ("numpy", "block"))


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole", **kwargs):
    """Seconds per run of a symbol, over ``N`` runs.

    ``typ`` is ``"whole"`` (with backward) or ``"forward"``. ``location`` holds numpy arrays by
    name; without it, ``kwargs`` are shapes, filled at random.
    """
    if typ not in ("whole", "forward"):
        raise ValueError('typ can only be "whole" or "forward".')
    ctx = ctx or default_context()
    grad_req = grad_req or ("write" if typ == "whole" else "null")
    if location is None:
        executor = sym.simple_bind(ctx, grad_req=grad_req, **kwargs)
        location = {k: np.random.normal(size=a.shape) for k, a in executor.arg_dict.items()}
    else:
        shapes = {name: np.shape(value) for name, value in location.items()}
        executor = sym.simple_bind(ctx, grad_req=grad_req, **shapes)
    for name, value in location.items():
        executor.arg_dict[name][:] = as_numpy(value)

    def run():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(executor.outputs)
        for output in executor.outputs:
            output.wait_to_read()

    run()
    start = time.perf_counter()
    for _ in range(N):
        run()
    return (time.perf_counter() - start) / N


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Raise ``AssertionError`` unless two nested tuples hold almost equal arrays, or both None."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for first, second in zip(t1, t2, strict=True):
            compare_ndarray_tuple(first, second, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def compare_optimizer(
    opt1,
    opt2,
    shape,
    dtype,
    w_stype="default",
    g_stype="default",
    rtol=1e-4,
    atol=1e-5,
    compare_states=True,
    ntensors=1,
):
    """Raise ``AssertionError`` unless two optimizers make the same step from the same random start.

    ``shape``, ``w_stype`` and ``g_stype`` are lists when ``ntensors`` is more than one.
    """

    def several(value):
        return value if isinstance(value, list) else [value] * ntensors

    def random(stype, shape):
        if stype == "default":
            return nd.random.uniform(shape=shape, dtype=dtype)
        return rand_ndarray(shape, stype, density=1, dtype=dtype)

    shapes = several(shape)
    weights = [random(stype, s) for stype, s in zip(several(w_stype), shapes, strict=True)]
    gradients = [random(stype, s) for stype, s in zip(several(g_stype), shapes, strict=True)]
    runs = []
    for optimizer in (opt1, opt2):
        own_weights = [w.copy() for w in weights]
        own_gradients = [g.copy() for g in gradients]
        states = [optimizer.create_state_multi_precision(k, w) for k, w in enumerate(own_weights)]
        if ntensors == 1:
            optimizer.update_multi_precision(0, own_weights[0], own_gradients[0], states[0])
        else:
            optimizer.update_multi_precision(
                list(range(ntensors)), own_weights, own_gradients, states
            )
        runs.append((own_weights, states))
    (weights1, states1), (weights2, states2) = runs
    if compare_states:
        compare_ndarray_tuple(tuple(states1), tuple(states2), rtol, atol)
    compare_ndarray_tuple(tuple(weights1), tuple(weights2), rtol, atol)
