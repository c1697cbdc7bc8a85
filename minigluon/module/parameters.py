"""Values given for parameters, checked before any is written, and who updates them."""

from __future__ import annotations

import warnings
from typing import Any

from .. import ndarray as nd
from .. import optimizer as opt
from ..base import ShapeError
from ..context import cpu
from .errors import ModuleError


def zeros_like(names: list[str], arrays: list[list[Any]]) -> dict[str, Any]:
    """Arrays on the CPU, in the shape, dtype and storage of the first context's."""
    return {
        name: nd.zeros(parts[0].shape, ctx=cpu(), dtype=parts[0].dtype, stype=parts[0].stype)
        for name, parts in zip(names, arrays, strict=True)
    }


def check_given(own: Any, given: Any, allow_missing: bool) -> None:
    """Raise if values given for parameters are incomplete or do not fit."""
    if given is None:
        return
    for name, array in sorted(own.items()):
        value = given.get(name)
        if value is None:
            if not allow_missing:
                raise RuntimeError(
                    f"{name} is not presented.\n  received  values for {sorted(given)}\n"
                    f"  expected  all of {sorted(own)}\n"
                    "  fix       pass allow_missing=True to initialize the others"
                )
        elif value.shape != array.shape:
            raise ShapeError(
                f"Module: {name} has the wrong shape.\n  received  {name} {value.shape}\n"
                f"  expected  {name} {array.shape}, from the symbol and the bound inputs\n"
                "  fix       use parameters saved from the same network and input size"
            )


def check_known(own: Any, given: Any, kind: str) -> None:
    """Raise ValueError if there is a value for something the symbol does not have."""
    for name in given:
        if name not in own:
            raise ValueError(
                f'Find name "{name}" that is not in the {kind}.\n'
                f"  received  {sorted(given)}\n  expected  some of {sorted(own)}\n"
                "  fix       pass allow_extra=True to ignore others"
            )


def make_optimizer(
    optimizer: Any, params: Any, rescale_grad: float, symbol: Any, idx2name: dict[int, str]
) -> Any:
    """The optimizer, knowing the parameters' names by the numbers the updates will use."""
    if isinstance(optimizer, str):
        params = dict(params)
        params.setdefault("rescale_grad", rescale_grad)
        return opt.create(optimizer, sym=symbol, param_idx2name=idx2name, **params)
    if not isinstance(optimizer, opt.Optimizer):
        raise ModuleError(
            "init_optimizer: not an optimizer.\n"
            f"  received  {type(optimizer).__name__}\n"
            "  expected  a name such as 'sgd', or an mx.optimizer.Optimizer\n"
            "  fix       pass optimizer='sgd'"
        )
    if optimizer.rescale_grad != rescale_grad:
        warnings.warn(
            "Optimizer created manually outside Module but rescale_grad is not normalized to "
            f"1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {rescale_grad}). "
            "Is this intended?",
            UserWarning,
            stacklevel=3,
        )
    if not optimizer.idx2name:
        optimizer.idx2name = idx2name.copy()
    return optimizer


def check_row_ids(row_ids, known):
    """Raise unless what ``prepare`` is told is a dict from names of known parameters to rows.

    ``ModuleError`` for what is no dict, ``ValueError`` for another name.
    """
    if not isinstance(row_ids, dict):
        raise ModuleError(
            "prepare: Expected dict output from sparse_row_id_fn.\n"
            f"  received  {type(row_ids).__name__}\n"
            "  expected  {parameter name: row ids}\n"
            "  fix       return {'weight': batch.data[0].indices}"
        )
    for name in row_ids:
        if name not in known:
            raise ValueError(
                f"prepare: {name!r} is not in list of parameters.\n"
                f"  received  row ids for {sorted(row_ids)}\n"
                f"  expected  some of {known}\n"
                "  fix       use the names of the symbol's parameters"
            )
