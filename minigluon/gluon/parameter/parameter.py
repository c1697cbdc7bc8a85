"""A Parameter: a named array of a block, one copy a context, with its gradient."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import autograd, initializer
from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError, MXNetError
from ...context import Context, cpu, current_context, usable
from ..utils import shape_is_known

tensor_types = (sym.Symbol, nd.NDArray)

_STYPES = ("default", "row_sparse", "csr")


class DeferredInitializationError(MXNetError):
    """A parameter was asked for its data before the first batch told its shape."""


class UninitializedError(MXNetError):
    """A parameter was asked for its data although nobody initialized it."""


class Parameter:
    """A trainable array of a block, held on one or several contexts, with a gradient on each.

    Unknown dimensions are 0; with ``allow_deferred_init`` the first forward pass fills them in.

    Parameters
    ----------
    name : unique name; blocks put their prefix in front.
    grad_req : ``"write"``, ``"add"`` (sum up until ``zero_grad``) or ``"null"`` (no gradient).
    lr_mult, wd_mult : factors on the learning rate and the weight decay of this parameter.
    init : initializer of this parameter, stronger than what ``Block.initialize`` is given.
    differentiable : False fixes ``grad_req`` to ``"null"``.
    stype, grad_stype : ``"default"``, ``"row_sparse"`` or ``"csr"`` storage of data and gradient.

    Examples
    --------
    >>> weight = Parameter("weight", shape=(2, 3))
    >>> weight.initialize("ones")
    >>> weight.data().shape, weight.grad().shape
    ((2, 3), (2, 3))
    """

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: Any = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ):
        for argument, value in (("stype", stype), ("grad_stype", grad_stype)):
            if value not in _STYPES:
                raise ArgumentError(
                    f"{argument} for Parameter '{name}' must be one of 'default', 'row_sparse', or "
                    f"'csr', but got '{value}'\n  received  {argument}={value!r}\n"
                    "  expected  a storage type\n  fix       leave it out for dense storage"
                )
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._var: Any = None
        self._data: list | None = None
        self._grad: list | None = None
        self._ctx_list: list | None = None
        self._trainer: Any = None
        self._deferred_init: tuple = ()
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._grad_req = "null"
        self._shape = (shape,) if isinstance(shape, int | np.integer) else shape
        if self._shape is not None:
            self._shape = tuple(self._shape)
        self._dtype = dtype
        self._stype = stype
        self._grad_stype = grad_stype
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    def __getstate__(self) -> dict:
        """What copying and pickling keep: all but the trainer."""
        return {**self.__dict__, "_trainer": None}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        if self._data is not None and self._grad is not None:
            autograd.mark_variables(self._data, self._grad, self.grad_req)

    # What it is -----------------------------------------------------------------------------

    @property
    def grad_req(self) -> str:
        """How gradients are stored: ``"write"``, ``"add"`` or ``"null"``.

        Changing it makes new, zero gradients (or drops them).
        """
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in ("write", "add", "null"):
            raise ArgumentError(
                f"grad_req must be one of 'write', 'add', or 'null', but got '{req}'\n"
                f"  received  grad_req={req!r} for Parameter {self.name}\n"
                "  expected  'write', 'add' or 'null'\n  fix       leave it out for 'write'"
            )
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        if self._data is None:
            return
        if req == "null":
            self._grad = None
            self._data = [array.detach() for array in self._data]
        else:
            self._init_grad()

    @property
    def shape(self) -> tuple | None:
        """The shape; 0 or -1 for dimensions that are not known yet. Unknown ones can be set."""
        return self._shape

    @shape.setter
    def shape(self, new_shape: tuple) -> None:
        if not self._admits(new_shape):
            raise ArgumentError(
                f"Expected shape {new_shape} is incompatible with given shape {self._shape}.\n"
                f"  received  shape {new_shape} for Parameter {self.name}\n"
                f"  expected  {self._shape}, where 0 and -1 stand for any size\n"
                "  fix       give the layer the right in_units, or initialize a new one"
            )
        self._shape = tuple(new_shape)

    def _admits(self, shape: tuple) -> bool:
        """Whether ``shape`` fills in the unknown dimensions and leaves the known ones."""
        held = self._shape
        return held is None or (
            len(held) == len(shape)
            and all(h in (0, -1, s) for h, s in zip(held, shape, strict=True))
        )

    @property
    def dtype(self) -> Any:
        """The element type; setting it casts data and gradient."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    def cast(self, dtype: Any) -> None:
        """Convert data and gradient to another element type."""
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            self._data = [array.astype(dtype) for array in self._data]
            if self._grad is not None:
                self._grad = [array.astype(dtype) for array in self._grad]
                autograd.mark_variables(self._data, self._grad, self.grad_req)

    def var(self) -> Any:
        """The symbol that stands for this parameter in graphs; always the same one."""
        if self._var is None:
            self._var = sym.var(
                self.name,
                shape=self.shape,
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                stype=self._stype,
            )
        return self._var

    # Making its arrays ----------------------------------------------------------------------

    def initialize(
        self,
        init: Any = None,
        ctx: Any = None,
        default_init: Any = initializer.Uniform(),  # noqa: B008 - the signature scripts know
        force_reinit: bool = False,
    ) -> None:
        """Make data and gradient arrays on each context, at once or when the shape is known.

        Parameters
        ----------
        init : initializer; otherwise the parameter's own, otherwise ``default_init``.
        ctx : a context or a list of them; the current one if not given.
        force_reinit : start again although there is data already, which is otherwise a warning.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. "
                "Set force_reinit=True to re-initialize.",
                UserWarning,
                stacklevel=2,
            )
            return
        if init is None:
            init = default_init if self.init is None else self.init
        pending = (init, _contexts(ctx), default_init, None)
        if shape_is_known(self.shape):
            self._build(*pending)
        elif self._allow_deferred_init:
            self._data = self._grad = None
            self._deferred_init = pending
        else:
            raise ArgumentError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}.\n  received  shape {self.shape}\n  expected  a known size in every "
                "dimension\n  fix       give the shape, or pass allow_deferred_init=True"
            )

    def _finish_deferred_init(self) -> None:
        """Make the arrays now that the shape is known; nothing to do if they exist."""
        if not self._deferred_init:
            return
        if not shape_is_known(self.shape):
            raise ArgumentError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}. Please specify in_units, in_channels, etc for `Block`s.\n"
                f"  received  shape {self.shape} after the first batch\n"
                "  expected  a known size in every dimension\n"
                "  fix       specify in_units and the like when the layer is made"
            )
        self._build(*self._deferred_init)

    def _build(self, init: Any, contexts: list, default_init: Any, data: Any) -> None:
        with autograd.pause():
            if data is None:
                data = nd.zeros(self.shape, ctx=cpu(), dtype=self.dtype, stype=self._stype)
                self._fill(data, init, default_init)
            self._init_impl(data, contexts)

    def _fill(self, data: Any, init: Any, default_init: Any) -> None:
        known = (str, initializer.Initializer)
        if not isinstance(init, known):  # Mixed, Load or a function: it goes by the name alone
            init(initializer.InitDesc(self.name), data)
            return
        start = initializer.create(default_init if isinstance(default_init, known) else init)
        start(initializer.InitDesc(self.name, {"__init__": init}), data)

    def _init_impl(self, data: Any, contexts: list) -> None:
        """Hold copies of ``data`` on ``contexts``, with fresh gradients."""
        self._data = [data.copyto(ctx) for ctx in contexts]
        self._ctx_list = [array.context for array in self._data]
        self._deferred_init = ()
        self._init_grad()

    def _init_grad(self) -> None:
        if self.grad_req == "null":
            self._grad = None
            return
        self._grad = [
            nd.zeros(a.shape, ctx=a.context, dtype=a.dtype, stype=self._grad_stype)
            for a in self._data or ()
        ]
        autograd.mark_variables(self._data, self._grad, self.grad_req)

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameter to other contexts."""
        contexts = _contexts(ctx)
        if self._data is not None:
            with autograd.pause():
                self._init_impl(self._reduce(), contexts)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, contexts, default_init, data)
        else:
            raise ArgumentError(
                f"Cannot reset context for Parameter '{self.name}' because it has not been "
                f"initialized.\n  received  ctx={ctx}\n  expected  an initialized parameter\n"
                "  fix       call initialize(ctx=...) instead"
            )

    def set_data(self, data: Any) -> None:
        """Write ``data`` into the arrays of all contexts."""
        self.shape = data.shape
        if self._data is None:
            if not self._deferred_init:
                raise ArgumentError(
                    f"Parameter '{self.name}' has not been initialized\n  received  set_data()\n"
                    "  expected  an initialized parameter\n  fix       call initialize() first"
                )
            init, contexts, default_init, _ = self._deferred_init
            if not isinstance(data, nd.NDArray):
                data = nd.array(data, dtype=self.dtype)
            self._build(init, contexts, default_init, data.astype(self.dtype))
            return
        trainer = self._trainer
        if (
            trainer is not None
            and trainer._kv_initialized
            and trainer._update_on_kvstore
            and self not in trainer._params_to_init
        ):
            trainer._reset_kvstore()  # its copy of the weight is out of date now
        for array in self._data:
            array[:] = data

    def _load_init(
        self, data: Any, ctx: Any, cast_dtype: bool = False, dtype_source: str = "current"
    ) -> None:
        """Take over an array read from a file, which fits."""
        if np.dtype(self.dtype) != np.dtype(data.dtype):
            if dtype_source == "current":
                data = data.astype(self.dtype)
            else:
                self.dtype = data.dtype
        if data.stype != self._stype:
            data = data.tostype(self._stype)
        self.shape = data.shape
        if self._data is not None:
            self.set_data(data)
            return
        if self._deferred_init:
            ctx = self._deferred_init[1]
        with autograd.pause():
            self._init_impl(data, [cpu()] if ctx is None else _contexts(ctx))

    # Reading it -----------------------------------------------------------------------------

    def _check_and_get(self, arrays: list | None, ctx: Any) -> Any:
        """The array on ``ctx`` (the only one if None), or all of them if ``ctx`` is ``list``."""
        if arrays is None:
            raise self._not_there()
        if ctx is list:
            return arrays
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = current_context()
        ctx = usable(ctx)
        for held, array in zip(self._ctx_list or (), arrays, strict=True):
            # every kind of CPU memory is one device
            if (
                held.device_id == ctx.device_id
                and (held.device_typeid ^ ctx.device_typeid) & 1 == 0
            ):
                return array
        raise UninitializedError(
            f"Parameter '{self.name}' was not initialized on context {ctx}. "
            f"It was only initialized on {self._ctx_list}.\n  received  ctx={ctx}\n"
            f"  expected  one of {self._ctx_list}\n"
            f"  fix       move the input to one of them, or initialize with ctx=[..., {ctx}]"
        )

    def _not_there(self) -> MXNetError:
        if self._deferred_init:
            return DeferredInitializationError(
                f"Parameter '{self.name}' has not been initialized yet because initialization was "
                "deferred. Actual initialization happens during the first forward pass. Please "
                "pass one batch of data through the network before accessing Parameters. You can "
                "also avoid deferred initialization by specifying in_units, num_features, etc., "
                f"for network layers.\n  received  shape {self.shape}\n"
                "  expected  a known size in every dimension\n"
                "  fix       call the network on one batch first"
            )
        return UninitializedError(
            f"Parameter '{self.name}' has not been initialized. Note that you should initialize "
            "parameters and create Trainer with Block.collect_params() instead of Block.params "
            "because the later does not include Parameters of nested child Blocks\n"
            f"  received  {self!r} without data\n  expected  an initialized parameter\n"
            "  fix       call initialize() on the network before using it"
        )

    def data(self, ctx: Any = None) -> Any:
        """The array on ``ctx``; writing into it changes the parameter.

        Without ``ctx`` it is the only copy, or of several the one on the current context.
        """
        if self._stype != "default":
            raise UninitializedError(
                f"Cannot return a copy of Parameter '{self.name}' on ctx {ctx} via data() because "
                f"its storage type is {self._stype}. Please use row_sparse_data() instead.\n"
                f"  received  data() of a {self._stype} parameter\n"
                "  expected  the rows that are wanted\n  fix       call row_sparse_data(row_id)"
            )
        return self._check_and_get(self._data, ctx)

    def list_data(self) -> list:
        """The arrays on all contexts, in the order they were initialized on."""
        if self._stype != "default":
            raise UninitializedError(
                f"Cannot return copies of Parameter '{self.name}' on all contexts via list_data() "
                f"because its storage type is {self._stype}. Please use row_sparse_data() instead."
                f"\n  received  list_data() of a {self._stype} parameter\n"
                "  expected  the rows that are wanted\n"
                "  fix       call list_row_sparse_data(row_id)"
            )
        return self._check_and_get(self._data, list)

    def row_sparse_data(self, row_id: Any) -> Any:
        """The row_sparse array on the context of ``row_id``, with those rows up to date."""
        if self._stype != "row_sparse":
            raise UninitializedError(
                f"Cannot return a copy of Parameter {self.name} via row_sparse_data() because its "
                f"storage type is {self._stype}. Please use data() instead.\n"
                f"  received  row_sparse_data() of a {self._stype} parameter\n"
                "  expected  a row_sparse parameter\n  fix       call data()"
            )
        return self._get_row_sparse(self._data, None, row_id)

    def list_row_sparse_data(self, row_id: Any) -> list:
        """The row_sparse arrays of all contexts with the rows ``row_id`` brought up to date."""
        if self._stype != "row_sparse":
            raise UninitializedError(
                f"Cannot return copies of Parameter '{self.name}' on all contexts via "
                f"list_row_sparse_data() because its storage type is {self._stype}. Please use "
                f"data() instead.\n  received  list_row_sparse_data(), {self._stype} storage\n"
                "  expected  a row_sparse parameter\n  fix       call list_data()"
            )
        return self._get_row_sparse(self._data, list, row_id)

    def _get_row_sparse(self, arrays: list | None, ctx: Any, row_id: Any) -> Any:
        if not isinstance(row_id, nd.NDArray):
            raise TypeError(
                f"row_id must have NDArray type, but {type(row_id)} is given\n"
                f"  received  row_id={row_id!r}\n  expected  an NDArray of row numbers\n"
                "  fix       pass mx.nd.array(rows, dtype='int64')"
            )
        if self._trainer is None:
            raise UninitializedError(
                f"Cannot get row_sparse data for Parameter '{self.name}' when no Trainer is "
                "created with it.\n  received  no Trainer\n  expected  a Trainer, which owns the "
                "complete weight\n  fix       make gluon.Trainer(net.collect_params(), ...) first"
            )
        results = self._check_and_get(arrays, ctx or row_id.context)
        self._trainer._row_sparse_pull(self, results, row_id)
        return results

    def grad(self, ctx: Any = None) -> Any:
        """The gradient on ``ctx``."""
        return self._check_and_get(self._gradients(), ctx)

    def list_grad(self) -> list:
        """The gradients on all contexts."""
        return self._check_and_get(self._gradients(), list)

    def _gradients(self) -> list | None:
        if self._data is not None and self._grad is None:
            raise UninitializedError(
                f"Cannot get gradient array for Parameter '{self.name}' because grad_req='null'\n"
                "  received  grad_req='null'\n  expected  grad_req 'write' or 'add'\n"
                "  fix       set grad_req='write' before the backward pass"
            )
        return self._grad

    def list_ctx(self) -> list:
        """The contexts the parameter is, or is going to be, on."""
        if self._data is not None:
            return list(self._ctx_list or ())
        if self._deferred_init:
            return self._deferred_init[1]
        raise UninitializedError(
            f"Parameter '{self.name}' has not been initialized\n  received  list_ctx()\n"
            "  expected  an initialized parameter\n  fix       call initialize() first"
        )

    def zero_grad(self) -> None:
        """Set the gradients of all contexts to zero."""
        for grad in self._grad or ():
            if grad.stype == "default":
                grad[:] = 0
            else:
                nd.zeros(grad.shape, ctx=grad.context, dtype=grad.dtype, stype=grad.stype).copyto(
                    grad
                )

    def _reduce(self) -> Any:
        """The mean of all copies, or the complete row_sparse weight, on the CPU."""
        arrays = self._check_and_get(self._data, list)
        if self._stype == "row_sparse" and self._trainer is not None:
            rows = nd.arange(0, self.shape[0], dtype="int64", ctx=cpu())
            data = nd.zeros(self.shape, ctx=cpu(), dtype=self.dtype, stype="row_sparse")
            self._trainer._row_sparse_pull(self, data, rows, full_idx=True)
            return data
        if len(arrays) == 1 or self._stype != "default":
            return arrays[0].copyto(cpu())
        with autograd.pause():
            return nd.add_n(*[array.copyto(cpu()) for array in arrays]) / len(arrays)

    def _set_trainer(self, trainer: Any) -> None:
        """Tell a sparse parameter the trainer that owns its complete weight."""
        if (
            self._stype != "default"
            and self._trainer is not None
            and trainer is not None
            and self._trainer is not trainer
        ):
            raise UninitializedError(
                f"Failed to set the trainer for Parameter '{self.name}' because it was already "
                "set. More than one trainers for a row_sparse Parameter is not supported.\n"
                "  received  a second Trainer\n  expected  one Trainer for a sparse parameter\n"
                "  fix       use the Trainer that was made first"
            )
        self._trainer = trainer


def _contexts(ctx: Any) -> list:
    """A list of contexts arrays can be made on, of what scripts pass as ``ctx``."""
    if ctx is None:
        ctx = current_context()
    return [usable(ctx)] if isinstance(ctx, Context) else [usable(each) for each in ctx]


class Constant(Parameter):
    """A parameter that keeps its value: no gradient, nothing a Trainer would change.

    Examples
    --------
    >>> offsets = Constant("offsets", [[1, 2], [3, 4]])
    >>> offsets.initialize()
    >>> offsets.data().shape, offsets.grad_req
    ((2, 2), 'null')
    """

    def __init__(self, name: str, value: Any):
        if not isinstance(value, nd.NDArray):
            value = nd.array(value)
        self.value = value
        super().__init__(
            name,
            grad_req="null",
            shape=value.shape,
            dtype=value.dtype,
            init=initializer.Constant(value),
        )

    def __repr__(self) -> str:
        return f"Constant {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        """Always ``"null"``; anything else is ignored with a warning."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f'Constant parameter "{self.name}" does not support grad_req other than "null", '
                f'and new value "{req}" is ignored.',
                UserWarning,
                stacklevel=2,
            )
