"""What an optimizer is: settings, multipliers and update counts; and the registry of them."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, ArgumentTypeError, four_lines

#: what a compiled update does in place of an optimizer's methods
_OWN = {
    "_get_lr", "_get_lrs", "_get_wd", "_get_wds", "_operator_options", "_prepared", "_step",
    "create_state", "update", "update_multi_precision",
}  # fmt: skip


class Optimizer:
    """The settings all update rules share, and the counts their schedules need.

    A rule derives from this class, makes its state in ``create_state`` and changes weight and state
    in place in ``update``. Parameters are named by an index (or a string, in a key-value store).
    Learning rate and weight decay of a parameter are multiplied by what ``param_dict`` says about
    it, else by ``lr_mult`` / ``wd_mult`` under its index, else under its name.

    Parameters
    ----------
    rescale_grad : factor for every gradient, mostly one over the batch size.
    param_idx2name : index -> name; with it, parameters not named ``*_weight`` or ``*_gamma`` get no
        weight decay.
    wd : weight decay.
    clip_gradient : bound of the rescaled gradient's absolute values.
    learning_rate : 0.01 if neither it nor a scheduler is given; sets the scheduler's ``base_lr``.
    lr_scheduler : callable from the number of updates to a learning rate.
    sym : symbol whose ``__lr_mult__`` and ``__wd_mult__`` attributes are the multipliers.
    begin_num_update : the count a parameter's first update starts from.
    multi_precision : keep a float32 copy of float16 weights and update that.
    param_dict : index -> object with ``lr_mult`` and ``wd_mult``, such as a gluon ``Parameter``.
    """

    #: lower-cased class name -> class
    opt_registry: ClassVar[dict[str, type[Optimizer]]] = {}
    #: endings of the names of parameters that decay
    decaying: ClassVar[tuple[str, ...]] = ("_weight", "_gamma")

    def __init__(
        self,
        rescale_grad=1.0,
        param_idx2name=None,
        wd=0.0,
        clip_gradient=None,
        learning_rate=None,
        lr_scheduler=None,
        sym=None,
        begin_num_update=0,
        multi_precision=False,
        param_dict=None,
    ):
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise ArgumentError(
                "param_idx2name should be a dict of param indexes to names.\n"
                f"  received  {type(param_idx2name).__name__} {param_idx2name!r:.100}\n"
                "  expected  a dict such as {0: 'fc1_weight', 1: 'fc1_bias'}\n"
                "  fix       dict(enumerate(names))"
            )
        for name, number in (("learning_rate", learning_rate), ("wd", wd)):
            if isinstance(number, str):
                raise ArgumentTypeError(
                    four_lines(
                        f"{type(self).__name__}: {name} must be a number.",
                        f"{name}={number!r}",
                        "a number",
                        f"{name}=float({number!r})",
                    )
                )
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is None:
            self.lr = 0.01 if learning_rate is None else learning_rate
        else:
            self.lr = learning_rate
            if learning_rate is not None:
                lr_scheduler.base_lr = learning_rate
        self.wd = wd
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.idx2name = dict(param_idx2name or {})
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self.param_dict = param_dict or {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    @staticmethod
    def register(klass):
        """Class decorator: makes the rule known under its lower-cased class name."""
        name = klass.__name__.lower()
        known = Optimizer.opt_registry.get(name)
        if known is not None:
            warnings.warn(
                f"WARNING: New optimizer {klass.__module__}.{klass.__name__} is overriding "
                f"existing optimizer {known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name, **kwargs):
        """An optimizer by registered name, in any case.

        Examples
        --------
        >>> Optimizer.create_optimizer("Adam", wd=0.1).learning_rate
        0.001
        """
        klass = Optimizer.opt_registry.get(name.lower())
        if klass is None:
            raise ArgumentError(
                f"Cannot find optimizer {name}.\n"
                f"  received  {name!r}\n"
                f"  expected  one of {', '.join(sorted(Optimizer.opt_registry))}\n"
                "  fix       check the spelling, or decorate your class with Optimizer.register"
            )
        return klass(**kwargs)

    # --- what a rule writes ---------------------------------------------------------------------

    def create_state(self, index, weight):
        """What the rule remembers about one parameter: None, an NDArray or a tuple of them."""
        return

    def update(self, index, weight, grad, state):
        """Change ``weight`` and ``state`` in place; with lists, for several parameters."""
        raise NotImplementedError(f"{type(self).__name__}.update is not written.")

    def create_state_multi_precision(self, index, weight):
        """The state of a float16 weight: ``(float32 copy, state of the copy)`` if asked for."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                return master, self.create_state(index, master)
            warn_about_float16(f"{type(self).__name__} optimizer")
        return self.create_state(index, weight)

    def update_multi_precision(self, index, weight, grad, state):
        """``update``, on the float32 copy where there is one."""
        if not self.multi_precision:
            self.update(index, weight, grad, state)
            return
        for i, w, g, s in each(index, weight, grad, state):
            if w.dtype == np.float16:
                master, inner = s
                self.update(i, master, g.astype(np.float32), inner)
                master.astype(w.dtype).copyto(w)
            else:
                self.update(i, w, g, s)

    # --- learning rate --------------------------------------------------------------------------

    @property
    def learning_rate(self):
        """The learning rate now, before multipliers."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr

    def set_learning_rate(self, lr):
        """Set the learning rate; raises ``UserWarning`` when a scheduler decides it."""
        if self.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined. Note that "
                "set_learning_rate can mutate the value of the learning rate of the optimizer only "
                "when the LRScheduler of the optimizer is undefined."
            )
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Gone since MXNet 0.9: ``set_lr_mult`` does it."""
        raise DeprecationWarning("set_lr_scale is gone; use set_lr_mult.")

    def set_lr_mult(self, args_lr_mult):
        """Multipliers of the learning rate by index or name, over those the symbol has."""
        self.lr_mult = self._symbol_multipliers("__lr_mult__")
        self.lr_mult.update(args_lr_mult)

    def set_wd_mult(self, args_wd_mult):
        """Multipliers of the weight decay by index or name, over those the symbol has.

        Named parameters other than ``*_weight`` and ``*_gamma`` start with 0: biases do not decay.
        """
        names = self.idx2name.values()
        self.wd_mult = {name: 0.0 for name in names if not name.endswith(self.decaying)}
        self.wd_mult.update(self._symbol_multipliers("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _symbol_multipliers(self, key: str) -> dict[Any, float]:
        if not self.sym_info:
            return {}
        attributes, arguments = self.sym_info
        return {
            name: float(attributes[name][key])
            for name in arguments
            if key in attributes.get(name, ())
        }

    # --- what a rule asks -----------------------------------------------------------------------

    def _set_current_context(self, device_id):
        """Count updates per device: every device sees each parameter once a step."""
        counts = self._all_index_update_counts
        if device_id not in counts:
            counts[device_id] = {}
        self._index_update_count = counts[device_id]

    def _update_count(self, index):
        """Count one more update of a parameter, or of each in a list."""
        counts = self._index_update_count
        for i in index if isinstance(index, list | tuple) else (index,):
            count = counts[i] = counts.get(i, self.begin_num_update) + 1
            if count > self.num_update:
                self.num_update = count

    #: how ``compiled.Stepper`` may run ``update``: a method that gives a rule of ``kernels.steps``,
    #: its settings after ``lr`` and ``wd``, and which weights are updated by rows
    _rule: Any = None

    def __init_subclass__(cls, **kwargs):
        """A class with an update or rates of its own has no compiled one, unless it says so."""
        super().__init_subclass__(**kwargs)
        line = cls.__mro__
        says = next(k for k, c in enumerate(line) if "_rule" in c.__dict__)
        if any(not _OWN.isdisjoint(c.__dict__) for c in line[:says]):
            cls._rule = None

    def _rates_ahead(self, indices, steps):
        """``_rates`` of so many steps of constant rates: rows by step, or one row for all."""
        lrs, wds = self._rates(indices)
        self._count_ahead(indices, steps - 1)
        return [lrs], [wds]

    def _count_ahead(self, indices, steps):
        """Count so many more updates of each parameter."""
        counts = self._index_update_count
        for i in indices:
            counts[i] += steps
            self.num_update = max(self.num_update, counts[i])

    def _rates(self, indices):
        """Count an update of each parameter; their learning rates and weight decays."""
        lrs = []
        for i in indices:
            self._update_count(i)
            lrs.append(self._get_lr(i))
        return lrs, self._get_wds(indices)

    def _uncount(self, indices, num_update, others=()):
        """Take back the counts of updates that were not made; those of others were."""
        counts = self._index_update_count
        for i in indices:
            counts[i] -= 1
        self.num_update = max([num_update, *[counts[i] for i in others]])

    def _clip(self):
        """``clip_gradient`` as operators take it: negative for none."""
        return self.clip_gradient or -1.0

    def _clips_oddly(self):
        """Whether ``clip_gradient`` is a bound that operators and arithmetic take differently."""
        return self.clip_gradient is not None and not self.clip_gradient > 0

    def _get_lrs(self, indices):
        """The learning rates of several parameters."""
        lr = self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)
        return self._multiplied(lr, indices, self.lr_mult, "lr_mult")

    def _get_lr(self, index):
        """The learning rate of one parameter."""
        return self._get_lrs((index,))[0]

    def _get_wds(self, indices):
        """The weight decays of several parameters."""
        return self._multiplied(self.wd, indices, self.wd_mult, "wd_mult")

    def _get_wd(self, index):
        """The weight decay of one parameter."""
        return self._get_wds((index,))[0]

    def _multiplied(self, value, indices, multipliers, attribute):
        parameters, names = self.param_dict, self.idx2name
        if not parameters and not multipliers:
            return [value] * len(indices)
        result = []
        for index in indices:
            if index in parameters:
                result.append(value * getattr(parameters[index], attribute))
            elif not multipliers:
                result.append(value)
            elif index in multipliers:
                result.append(value * multipliers[index])
            else:
                result.append(value * multipliers.get(names.get(index), 1.0))
        return result

    def _operator_options(self):
        """``rescale_grad`` and ``clip_gradient`` as update operators take them."""
        if self.clip_gradient:
            return {"rescale_grad": self.rescale_grad, "clip_gradient": self.clip_gradient}
        return {"rescale_grad": self.rescale_grad}

    def _prepared(self, grad, weight=None, wd=0.0):
        """The gradient as dense arithmetic wants it: rescaled, decayed if asked, clipped."""
        if grad.stype != "default":
            grad = grad.tostype("default")
        grad = grad * self.rescale_grad
        if weight is not None and wd:
            grad = grad + wd * dense(weight)
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        return grad

    def __getstate__(self):
        """Everything but ``param_dict``: parameters stay with their trainer."""
        return {key: value for key, value in self.__dict__.items() if key != "param_dict"}

    def __setstate__(self, state):
        """Restore; the counts of the current device stay a view into the counts of all."""
        self.__dict__ = {**state, "param_dict": {}}
        self.__dict__.setdefault("aggregate_num", 0)
        counts = self.__dict__.setdefault("_all_index_update_counts", {})
        current = self.__dict__.setdefault("_index_update_count", {})
        if all(current is not known for known in counts.values()):
            counts[0] = current


#: class decorator, see ``Optimizer.register``
register = Optimizer.register


def create(name, **kwargs):
    """An optimizer by registered name, in any case; an ``Optimizer`` is returned as it is.

    Examples
    --------
    >>> create("sgd", learning_rate=0.5).learning_rate
    0.5
    """
    if isinstance(name, Optimizer):
        if kwargs:
            raise ArgumentError(
                "create: options came with a finished optimizer.\n"
                f"  received  {type(name).__name__} and {', '.join(kwargs)}\n"
                "  expected  a name with options, or an optimizer alone\n"
                "  fix       set the options when the optimizer is made"
            )
        return name
    return Optimizer.create_optimizer(name, **kwargs)


@register
class Test(Optimizer):
    """Adds the rescaled gradient to the weight, for tests of what drives an optimizer."""

    __test__ = False  # pytest: not a test class

    def create_state(self, index, weight):
        """An array of the weight's shape, which will hold the last weight."""
        return nd.zeros(weight.shape, ctx=weight.context)

    def update(self, index, weight, grad, state):
        """``weight += rescale_grad * grad``."""
        moved = dense(weight) + dense(grad) * self.rescale_grad
        assign(weight, moved)
        assign(state, moved)


def each(index, weight, grad, state):
    """The parameters of one ``update``: one, or those of the lists."""
    if isinstance(index, list | tuple):
        return zip(index, weight, grad, state, strict=True)
    return ((index, weight, grad, state),)


def zeros_for(weight, stype="default"):
    """Zeros of a weight's shape, context and dtype, for a state.

    A ``row_sparse`` state of a weight that stores all its rows stores all rows too, as after the
    first step in MXNet: adding some rows at every step would copy the others every time (10 ms
    against 1 ms a step with a million rows).
    """
    kwargs = {"ctx": weight.context, "dtype": weight.dtype}
    if stype == "row_sparse" and weight.indices.shape[0] == weight.shape[0]:
        rows = nd.zeros(weight.shape, **kwargs), weight.indices
        return nd.sparse.row_sparse_array(rows, shape=weight.shape, **kwargs)
    return nd.zeros(weight.shape, stype=stype, **kwargs)


def dense(array):
    """The array itself, or what a sparse one means."""
    return array if array.stype == "default" else array.tostype("default")


def assign(array, value):
    """Write dense values into an array, whatever its storage and dtype."""
    if value.dtype != array.dtype:
        value = value.astype(array.dtype)
    if value.stype != array.stype:
        value = value.tostype(array.stype)
    value.copyto(array)


def warn_about_float16(who):
    """Say once a call that float16 arithmetic loses small updates."""
    warnings.warn(
        "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
        f"Consider using multi_precision=True option of the {who}",
        stacklevel=4,
    )
