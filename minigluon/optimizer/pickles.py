"""States of optimizers as pickles MXNet reads, read back without running any code they name.

A pickle is a program. The reader here knows the few things such files are made of (numbers, text,
containers, arrays, optimizers, schedulers of learning rates) and refuses everything else, so a file
from anywhere can be looked at.
"""

from __future__ import annotations

import collections
import copyreg
import io
import math
import pickle
import re
import struct
import sys

import numpy as np

from .. import lr_scheduler
from ..base import MXNetError, four_lines
from ..lr_scheduler import LRScheduler
from ..ndarray import NDArray
from ..ndarray.serialize import read_file
from .base import Optimizer

_OURS = __name__.partition(".")[0]
_PROTOCOL = 4  # what Python 3.4 and later read, and so every MXNet that is still run
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16)")
_KEYS = (str, bytes, int, float, bool, type(None), np.generic)


class StatesError(MXNetError, pickle.UnpicklingError):
    """A file of states that is damaged, foreign, or names what is not read from files."""


class Content(bytes):
    """The bytes of a file, which remember its name for messages."""

    path: object = None


def read(path):
    """The bytes of a file of states, for `loads`; ``MXNetError`` if it cannot be read."""
    content = Content(read_file(path))
    content.path = path
    return content


def loads(data):
    """What a file of states of this package or of MXNet 1.x holds: a dict, or it and an optimizer.

    Nothing the file names is run. It may hold numbers, text, containers, arrays, the optimizers and
    schedulers of this package, and classes derived from them that the program has imported.

    Examples
    --------
    >>> loads(dumps({0: None, 1: nd.ones((2,))}))
    {0: None, 1:
    [1. 1.]
    <NDArray 2 @cpu(0)>}
    """
    file = io.BytesIO(data)
    path = getattr(data, "path", None)
    try:
        loaded = _Unpickler(file, encoding="latin1").load()
    except Exception as error:
        raise _refused(path, file.tell(), len(data), error) from error
    states = loaded[0] if isinstance(loaded, tuple) and len(loaded) == 2 else loaded
    if not isinstance(states, dict) or not (states is loaded or isinstance(loaded[1], Optimizer)):
        raise _refused(path, 0, len(data), f"it holds a {type(loaded).__name__}")
    return loaded


def dumps(states):
    """The pickle of states, or of states and optimizer, under the names MXNet knows them by."""
    file = io.BytesIO()
    _Pickler(file, _PROTOCOL).dump(states)
    return file.getvalue()


def _refused(path, position, size, error):
    first, _, rest = str(error).partition("\n")
    received = re.search(r"received  (.*)", rest)
    place = f"{path}, byte {position}" if path is not None else f"byte {position}"
    return StatesError(
        four_lines(
            f"load_states: {place} of {size}: {first or type(error).__name__}",
            received[1] if received else f"{type(error).__name__} while reading",
            "states that save_optimizer_states or Trainer.save_states wrote",
            "check the path; import and register classes of your own before loading; or save the "
            "states without the optimizer",
        )
    )


# --- reading ------------------------------------------------------------------------------------


def _bytes_of(*args):
    """``bytearray`` and the encoding of old pickles, for bytes that are there only."""
    if not args or isinstance(args[0], bytes | bytearray):
        return bytearray(*args[:1])
    text, encoding = args
    if encoding not in ("latin-1", "latin1"):
        raise pickle.UnpicklingError(f"text encoded as {encoding!r}")
    return bytearray(text, "latin-1")


def _latin1(text, encoding="latin1"):
    return bytes(_bytes_of(text, encoding))


def _new_array(handle=None):
    if handle is not None:
        raise pickle.UnpicklingError(f"an array made of {type(handle).__name__}")
    return NDArray(None)


def _new_csr(handle=None):
    return _new_sparse("csr", handle)


def _new_row_sparse(handle=None):
    return _new_sparse("row_sparse", handle)


def _new_sparse(stype, handle):
    from ..ndarray import sparse

    _new_array(handle)
    return (sparse.CSRNDArray if stype == "csr" else sparse.RowSparseNDArray)(None)


def _dtype(code, align=False, copy=True):
    if not isinstance(code, str) or not _DTYPE.fullmatch(code):
        raise pickle.UnpicklingError(f"the element type {code!r}")
    return np.dtype(code, copy=True)


def _number(dtype, raw):
    if len(raw) != dtype.itemsize:
        raise pickle.UnpicklingError(f"a number of {len(raw)} bytes for {dtype}")
    return np.frombuffer(raw, dtype)[0]


class _NumpyArray:
    """Stands for ``numpy.ndarray``, which is named but never called."""


def _reconstruct(kind, shape, code):
    if kind is not _NumpyArray:
        raise pickle.UnpicklingError(f"an array of class {kind!r}")
    return np.empty(0, np.float32)


def _from_buffer(raw, dtype, shape, order):
    return np.frombuffer(bytes(raw), dtype).reshape(shape, order=order).copy()


def _reconstructor(kind, base, state):
    if base is not object or not issubclass(kind, Optimizer | LRScheduler):
        raise pickle.UnpicklingError(f"an object of class {kind!r}")
    return object.__new__(kind)


_NUMPY = {"_reconstruct": _reconstruct, "scalar": _number}
_MODULES = {
    "builtins": {
        "bytearray": _bytes_of, "bytes": _bytes_of, "set": set, "frozenset": frozenset,
        "list": list, "dict": dict, "tuple": tuple, "complex": complex, "object": object,
    },
    "collections": {
        "OrderedDict": collections.OrderedDict, "defaultdict": collections.defaultdict,
    },
    "_codecs": {"encode": _latin1},
    "copyreg": {"_reconstructor": _reconstructor},
    "numpy": {"dtype": _dtype, "ndarray": _NumpyArray},
    "numpy.core.multiarray": _NUMPY,
    "numpy._core.multiarray": _NUMPY,
    "numpy.core.numeric": {"_frombuffer": _from_buffer},
    "numpy._core.numeric": {"_frombuffer": _from_buffer},
}  # fmt: skip
_MODULES["__builtin__"], _MODULES["copy_reg"] = _MODULES["builtins"], _MODULES["copyreg"]
#: arrays, wherever in either package they are said to live
_ARRAYS = {"NDArray": _new_array, "CSRNDArray": _new_csr, "RowSparseNDArray": _new_row_sparse}


def _find(module, name):
    """What a name in a pickle stands for; raises for everything that is not known to be harmless.

    Nothing is imported: a class of the user is there because the program has defined it.
    """
    known = _MODULES.get(module, {}).get(name)
    if known is not None:
        return known
    if module.partition(".")[0] in ("mxnet", _OURS):
        if name in _ARRAYS:
            return _ARRAYS[name]
        places = [Optimizer.opt_registry.get(name.lower()), vars(lr_scheduler).get(name)]
        found = next((c for c in places if getattr(c, "__name__", None) == name), None)
    elif module == "numpy":
        found = getattr(np, name, None)
        if isinstance(found, type) and issubclass(found, np.number | np.bool_):
            return found
        found = None
    else:
        found = vars(sys.modules.get(module, object)).get(name)
    if isinstance(found, type) and issubclass(found, Optimizer | LRScheduler):
        return found
    raise pickle.UnpicklingError(
        f"no class {module}.{name} here.\n  received  a pickle that names {module}.{name}"
    )


class _Unpickler(pickle._Unpickler):
    """Python's own reader, in Python: it can be told what not to do, and its memo stays small."""

    dispatch = dict(pickle._Unpickler.dispatch)
    for _code in (pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.PERSID, pickle.BINPERSID):
        del dispatch[_code[0]]

    def __init__(self, file, **options):
        super().__init__(file, **options)
        self._left = lambda: len(file.getbuffer()) - file.tell()

    def find_class(self, module, name):
        return _find(module, name)

    def load_frame(self):
        """Pass over the length of a frame: read as they come, bytes have a place to tell."""
        self.read(8)

    dispatch[pickle.FRAME[0]] = load_frame

    def load_bytearray8(self):
        """Bytes that are there: Python's own makes room for all that are announced."""
        (size,) = struct.unpack("<Q", self.read(8))
        if size > self._left():
            raise pickle.UnpicklingError(f"{size} bytes announced, {self._left()} there")
        self.append(bytearray(self.read(size)))

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load_build(self):
        """Give an object its attributes: those in a dict, for what may have some."""
        state, holder = self.stack.pop(), self.stack[-1]
        if isinstance(holder, NDArray):
            if not isinstance(state, dict) or list(state) != ["handle"]:
                raise pickle.UnpicklingError("an array without its bytes")
            holder.__setstate__(state)
        elif isinstance(holder, np.ndarray):
            _fill(holder, state)
        elif isinstance(holder, np.dtype):
            if state[1] == ">":
                raise pickle.UnpicklingError("numbers of the other byte order")
        elif isinstance(holder, Optimizer) and isinstance(state, dict):
            holder.__setstate__(state)
        elif isinstance(holder, LRScheduler) and isinstance(state, dict):
            vars(holder).update(state)
        else:
            raise pickle.UnpicklingError(f"attributes for {type(holder).__name__}")

    dispatch[pickle.BUILD[0]] = load_build

    def load_setitem(self):
        _check_keys(self.stack[-2:-1])
        super().load_setitem()

    dispatch[pickle.SETITEM[0]] = load_setitem

    def load_setitems(self):
        _check_keys(self.stack[::2])
        super().load_setitems()

    dispatch[pickle.SETITEMS[0]] = load_setitems

    def load_dict(self):
        _check_keys(self.stack[::2])
        super().load_dict()

    dispatch[pickle.DICT[0]] = load_dict

    def load_additems(self):
        _check_keys(self.stack)
        super().load_additems()

    dispatch[pickle.ADDITEMS[0]] = load_additems

    def load_frozenset(self):
        _check_keys(self.stack)
        super().load_frozenset()

    dispatch[pickle.FROZENSET[0]] = load_frozenset

    def load_reduce(self):
        """Call something `_find` gave."""
        function, arguments = self.stack[-2], self.stack[-1]
        if function in (set, frozenset):
            _check_keys(*arguments)
        elif function in (dict, collections.OrderedDict):
            _check_keys(key for pairs in arguments for key, _ in pairs)
        super().load_reduce()

    dispatch[pickle.REDUCE[0]] = load_reduce


def _check_keys(keys):
    """Hashing tuples within tuples without end would exhaust the stack of the process."""
    for key in keys:
        if isinstance(key, tuple):
            keys_are_plain = all(isinstance(part, _KEYS) for part in key)
        else:
            keys_are_plain = isinstance(key, _KEYS)
        if not keys_are_plain:
            raise pickle.UnpicklingError(f"a key that is a {type(key).__name__}")


def _fill(array, state):
    """Give a numpy array shape and values, if there are as many bytes as it needs."""
    _, shape, dtype, fortran, raw = state
    if not isinstance(dtype, np.dtype) or math.prod(shape) * dtype.itemsize != len(raw):
        raise pickle.UnpicklingError(f"an array of shape {shape} in {len(raw)} bytes")
    array.__setstate__((1, shape, dtype, fortran, bytes(raw)))


# --- writing ------------------------------------------------------------------------------------


class _Pickler(pickle._Pickler):
    """Python's own writer, with MXNet's names of modules."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self._handles = {}

    def reducer_override(self, x):
        """Arrays and optimizers as MXNet writes them; the rest in the usual way."""
        if isinstance(x, NDArray):
            # one (None,) for each class, as in MXNet: the memo shares what is one object
            handles = [None]
            return type(x), self._handles.setdefault(type(x), tuple(handles)), x.__getstate__()
        if not isinstance(x, Optimizer):
            return NotImplemented
        return copyreg.__newobj__, (type(x),), {**x.__getstate__(), "allow_np_array": False}

    def save_global(self, x, name=None):
        """Name a class or a function; under MXNet's name if it is one of ours."""
        name = name or x.__qualname__
        module = _module_in_mxnet(x, pickle.whichmodule(x, name))
        if module is None:
            super().save_global(x, name)
            return
        self.save(module)
        self.save(name)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(x)

    dispatch[type(loads)] = save_global


def _module_in_mxnet(x, module):
    """Where MXNet, and the numpy it needs, have a class; None for what belongs to neither."""
    if module.startswith("numpy._core."):
        return module.replace("._core.", ".core.")
    if module.partition(".")[0] != _OURS:
        return None
    if isinstance(x, type) and issubclass(x, Optimizer):
        return f"mxnet.optimizer.{'contrib' if module.endswith('.contrib') else 'optimizer'}"
    return module.replace(_OURS, "mxnet", 1)
