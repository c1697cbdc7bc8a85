"""What optimizers do to one number: the rules, written on `scalar.Value`, and loops over them.

A rule is called with the weight, the gradient, the states and the settings ``lr, wd, *others,
rescale, clip``, and gives the new weight and states. Settings are numbers of the arrays' type, and
the operations are those of ``kernels.updates``, in that order: the bits are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .scalar import DOUBLE, FLOAT, Block, Value, absolute, copysign, select, sqrt

Rule = Callable[..., tuple[Value, ...]]


def sgd(w: Value, g: Value, lr: Value, wd: Value, rescale: Value, clip: Value) -> Any:
    """``(1 - lr wd) w - lr clip(rescale g)``."""
    return ((1 - lr * wd) * w - _scaled(g, lr, rescale, clip),)


def momentum(
    w: Value, g: Value, m: Value, lr: Value, wd: Value, share: Value, rescale: Value, clip: Value
) -> Any:
    """``m = share m - lr wd w - lr clip(rescale g)``; ``w + m``."""
    m = share * m - lr * wd * w - _scaled(g, lr, rescale, clip)
    return w + m, m


def adam(
    w: Value, g: Value, mean: Value, var: Value, lr: Value, wd: Value, beta1: Value, beta2: Value,
    epsilon: Value, rescale: Value, clip: Value,
) -> Any:  # fmt: skip
    """Running means of ``g = clip(rescale g + wd w)`` and of its square; a step of their ratio."""
    g = _clipped(rescale * g + wd * w, _limit(clip))
    mean = beta1 * mean + (1 - beta1) * g
    var = beta2 * var + (1 - beta2) * g * g
    return w - lr * mean / (sqrt(var) + epsilon), mean, var


def adagrad(
    w: Value, g: Value, history: Value, lr: Value, wd: Value, epsilon: Value, rescale: Value,
    clip: Value,
) -> Any:  # fmt: skip
    """``g = clip(rescale g)``; ``h += g^2``; ``w - lr (g / sqrt(h + epsilon) + wd w)``."""
    g = _clipped(rescale * g, _limit(clip))
    history = history + g * g
    return w - lr * (g / sqrt(history + epsilon) + wd * w), history


def ftrl(
    w: Value, g: Value, z: Value, n: Value, lr: Value, wd: Value, lamda1: Value, beta: Value,
    rescale: Value, clip: Value,
) -> Any:  # fmt: skip
    """Follow the regularised leader: weights that ``lamda1`` outweighs become exact zeros."""
    g = _clipped(rescale * g, _limit(clip))
    root = sqrt(n)
    n = n + g * g
    new_root = sqrt(n)
    z = z + (g - (new_root - root) * w / lr)
    step = (copysign(lamda1, z) - z) / ((beta + new_root) / lr + wd)
    kept = select(absolute(z).compare("ogt", lamda1), w.like(1), 0)
    return step * kept, z, n


def nag(
    w: Value, g: Value, m: Value, lr: Value, wd: Value, share: Value, rescale: Value, clip: Value
) -> Any:
    """``m = share m - s`` with ``s = lr (g + wd w)``; ``w + share m - s``."""
    step = lr * (_clipped(rescale * g, _limit(clip)) + wd * w)
    m = share * m - step
    return w + share * m - step, m


def rmsprop(
    w: Value, g: Value, square: Value, lr: Value, wd: Value, share: Value, rest: Value,
    epsilon: Value, rescale: Value, clip: Value,
) -> Any:  # fmt: skip
    """``g = clip(rescale g + wd w)``; ``n = share n + rest g^2``; ``w - lr g / sqrt(n + e)``."""
    g = rescale * g
    g = _clipped(select(wd.compare("une", 0), g + wd * w, g), _limit(clip))
    square = share * square + rest * (g * g)
    return w + (-lr) * g / sqrt(square + epsilon), square


def adadelta(
    w: Value, g: Value, gradients: Value, steps: Value, lr: Value, wd: Value, share: Value,
    rest: Value, epsilon: Value, rescale: Value, clip: Value,
) -> Any:  # fmt: skip
    """A step in the unit of the weight: roots of running squares of steps and gradients."""
    g = _clipped(rescale * g, _limit(clip))
    gradients = share * gradients + rest * g * g
    step = sqrt(steps + epsilon) / sqrt(gradients + epsilon) * g
    steps = share * steps + rest * step * step
    return w - (step + wd * w), gradients, steps


def _clipped(value: Value, limit: Value) -> Value:
    """NaN passes through; ``limit`` is infinite for no clipping."""
    above = select(value.compare("ogt", limit), limit, value)
    return select(value.compare("olt", -limit), -limit, above)


def _limit(clip: Value) -> Value:
    return select(clip.compare("oge", 0), clip, float("inf"))


def _scaled(g: Value, lr: Value, rescale: Value, clip: Value) -> Value:
    """``lr clip(rescale g)``; without a clip the two factors are multiplied first."""
    bounded = clip.compare("oge", 0)
    before = select(bounded, rescale, lr * rescale)
    after = select(bounded, lr, 1)
    return after * _clipped(before * g, _limit(clip))


def loop(rule: Rule, states: int, settings: int, kind: str) -> str:
    """The function ``@step(weight, grad, *states, n, *settings)`` over ``n`` numbers in place.

    ``kind`` is the numbers' type, `FLOAT` or `DOUBLE`; the arrays do not overlap.
    """
    assert kind in (FLOAT, DOUBLE)
    block = Block()
    arrays = ["%w", "%g", *[f"%s{k}" for k in range(states)]]
    numbers = [Value(block, kind, f"%c{k}") for k in range(settings)]
    elements = []
    for name in arrays:
        place = block.emit("ptr", f"getelementptr {kind}, ptr {name}, i64 %i")
        elements.append((place.name, block.emit(kind, f"load {kind}, ptr {place.name}")))
    results = rule(*[value for _, value in elements], *numbers)
    places = [elements[0][0], *[place for place, _ in elements[2:]]]
    for place, value in zip(places, results, strict=True):
        block.lines.append(f"store {kind} {value.name}, ptr {place}")
    parameters = [*[f"ptr noalias {name}" for name in arrays], "i64 %n"]
    parameters += [f"{kind} {number.name}" for number in numbers]
    body = "\n".join(f"  {line}" for line in block.lines)
    return (
        f"define internal void @step({', '.join(parameters)}) {{\n"
        "start:\n  %none = icmp eq i64 %n, 0\n  br i1 %none, label %done, label %next\n"
        f"next:\n  %i = phi i64 [0, %start], [%more, %next]\n{body}\n"
        "  %more = add nuw nsw i64 %i, 1\n  %last = icmp eq i64 %more, %n\n"
        "  br i1 %last, label %done, label %next\ndone:\n  ret void\n}\n"
    )
