"""First values of parameters, chosen by the end of their names or by the variable itself."""

from __future__ import annotations

import json
import logging
import re
import warnings
from math import ceil, sqrt

import numpy as np

from . import ndarray as nd
from . import registry
from .base import ArgumentError, ShapeError
from .ndarray import NDArray, load


class InitDesc(str):
    """The name of a parameter, with what else is known about it.

    Parameters
    ----------
    name : the parameter's name; the ``InitDesc`` is this string.
    attrs : the attributes of its variable; ``__init__`` names its own initializer.
    global_init : the initializer of the whole network, for initializers that wrap one.
    """

    def __new__(cls, name, attrs=None, global_init=None):
        desc = super().__new__(cls, name)
        desc.attrs = attrs or {}
        desc.global_init = global_init
        return desc


class Initializer:
    """Fills an array that is given with its name: ``initializer(InitDesc("fc1_weight"), array)``.

    Names that end in ``weight`` are filled by ``_init_weight``, which subclasses write; ``bias``
    and ``beta`` with 0, ``gamma`` with 1; a variable's own ``init=`` goes before all this. Any
    other name is a ``ValueError``.
    """

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Log what was filled: ``print_func(array)``, or the root of the mean square."""
        self._verbose = verbose
        self._print_func = print_func or root_mean_square
        return self

    def dumps(self):
        """JSON text that ``create`` makes this initializer of; variables carry it."""
        return json.dumps([type(self).__name__.lower(), self._kwargs], default=_as_list)

    def __eq__(self, other):
        return type(self) is type(other) and _equal(self._kwargs, other._kwargs)

    def __call__(self, desc, arr):
        """Fill ``arr``, the parameter described by ``desc``."""
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._log(desc, own, arr)
            return
        for suffix, method in _BY_SUFFIX:
            if desc.endswith(suffix):
                getattr(self, method)(desc, arr)
                self._log(desc, suffix, arr)
                return
        self._init_default(desc, arr)

    def _log(self, desc, rule, arr):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, rule, self._print_func(arr))

    def _legacy_init(self, name, arr):
        """The rules for bare names, which know a few more of them."""
        warnings.warn(
            "Calling initializer with init(str, NDArray) has been deprecated."
            "please use init(mx.init.InitDesc(...), NDArray) instead.",
            DeprecationWarning,
            stacklevel=3,
        )
        if not isinstance(name, str):
            raise _wrong_type("name must be string", name)
        if not isinstance(arr, NDArray):
            raise _wrong_type("arr must be NDArray", arr)
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
            return
        for suffix, method in _LEGACY:
            if name.endswith(suffix):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _init_bilinear(self, _, arr):
        arr[:] = bilinear_kernel(arr.shape)

    def _init_loc_bias(self, _, arr):
        arr[:] = nd.array([1.0, 0, 0, 0, 1.0, 0])  # the identity among affine transforms

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero
    _init_gamma = _init_one

    def _init_quantized_weight(self, _, arr):
        arr[:] = nd.random.randint(-127, 127, dtype="int32", shape=arr.shape)

    def _init_weight(self, name, arr):
        raise NotImplementedError(f"{type(self).__name__} has to override _init_weight")

    def _init_default(self, name, _):
        raise ArgumentError(
            f"Unknown initialization pattern for {name}. "
            'Default initialization is now limited to "weight", "bias", "gamma" (1.0), and "beta" '
            "(0.0).Please use mx.sym.Variable(init=mx.init.*) to set initialization pattern\n"
            f"  received  {name!r}\n"
            "  expected  a name ending in weight, bias, gamma or beta, or a variable with init=\n"
            "  fix       mx.sym.Variable(name, init=mx.init.Zero()), or rename it"
        )


_BY_SUFFIX = (
    ("weight", "_init_weight"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
    ("weight_quantize", "_init_quantized_weight"),
    ("bias_quantize", "_init_quantized_bias"),
)
_LEGACY = (
    ("stn_loc_weight", "_init_zero"),
    ("stn_loc_bias", "_init_loc_bias"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("weight", "_init_weight"),
    ("moving_mean", "_init_zero"),
    ("moving_var", "_init_one"),
    ("moving_inv_var", "_init_zero"),
    ("moving_avg", "_init_zero"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
)


def root_mean_square(arr):
    """``norm(arr) / sqrt(arr.size)`` as text."""
    x = arr.asnumpy()
    return str(np.float32(np.linalg.norm(x.ravel().astype(np.float64)) / sqrt(x.size)))


def _equal(arguments, others):
    """Whether two sets of arguments are the same; arrays by value."""
    if arguments.keys() != others.keys():
        return False
    return all(np.array_equal(_plain(arguments[key]), _plain(others[key])) for key in arguments)


def _plain(value):
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def _as_list(value):
    """Arrays inside of arguments as nested lists, numpy scalars as numbers."""
    value = _plain(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an initializer with a {type(value).__name__} cannot be written as text")


def _wrong_type(what, value):
    return TypeError(
        f"{what}\n  received  {type(value).__name__}\n"
        "  expected  initializer(InitDesc(name), array)\n  fix       check the order of arguments"
    )


register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


class Load:
    """Fills arrays with saved ones of the same name.

    Parameters
    ----------
    param : the file, or a dict of arrays; prefixes ``arg:`` and ``aux:`` are dropped.
    default_init : fills arrays that were not saved.
    verbose : log where each array came from.
    """

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = load(param)
        if not isinstance(param, dict):
            raise ArgumentError(
                f"Load: no named arrays.\n  received  {type(param).__name__}\n"
                "  expected  a dict of arrays, or a file that holds one\n"
                "  fix       save with nd.save(file, {name: array})"
            )
        self.param = {name.removeprefix("arg:").removeprefix("aux:"): param[name] for name in param}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        """Fill ``arr`` with the saved array called ``name``."""
        if name in self.param:
            saved = self.param[name]
            if arr.shape != saved.shape:
                raise ArgumentError(
                    f"Parameter {name} cannot be initialized from loading. "
                    f"Shape mismatch, target {arr.shape} vs loaded {saved.shape}\n"
                    f"  received  {saved.shape}\n  expected  {arr.shape}\n"
                    "  fix       build the network that was saved, or leave the array out"
                )
            arr[:] = saved
            how = "loading"
        elif self.default_init is None:
            raise ArgumentError(
                f"Cannot Initialize {name}. Not found in loaded param and no default "
                f"Initializer is provided.\n  received  {', '.join(sorted(self.param))}\n"
                f"  expected  an array called {name}\n  fix       pass default_init="
            )
        else:
            self.default_init(name, arr)
            how = "default"
        if self.verbose:
            logging.info("Initialized %s by %s", name, how)


class Mixed:
    """The first initializer whose pattern occurs in the name.

    Parameters
    ----------
    patterns : regular expressions.
    initializers : one for each pattern.

    Examples
    --------
    >>> init = Mixed(["bias", ".*"], [Zero(), Uniform(0.1)])
    """

    def __init__(self, patterns, initializers):
        if len(patterns) != len(initializers):
            raise ArgumentError(
                f"Mixed: patterns and initializers differ in number.\n  received  {len(patterns)} "
                f"patterns, {len(initializers)} initializers\n  expected  as many of both\n"
                "  fix       give each pattern its initializer"
            )
        self.map = [(re.compile(p), init) for p, init in zip(patterns, initializers, strict=True)]

    def __call__(self, name, arr):
        """Fill ``arr`` with the initializer for ``name``."""
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ArgumentError(
            f'Parameter name {name} did not match any pattern. Consider adding a ".*" pattern at '
            f"the end with default Initializer.\n  received  {name!r}\n"
            f"  expected  a match of one of {[p.pattern for p, _ in self.map]}\n"
            '  fix       add ".*" as the last pattern'
        )


@alias("zeros")
@register
class Zero(Initializer):
    """Fills weights with 0."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 0


@alias("ones")
@register
class One(Initializer):
    """Fills weights with 1."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """Fills weights with a number, or with an array that broadcasts to the weight.

    Examples
    --------
    >>> Constant(1).dumps()
    '["constant", {"value": 1}]'
    """

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name, arr):
        value = _plain(self.value)
        if np.ndim(value) == 0:
            arr[:] = self.value
            return
        try:
            full = np.broadcast_to(value, arr.shape)
        except ValueError as error:
            raise ShapeError(
                f"Constant: the value does not fit {name}.\n  received  {np.shape(value)}\n"
                f"  expected  a shape that broadcasts to {arr.shape}\n"
                "  fix       give a number or an array of the parameter's shape"
            ) from error
        arr[:] = nd.array(full, dtype=arr.dtype)


@register
class Uniform(Initializer):
    """Draws weights evenly from ``[-scale, scale)``."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        nd.random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Draws weights from a normal distribution around 0.

    Parameters
    ----------
    sigma : the standard deviation.
    """

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        nd.random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """Orthonormal rows (or columns, if they are fewer), times ``scale``; Saxe et al., 2013.

    Signals keep their length through such a matrix, which helps deep and recurrent networks.

    Parameters
    ----------
    scale : factor on the orthonormal matrix.
    rand_type : ``"uniform"`` or ``"normal"``, what it is made of.
    """

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        if rand_type not in ("uniform", "normal"):
            raise ArgumentError(
                f"Orthogonal: unknown random type.\n  received  rand_type={rand_type!r}\n"
                "  expected  'uniform' or 'normal'\n  fix       leave it out"
            )
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name, arr):
        if len(arr.shape) < 2:
            raise _needs_matrix("Orthogonal", name, arr)
        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        if self.rand_type == "uniform":
            draw = nd.random.uniform(-1.0, 1.0, shape=shape)
        else:
            draw = nd.random.normal(0.0, 1.0, shape=shape)
        left, _, right = np.linalg.svd(draw.asnumpy(), full_matrices=False)
        basis = left if left.shape == shape else right
        arr[:] = nd.array((self.scale * basis).reshape(arr.shape))


def _needs_matrix(kind, name, arr):
    return ShapeError(
        f"{kind} initializer cannot be applied to vector {name}. It requires at least 2D.\n"
        f"  received  {arr.shape}\n  expected  two or more dimensions\n"
        "  fix       give this parameter another init="
    )


@register
class Xavier(Initializer):
    """Draws weights so wide that signals keep their variance through the layer; Glorot, 2010.

    The variance is ``magnitude / n``, with ``n`` the number of inputs, of outputs or their mean.

    Parameters
    ----------
    rnd_type : ``"uniform"`` or ``"gaussian"``.
    factor_type : ``"avg"``, ``"in"`` or ``"out"``.
    magnitude : for ``"uniform"`` the draw reaches to ``sqrt(magnitude / n)``.
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        if len(arr.shape) < 2:
            raise _needs_matrix("Xavier", name, arr)
        area = int(np.prod(arr.shape[2:])) if len(arr.shape) > 2 else 1
        outputs, inputs = arr.shape[0] * area, arr.shape[1] * area
        factors = {"avg": (inputs + outputs) / 2.0, "in": inputs, "out": outputs}
        if self.factor_type not in factors:
            raise _unknown("Incorrect factor type", "factor_type", self.factor_type, factors)
        reach = sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            nd.random.uniform(-reach, reach, out=arr)
        elif self.rnd_type == "gaussian":
            nd.random.normal(0, reach, out=arr)
        else:
            raise _unknown("Unknown random type", "rnd_type", self.rnd_type, _RANDOM_TYPES)


_RANDOM_TYPES = ("uniform", "gaussian")


def _unknown(what, name, value, known):
    return ArgumentError(
        f"{what}\n  received  {name}={value!r}\n  expected  one of {', '.join(known)}\n"
        f"  fix       leave {name} out"
    )


@register
class MSRAPrelu(Xavier):
    """Xavier's rule for layers followed by PReLU; He et al., 2015.

    Parameters
    ----------
    factor_type : ``"avg"``, ``"in"`` or ``"out"``.
    slope : of the PReLU left of 0.
    """

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The kernel with which a transposed convolution enlarges images by linear interpolation."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = bilinear_kernel(arr.shape)


def bilinear_kernel(shape):
    """A bilinear kernel of the last two axes' size, the same for all outputs and inputs."""
    if len(shape) != 4:
        raise ShapeError(
            f"Bilinear: not the weight of a convolution.\n  received  {shape}\n"
            "  expected  (outputs, inputs, height, width)\n  fix       give it another init="
        )
    height, width = shape[2:]
    factor = ceil(width / 2.0)
    centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
    across = 1 - np.abs(np.arange(width) / factor - centre)
    down = 1 - np.abs(np.arange(height) / factor - centre)
    return nd.array(np.broadcast_to(np.outer(down, across), shape))


@register
class LSTMBias(Initializer):
    """0 for the biases of an LSTM cell, but ``forget_bias`` for its forget gate.

    A cell that remembers at first learns long dependencies sooner; Jozefowicz et al., 2015.
    """

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name, arr):
        bias = np.zeros(arr.shape)
        hidden = arr.shape[0] // 4  # the gates stand in the order i f c o
        bias[hidden : 2 * hidden] = self.forget_bias
        arr[:] = nd.array(bias, dtype=arr.dtype)


_GATES = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}


@register
class FusedRNN(Initializer):
    """Fills the one flat vector that holds all parameters of a fused recurrent layer.

    Each gate of each layer is filled as if it were a parameter of its own.

    Parameters
    ----------
    init : initializer of the weights; None takes the one of the network.
    num_hidden, num_layers, mode, bidirectional : as for ``rnn.FusedRNNCell``.
    forget_bias : of LSTM cells.
    """

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        super().__init__(
            init=init.dumps() if init is not None else None,
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, desc, arr):
        init = self._init or getattr(desc, "global_init", None)
        if init is None:
            raise ArgumentError(
                "FusedRNN: nothing to fill the weights with.\n  received  init=None\n"
                "  expected  an initializer, or a parameter described by an InitDesc\n"
                "  fix       FusedRNN(mx.init.Xavier(), ...)"
            )
        flat = np.empty(arr.size)
        start = 0
        parts = list(self._parts(arr.size))
        if sum(int(np.prod(shape)) for _, shape in parts) != arr.size:
            raise ShapeError(
                f"FusedRNN: not the parameters of such a layer.\n  received  {arr.shape}\n"
                f"  expected  what {self._kwargs} takes for some input size\n"
                "  fix       give the initializer the arguments of the layer"
            )
        for name, shape in parts:
            stop = start + int(np.prod(shape))
            if name.endswith("_f_bias"):
                flat[start:stop] = self._forget_bias
            else:
                part = nd.zeros(shape)
                init(InitDesc(name, global_init=getattr(desc, "global_init", None)), part)
                flat[start:stop] = part.asnumpy().ravel()
            start = stop
        arr[:] = nd.array(flat.reshape(arr.shape), dtype=arr.dtype)

    def _parts(self, size):
        """Names and shapes of the gates, in their order in the vector: all weights, all biases."""
        gates, hidden = _GATES[self._mode], self._num_hidden
        sides = "lr" if self._bidirectional else "l"
        rows = len(sides) * len(gates) * hidden
        later = rows * (len(sides) * hidden + hidden + 2)
        inputs = (size - (self._num_layers - 1) * later) // rows - hidden - 2
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                widths = {"i2h": len(sides) * hidden if layer else inputs, "h2h": hidden}
                for side in sides:
                    for group, width in widths.items():
                        shape = (hidden, width) if kind == "weight" else (hidden,)
                        for gate in gates:
                            yield f"{side}{layer}_{group}{gate}_{kind}", shape
