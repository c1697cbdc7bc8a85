"""Backward passes of compiled graphs straight into the gradients of their leaves.

A loss that is compiled, of a network that is, has a backward pass of one function call, which
writes into the arrays of ``x.grad``. Everything else is for the sweep over the tape: several heads,
gradients that are added up, sparse ones, leaves that are met twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.graphop import CompiledCall
from ..core.plan.fuse import LOWERINGS
from ..core.state import state
from .tape import Leaf


def backward(head: Any, retain: bool, seed: Any = None) -> bool:
    """Write the gradients of the sum of ``head`` if it can be done at once; whether it was.

    ``seed``, the gradient of the head, stands for ones if it is None. The head may be what one
    operator makes of a loss, such as its mean.
    """
    entry = head._entry
    if entry is None:
        return False
    top = over = entry[0]
    if type(top.call) is not CompiledCall:
        top = _below(over)
        if top is None:
            return False
    bottom = top
    for source in top.inputs:
        if source is not None and source[0].call is not None:
            if bottom is not top or type(source[0].call) is not CompiledCall:
                return False
            bottom = source[0]
    if top.values is None or bottom.values is None or over.values is None:
        return False
    seeded = seed is not None or over is not top
    if seeded:
        data = head._data
        if seed is None:
            seed = np.ones(data.shape, data.dtype)
        elif type(seed) is not np.ndarray or seed.shape != data.shape or seed.dtype != data.dtype:
            return False
    chain = bottom.call.chains.get((top.call, seeded))
    if chain is None:
        chain = bottom.call.chains[top.call, seeded] = Chain(top, bottom, seeded)
    if chain.run is None:
        return False
    inputs, grads, arrays = chain.leaves
    if inputs != bottom.inputs:
        found = _leaves(bottom.inputs)
        if found is None:
            return False
        inputs, grads, arrays = chain.leaves = found
    values = top.values if top is bottom else (*top.values, *bottom.values)
    if seeded:
        if over is not top:
            (seed,) = over.call.op.pull(over.call, over, [seed], (True,))
        values = (seed, *values)
    if state.quietly(chain.run, *values, *[g._data for g in grads]) is None:
        return False
    for reference in arrays:
        array = reference()
        if array is not None:
            array._fresh = True
    if not retain:
        top.values = bottom.values = over.values = None
    return True


def _below(over: Any) -> Any:
    """The planned node that a plain operator is applied to, if to nothing else."""
    if len(over.inputs) != 1 or over.call is None or over.inputs[0] is None:
        return None
    node = over.inputs[0][0]
    plain = over.call.op.name in LOWERINGS and over.call.outputs == 1  # known to be pure
    return node if plain and type(node.call) is CompiledCall else None


class Chain:
    """What runs the backward pass of one or two planned graphs, and the leaves it was run for.

    It is kept by the Call of the lower graph, which a block owns, so it may hold gradients.
    """

    __slots__ = ("leaves", "run")

    def __init__(self, top: Any, bottom: Any, seeded: bool):
        self.leaves: Any = (None, (), ())  # one value, as threads may share a graph
        self.run = None
        plans, places = [top.call.plan], []
        if top is not bottom:
            recorded = [k for k, e in enumerate(top.inputs) if e is not None]
            if len(recorded) > 1:  # leaves beside the lower graph
                return
            plans, places = [*plans, bottom.call.plan], recorded
        if bottom.call.op.shared:  # what all losses share must not hold gradients
            return
        from ..core.plan.direct import fill_gradients  # not at start-up: 5 ms

        self.run = fill_gradients(plans, places, seeded)


def _leaves(inputs: Any) -> Any:
    """Inputs of a node, the gradients of the leaves among them, and the leaves' arrays.

    None if they are not leaves to be written to.
    """
    leaves = [e[0] for e in inputs if e is not None]
    if len(set(leaves)) < len(leaves):
        return None
    if not all(type(leaf) is Leaf and leaf.grad_req == "write" for leaf in leaves):
        return None
    return inputs, [leaf.grad for leaf in leaves], [leaf.array for leaf in leaves]
