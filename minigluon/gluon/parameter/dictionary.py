"""ParameterDict: the parameters of a block by full name, saved and loaded together."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import initializer
from ... import ndarray as nd
from ...base import ArgumentError
from ..utils import _brief_print_list, _indent
from .loading import Options, load_arrays
from .parameter import Constant, Parameter


class ParameterDict:
    """Parameters by full name, in the order they were made.

    Parameters
    ----------
    prefix : put in front of the names ``get`` is asked for.
    shared : another dictionary whose parameters are used where the names agree.

    Examples
    --------
    >>> params = ParameterDict("net_")
    >>> params.get("weight", shape=(2, 0))
    Parameter net_weight (shape=(2, 0), dtype=<class 'numpy.float32'>)
    >>> params.get("weight", shape=(0, 3)).shape
    (2, 3)
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None):
        self._prefix = prefix
        self._params: OrderedDict[str, Parameter] = OrderedDict()
        self._shared = shared

    def __repr__(self) -> str:
        name = self._prefix + " " if self._prefix else ""
        content = "\n".join(_indent(f"  {value!r}", 2) for value in self.values())
        return f"{name}(\n{content}\n)"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __contains__(self, name: object) -> bool:
        return name in self._params

    def items(self) -> Any:
        """Pairs of full name and parameter."""
        return self._params.items()

    def keys(self) -> Any:
        """The full names."""
        return self._params.keys()

    def values(self) -> Any:
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What is put in front of the names ``get`` is asked for."""
        return self._prefix

    def _get_impl(self, name: str) -> Parameter | None:
        if name in self._params:
            return self._params[name]
        if self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
            return self._params[name]
        return None

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter ``prefix + name``, made with ``kwargs`` if there is none yet.

        One that exists must agree with ``kwargs``; unknown dimensions of its shape are filled in.
        """
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for attribute, wanted in kwargs.items():
            held = getattr(param, attribute, None)
            if held is None:
                setattr(param, attribute, wanted)
            elif attribute == "shape" and wanted is not None and _mergeable(wanted, held):
                param._shape = tuple(h if h > 0 else w for w, h in zip(wanted, held, strict=True))
            elif attribute == "dtype" and wanted is not None and np.dtype(wanted) == np.dtype(held):
                continue
            elif wanted is not None and wanted != held:
                raise ArgumentError(
                    f"Cannot retrieve Parameter '{name}' because desired attribute does not match "
                    f"with stored for attribute '{attribute}': desired '{wanted}' vs stored "
                    f"'{held}'.\n  received  {attribute}={wanted!r}\n  expected  {held!r}\n"
                    "  fix       ask for another name, or for the attributes it was made with"
                )
        return param

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant ``prefix + name``, made of ``value`` if there is none yet."""
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            if value is None:
                raise KeyError(
                    f"No constant named '{name}'. Please specify value if you want to create a "
                    "new constant."
                )
            constant = Constant(name, value)
            self._params[name] = constant
            return constant
        if not isinstance(param, Constant):
            raise ArgumentError(
                f"Parameter '{name}' already exists but it is not a constant.\n"
                f"  received  {param!r}\n  expected  a Constant\n  fix       use another name"
            )
        if value is not None and not np.array_equal(_numpy(value), param.value.asnumpy()):
            raise ArgumentError(
                f"Constant '{name}' already exists but it's value doesn't match new value\n"
                f"  received  {_numpy(value)}\n  expected  {param.value.asnumpy()}\n"
                "  fix       use another name for another value"
            )
        return param

    def update(self, other: Any) -> None:
        """Take over all parameters of ``other``, which must not hold others of the same name."""
        for name, param in other.items():
            if self._params.setdefault(name, param) is not param:
                raise ArgumentError(
                    "Cannot update self with other because they have different Parameters with "
                    f"the same name '{name}'\n  received  {param!r}\n"
                    f"  expected  the very {self._params[name]!r}\n"
                    "  fix       create children inside name_scope(), so that names are unique"
                )

    def initialize(
        self,
        init: Any = initializer.Uniform(),  # noqa: B008 - the signature scripts know
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize every parameter, by its own initializer if it has one, else by ``init``."""
        if verbose:
            init = initializer.create(init) if isinstance(init, str) else init
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other contexts."""
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self) -> list:
        """The contexts any of the parameters is on."""
        return list(dict.fromkeys(ctx for param in self.values() for ctx in param.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters, for example ``setattr("grad_req", "null")``."""
        for param in self.values():
            setattr(param, name, value)

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Write all parameters to a file, by full name without ``strip_prefix``."""
        arrays = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ArgumentError(
                    f"Prefix '{strip_prefix}' is to be striped before saving, but Parameter's name "
                    f"'{param.name}' does not start with '{strip_prefix}'. this may be due to your "
                    "Block shares parameters from other Blocks or you forgot to use 'with "
                    f"name_scope()' when creating child blocks.\n  received  {param.name}\n"
                    f"  expected  a name that starts with {strip_prefix}\n"
                    "  fix       use Block.save_parameters, which goes by attribute names"
                )
            arrays[param.name[len(strip_prefix) :]] = param._reduce()
        nd.save(filename, arrays)

    def load(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read all parameters from a file written by ``save``, ``export`` or Module.

        Parameters
        ----------
        restore_prefix : put in front of the names in the file.
        allow_missing, ignore_extra : accept parameters the file lacks, or more than there are.
        cast_dtype, dtype_source : accept other element types; ``"current"`` keeps the dictionary's,
            ``"saved"`` takes the file's.
        """
        for name in self.keys() if restore_prefix else ():
            if not name.startswith(restore_prefix):
                raise ArgumentError(
                    f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not "
                    f"start with '{restore_prefix}'.\n  received  {name}\n"
                    f"  expected  names that start with {restore_prefix}\n"
                    f"  fix       use the prefix of the block, here {self.prefix!r}"
                )
        self.load_dict(
            nd.load(filename),
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            filename,
            cast_dtype,
            dtype_source,
        )

    def load_dict(
        self,
        param_dict: dict,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Take all parameters from a dictionary of arrays; see ``load``.

        Nothing is written unless everything fits.
        """
        source = f"file: {filename}" if filename else "param_dict"
        named = without_tags(param_dict, source)
        arrays = {restore_prefix + name: array for name, array in named.items()}

        def words(problem: str, name: str) -> str:
            known = _brief_print_list(self.keys())
            if problem == "missing":
                return (
                    f"Parameter '{name}' is missing in {source}, which contains parameters: "
                    f"{_brief_print_list(arrays)}. Please make sure source and target networks "
                    "have the same prefix, or load with Block.load_parameters a file that "
                    "Block.save_parameters wrote."
                )
            return (
                f"Parameter '{name}' loaded from {source} is not present in ParameterDict, "
                f"choices are: {known}. Set ignore_extra to True to ignore. Please make sure "
                "source and target networks have the same prefix."
            )

        options = Options(ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)
        load_arrays(self._params, arrays, options, words)


def _mergeable(one: Any, other: Any) -> bool:
    """Whether two shapes agree wherever both are known."""
    return len(one) == len(other) and all(
        a == b or a in (0, -1) or b in (0, -1) for a, b in zip(one, other, strict=True)
    )


def _numpy(value: Any) -> np.ndarray:
    return value.asnumpy() if isinstance(value, nd.NDArray) else np.asarray(value)


def without_tags(arrays: Any, source: str) -> dict:
    """Named arrays without the ``arg:`` and ``aux:`` that export and Module put in front."""
    if not isinstance(arrays, dict):
        if len(arrays) == 0:
            return {}
        raise ArgumentError(
            f"{source} holds arrays without names.\n  received  a list of {len(arrays)} arrays\n"
            "  expected  named arrays, as save_parameters writes them\n"
            "  fix       read it with mx.nd.load"
        )
    return {
        name[4:] if name.startswith(("arg:", "aux:")) else name: array
        for name, array in arrays.items()
    }


def deprecated(old: str, advice: str) -> None:
    """Warn that a method has a successor."""
    warnings.warn(f"{old} is deprecated. {advice}", UserWarning, stacklevel=3)
