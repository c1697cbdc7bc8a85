"""The rows of an epoch in one call of compiled code, for a ``Module`` trained one row at a time.

``fit`` runs the first and the last batch as ever, which leaves outputs, gradients and states of the
optimizer as they should be; `run_ahead` runs the rows between them where it can. A graph is run so
if all its operators are products of a csr data row and a weight, gradients of such, or dense ones
that plans compile. Products are summed in double precision here, while kernels leave short rows of
float32 to BLAS, and functions such as exp are those of plans, so that results may differ in the
last places; updates, and metrics of equal outputs, are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import ref

import numpy as np

from .. import lr_scheduler
from ..core.plan import cache
from ..io.iterators import NDArrayIter
from ..io.sources import CsrRows, DenseRows
from ..kernels.scalar import DOUBLE, FLOAT, Unsupported
from ..optimizer import SGD, Adam, Optimizer
from ..optimizer.compiled import Stepper, _look
from ..optimizer.updater import Updater
from ..storage import Csr, RowSparse
from . import epoch_code, epoch_metric
from .epoch_code import Recipe
from .epoch_graph import Cut, NotAtOnce, need

#: rows from which on compiling pays: 40 ms are as long as 2000 steps
FEWEST = 500
#: about so many numbers are computed before Python looks whether it was interrupted
_AT_ONCE = 1 << 23
_STEPS = (
    "forward", "backward", "forward_backward", "update", "update_metric", "prepare",
    "_update_metric_of",
)  # fmt: skip


def run_ahead(module: Any, steps: type, iterator: Any, metric: Any) -> str:
    """Run the rows after the current one but for the last; why not, or "" if they were run.

    ``steps`` is the class whose methods the loop does without.
    """
    try:
        work = _Work(module, steps, iterator, metric)
        work.check()
        work.run()
    except (NotAtOnce, Unsupported, cache.CannotCompile) as reason:
        return str(reason)
    return ""


class _Work:
    """What is run: the executor's graph on the rows of an iterator."""

    def __init__(self, module: Any, steps: type, iterator: Any, metric: Any):
        self.module, self.iterator, self.metric = module, iterator, metric
        group = module._exec_group
        kind = type(module)
        own = [n for n in _STEPS if n in vars(module) or getattr(kind, n) is not getattr(steps, n)]
        need(not own, f"the module has its own {', '.join(own)}")
        need(type(iterator) is NDArrayIter, f"a {type(iterator).__name__} is no NDArrayIter")
        need(iterator.batch_size == 1, "a batch has more than one row")
        need("next" not in vars(iterator), "the iterator has its own next")
        self.start, self.stop = iterator.cursor + 1, iterator.num_data - 1
        rows = self.stop - self.start
        need(rows >= FEWEST, f"{max(rows, 0)} rows are too few to compile for")
        need(group._only is not None, "there are several contexts")
        need(module._kvstore is None and group.update_lists, "a kvstore takes part")
        need(type(module._updater) is Updater, "it has an updater of its own")
        need(group.update_lists[0], "no parameter is trained")
        self.executor = group._only
        self.updater, self.optimizer = module._updater, module._updater.optimizer
        self.indices, self.grads, self.weights = group.update_lists
        self.states = [self.updater.states[i] for i in self.indices]
        self.names = list(self.executor._arg_names)
        self.data = [x._data for x in self.executor._inputs]

    def check(self) -> None:
        """Raise `NotAtOnce` unless everything is of the kinds this is for."""
        executor, optimizer = self.executor, self.optimizer
        need(Stepper.step.__module__ == Stepper.__module__, "the profiler watches")
        need(executor._monitor is None, "a monitor watches")
        need(not executor.aux_arrays, "there are auxiliary states")
        used = [r for r, w in zip(executor._grad_req, executor._wanted, strict=False) if w]
        need(set(used) <= {"write"}, "gradients are added up")
        found = None if optimizer._rule is None else optimizer._rule()
        own = {"update", "update_multi_precision", "_rates"} & vars(optimizer).keys()
        need(found is not None and not own, f"{type(optimizer).__name__} has no compiled rule")
        self.rule, self.others, self.lazily = found
        scheduler = optimizer.lr_scheduler
        need(
            scheduler is None or type(scheduler).__module__ == lr_scheduler.__name__,
            "the learning rate is scheduled by code of its own",
        )
        self._read_rows()
        self._check_metric()
        plan = self.plan = executor._kept[0]
        need(plan.known is not None, f"its plan is not compiled: {plan.why}")
        kept = getattr(self.module, "_epoch_kernel", None)
        looks = tuple(
            _stored(w._data, g._data, s, self.lazily)
            for w, g, s in zip(self.weights, self.grads, self.states, strict=True)
        )
        held = self.rule.__code__.co_argcount - 4 - len(self.others)
        need(all(x and x[1] == held for x in looks), "parameters or states are stored otherwise")
        key = (self.rule, looks)
        if kept is None or kept.plan is not plan or kept.key != key:
            kept = self.module._epoch_kernel = _Kernel(plan, key, Cut(self, looks).recipe())
        self.kernel, self.recipe = kept, kept.recipe
        shapes = [(plan.known.shapes.get(e), x.shape) for e, x in zip(plan.arguments, self.data)]  # noqa: B905
        need(all(a is None or tuple(a) == b for a, b in shapes), "arrays have other shapes")

    def _read_rows(self) -> None:
        """All rows of every input, as the executor takes them: dense arrays, or csr."""
        iterator, group = self.iterator, self.module._exec_group
        count = len(iterator.data)
        named = [*iterator.data, *iterator.label]
        self.rows: dict[int, Any] = {}
        self.labels: dict[str, np.ndarray] = {}
        targets = [*group.data_names, *group.label_names]
        need(len(targets) == len(named), "the iterator brings other arrays than are bound")
        for k, (name, reader) in enumerate(zip(targets, iterator._rows, strict=True)):
            need(type(reader) in (CsrRows, DenseRows), "arrays are read from files")
            data = reader.array._data
            if k >= count:
                self.labels[name] = data
            need(data.shape[0] == iterator.num_data, f"{name} has another number of rows")
            if name not in self.names:
                continue
            number = self.names.index(name)
            bound = self.data[number]
            need(type(data) is type(bound), f"{name} is bound in another storage")
            need(bound.shape == (1, *data.shape[1:]), f"{name} is bound in another shape")
            if type(data) is Csr:
                self.rows[number] = _sound(name, data, bound.dtype)
            else:
                self.rows[number] = np.require(data, bound.dtype, ["C", "A"])

    def _check_metric(self) -> None:
        names = self.module._exec_group.output_names
        self.shapes = {n: x.shape for n, x in zip(names, self.executor.outputs, strict=True)}
        reason = epoch_metric.refusal(self.metric, self.labels, self.shapes)
        need(not reason, reason)

    def run(self) -> None:
        """Run the rows, some thousands in a call."""
        recipe = self.recipe
        outputs = [recipe.part.targets[k].shape for k in recipe.outputs]
        names = self.module._exec_group.output_names
        labels = self.labels
        frame = self._frame()
        slots = self.kernel.slots
        for start, stop in self._calls():
            made = [np.empty((stop - start, *s), _DTYPES[recipe.kind]) for s in outputs]
            settings, stride = self._settings(stop - start)
            frame[:4] = start, stop, settings.ctypes.data, stride
            for k, x in zip(recipe.outputs, made, strict=True):
                frame[slots["output", k]] = x.ctypes.data
            self.kernel.function(frame)
            epoch_metric.update(
                self.metric,
                {n: x[start:stop] for n, x in labels.items()},
                dict(zip(names, made, strict=True)),
            )
            self.iterator.cursor = stop - 1

    def _calls(self) -> Iterator[tuple[int, int]]:
        recipe = self.recipe
        work = recipe.part.size + sum(u.size for u in recipe.updates if u.how != "rows")
        for k in recipe.csr:
            csr = self.rows[k]
            width = max([1, *[u.width for u in recipe.updates]])
            work += width * csr.indices.size // max(csr.shape[0], 1)
        many = max(16, min(1 << 16, _AT_ONCE // max(work, 1)))
        for start in range(self.start, self.stop, many):
            yield start, min(start + many, self.stop)

    def _settings(self, count: int) -> tuple[np.ndarray, int]:
        """Learning rates and so on of each parameter, for all steps or for each of them."""
        optimizer, indices = self.optimizer, self.indices
        if _steady(optimizer):
            lrs, wds = optimizer._rates_ahead(indices, count)
        else:
            lrs, wds = zip(*[optimizer._rates(indices) for _ in range(count)], strict=True)
        steps = max(len(lrs), len(wds))
        table = np.empty((steps, len(indices), self.recipe.arity))
        table[..., 0], table[..., 1], table[..., 2:] = lrs, wds, self.others
        return table, table[0].size if steps > 1 else 0

    def _frame(self) -> np.ndarray:
        """The addresses of all arrays; raises `NotAtOnce` if one is not as it has to be."""
        kernel = self.kernel
        recipe = kernel.recipe
        updates = {u.weight: u for u in recipe.updates}
        arrays: dict[Any, np.ndarray] = {}
        for k in recipe.csr:
            csr = self.rows[k]
            arrays["values", k], arrays["indices", k] = csr.values, csr.indices
            arrays["indptr", k] = csr.indptr
        arrays.update({("row", k): self.rows[k] for k in recipe.rows})
        arrays.update({("held", k): _whole(self.data[k]) for k in recipe.held})
        for k in updates:
            for j, state in enumerate(_parts(self.states[self._number(k)])):
                arrays["state", k, j] = _whole(state._data)
                same = arrays["state", k, j].shape == self.data[k].shape
                need(same, "a state has another shape than its parameter")
        dtype = _DTYPES[recipe.kind]
        frame, slots = kernel.frame, kernel.slots
        fresh = [name for name, x in arrays.items() if not kernel.knows(name, x)]
        if fresh:
            kernel.known = {}  # until all of them were looked at
        for name in fresh:
            x = arrays[name]
            wanted = np.int64 if name[0] in ("indices", "indptr") else dtype
            good = x.flags.c_contiguous and x.flags.aligned and x.dtype == wanted
            need(good, "an array is of another type, or not contiguous")
            frame[slots[name]] = x.ctypes.data
        hot = [n for n in arrays if n[0] == "state" or (n[0] == "held" and n[1] in updates)]
        need(all(arrays[n].flags.writeable for n in hot), "a parameter cannot be written to")
        if fresh:
            _check_apart([(int(frame[slots[n]]), x.nbytes, n in hot) for n, x in arrays.items()])
            kernel.known = {n: ref(x) for n, x in arrays.items()}
        self.alive = arrays
        return frame

    def _number(self, argument: int) -> int:
        """Which of the updated parameters an argument is."""
        array = self.executor._inputs[argument]
        return next(k for k, w in enumerate(self.weights) if w is array)


class _Kernel:
    """A compiled epoch: what it was made for, and the arrays it was last run on."""

    def __init__(self, plan: Any, key: Any, recipe: Recipe):
        self.plan, self.key, self.recipe = plan, key, recipe
        self.slots = recipe.slots()
        self.function = cache.builtin(epoch_code.module(recipe))
        self.known: dict[Any, Any] = {}  # references that do not keep data alive
        self.frame = np.zeros(len(self.slots), np.int64)
        #: gradients of whole weights: zeros between steps
        self.gradients = [
            np.zeros(u.size, _DTYPES[recipe.kind]) for u in recipe.updates if u.how == "all"
        ]
        places = [self.slots["gradient", u.weight] for u in recipe.updates if u.how == "all"]
        self.frame[places] = [x.ctypes.data for x in self.gradients]

    def knows(self, name: Any, x: np.ndarray) -> bool:
        """Whether this is the array it was run on last."""
        known = self.known.get(name)
        return known is not None and known() is x

    def __reduce__(self) -> Any:
        return type(None), ()  # copies of a module make their own


def _check_apart(spans: list[tuple[int, int, bool]]) -> None:
    """Raise if memory that is written to is shared; spans are address, size, whether written to."""
    end = hottest = 0  # up to where memory is taken, and where it is written to
    for begin, size, written in sorted(spans):
        need(begin >= (end if written else hottest) or not size, "parameters share memory")
        end = max(end, begin + size)
        hottest = max(hottest, begin + size) if written else hottest


def _parts(state: Any) -> tuple[Any, ...]:
    return () if state is None else state if type(state) is tuple else (state,)


_DTYPES = {FLOAT: np.dtype(np.float32), DOUBLE: np.dtype(np.float64)}


def _stored(weight: Any, grad: Any, state: Any, lazily: tuple[type, ...]) -> Any:
    """How a parameter is updated and how many states it has; None where not by a rule.

    Optimizers that are not lazy take the sparse gradient of a dense weight as a dense one.
    """
    found = _look(weight, grad, state, lazily)
    if found is None and type(grad) is RowSparse and type(weight) is np.ndarray:
        return _look(weight, np.empty(0, weight.dtype), state, lazily)
    return found


def _whole(data: Any) -> np.ndarray:
    """The values of an array that stores all its rows."""
    if type(data) is np.ndarray:
        return data
    need(type(data) is RowSparse, "a parameter is stored as csr")
    all_there = data.indices.size == data.shape[0] and data.values.shape == data.shape
    need(all_there, "a row_sparse array does not store all its rows")
    values: np.ndarray = data.values
    return values


def _sound(name: str, data: Csr, dtype: Any) -> Csr:
    """The csr array with values of a type; raises unless it is in canonical form.

    Looked at in every epoch, as it may have been changed in between: 0.2 ms for 500k entries.
    """
    indices, indptr = data.indices, data.indptr
    good = indptr.size == data.shape[0] + 1 and indptr[0] >= 0 and indptr[-1] <= indices.size
    good = good and bool((indptr[1:] >= indptr[:-1]).all()) and data.values.size == indices.size
    if good and indices.size:
        rising = np.empty(indices.size + 1, bool)
        rising[1:-1] = indices[1:] > indices[:-1]
        rising[indptr] = True
        rising[[0, -1]] = True
        good = bool(rising.all()) and indices.min() >= 0 and indices.max() < data.shape[1]
    need(good, f"the columns of {name} are not in ascending order")
    require = np.require
    return Csr(
        require(data.values, dtype, ["C", "A"]), require(indices, np.int64, ["C", "A"]),
        require(indptr, np.int64, ["C", "A"]), data.shape,
    )  # fmt: skip


def _steady(optimizer: Any) -> bool:
    """Whether its ``_rates_ahead`` gives what its ``_rates`` would, step by step."""
    kind = type(optimizer)
    same = all(
        getattr(kind, n) is getattr(Optimizer, n)
        for n in ("_get_lr", "_get_lrs", "_get_wds", "_multiplied", "_update_count")
    )
    known = kind._rates in (Optimizer._rates, SGD._rates)
    known = known or (kind._rates is Adam._rates and kind._rates_ahead is Adam._rates_ahead)
    return same and known and optimizer.lr_scheduler is None
