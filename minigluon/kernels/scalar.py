"""What elementwise operators do to one element, written as LLVM instructions that vectorise.

A `Value` is one number in a loop body; arithmetic on Values appends instructions to their `Block`.
``+ - * /`` and square roots are rounded as numpy rounds them; exp, log and the like are within
3 ulp over the whole range of float32, NaN, infinities and -0 included. FMA is used inside such a
function only, never across operators. The coefficients are minimax fits made for this module.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

FLOAT, DOUBLE, INT, BIT = "float", "double", "i32", "i1"
_SUFFIX = {FLOAT: "f32", DOUBLE: "f64"}
_INTRINSICS = ("fabs", "sqrt", "floor", "ceil", "trunc", "fma", "copysign")


class Unsupported(Exception):
    """An operator on such elements has no compiled form; it stays with numpy."""


class Block:
    """Instructions in order, and the conditions under which their results are not good enough."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.beyond: list[Value] = []
        self._known: dict[str, Value] = {}

    def emit(self, kind: str, text: str) -> Value:
        """The result of an instruction; the same one for the same text."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = Value(self, kind, f"%v{len(self.lines)}")
            self.lines.append(f"{found.name} = {text}")
        return found

    def number(self, value: float, kind: str) -> Value:
        """A constant; floats are rounded to their type first."""
        if kind == INT:
            return Value(self, kind, str(int(value)))
        with np.errstate(over="ignore"):
            rounded = float(np.float32(value)) if kind == FLOAT else float(value)
        return Value(self, kind, f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}")


class Value:
    """A number of a type (``kind``): a constant or the result of an instruction."""

    __slots__ = ("block", "kind", "name")

    def __init__(self, block: Block, kind: str, name: str):
        self.block, self.kind, self.name = block, kind, name

    def like(self, other: Any) -> Value:
        """``other`` as a Value of this type; Values of another type are converted."""
        if not isinstance(other, Value):
            return self.block.number(other, self.kind)
        return other if other.kind == self.kind else other.to(self.kind)

    def to(self, kind: str) -> Value:
        """The number in another floating type."""
        if kind == self.kind:
            return self
        verb = "fpext" if kind == DOUBLE else "fptrunc"
        return self.block.emit(kind, f"{verb} {self.kind} {self.name} to {kind}")

    def _do(self, verb: str, left: Any, right: Any, kind: str | None = None) -> Value:
        text = f"{verb} {self.kind} {self.like(left).name}, {self.like(right).name}"
        return self.block.emit(kind or self.kind, text)

    def __add__(self, other: Any) -> Value:
        return self._do("add" if self.kind == INT else "fadd", self, other)

    def __sub__(self, other: Any) -> Value:
        return self._do("sub" if self.kind == INT else "fsub", self, other)

    def __mul__(self, other: Any) -> Value:
        return self._do("fmul", self, other)

    def __truediv__(self, other: Any) -> Value:
        return self._do("fdiv", self, other)

    def __radd__(self, other: Any) -> Value:
        return self._do("fadd", other, self)

    def __rsub__(self, other: Any) -> Value:
        return self._do("fsub", other, self)

    __rmul__ = __mul__

    def __rtruediv__(self, other: Any) -> Value:
        return self._do("fdiv", other, self)

    def __neg__(self) -> Value:
        return self.block.emit(self.kind, f"fneg {self.kind} {self.name}")

    def integer(self, verb: str, other: int) -> Value:
        """An integer instruction: ``and``, ``xor``, ``shl``, ``ashr``."""
        return self._do(verb, self, other)

    def compare(self, how: str, other: Any) -> Value:
        """A truth value; ``how`` is LLVM's (``olt``, ``une``, ``uno``, ...)."""
        return self._do(f"fcmp {how}", self, other, BIT)

    def bits(self) -> Value:
        """The representation of a float as an integer."""
        return self.block.emit(INT, f"bitcast float {self.name} to i32")

    def floating(self) -> Value:
        """The float with this representation."""
        return self.block.emit(FLOAT, f"bitcast i32 {self.name} to float")


def select(condition: Value, then: Value, otherwise: Any) -> Value:
    """One of two numbers."""
    other = then.like(otherwise).name
    text = f"select i1 {condition.name}, {then.kind} {then.name}, {then.kind} {other}"
    return then.block.emit(then.kind, text)


def _call(name: str, x: Value, *others: Any) -> Value:
    arguments = ", ".join(f"{x.kind} {x.like(v).name}" for v in (x, *others))
    return x.block.emit(x.kind, f"call {x.kind} @llvm.{name}.{_SUFFIX[x.kind]}({arguments})")


def declarations() -> str:
    """The functions of LLVM that bodies may call."""
    lines = []
    for name in _INTRINSICS:
        count = {"fma": 3, "copysign": 2}.get(name, 1)
        for kind, suffix in _SUFFIX.items():
            lines.append(f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * count)})")
    return "\n".join(lines)


def fma(x: Value, y: Any, z: Any) -> Value:
    """``x * y + z``, rounded once."""
    return _call("fma", x, y, z)


def whole(x: Value) -> Value:
    """The number without its fraction."""
    return _call("trunc", x)


def polynomial(x: Value, *coefficients: float) -> Value:
    """By Horner's rule, coefficients from the constant upwards."""
    total = x.like(coefficients[-1])
    for c in coefficients[-2::-1]:
        total = fma(x, total, c)
    return total


def truth(condition: Value, like: Value) -> Value:
    """1 or 0 in the type of ``like``."""
    return select(condition, like.like(1), 0)


def absolute(x: Value) -> Value:
    """|x|."""
    return _call("fabs", x)


def copysign(size: Value, sign: Value) -> Value:
    """|size| with the sign of the other number."""
    return _call("copysign", size, sign)


def sqrt(x: Value) -> Value:
    """The square root, correctly rounded."""
    return _call("sqrt", x)


def maximum(x: Value, y: Any) -> Value:
    """The larger one; NaN if one is. Of 0 and -0 the second, as numpy does."""
    y = x.like(y)
    return select(x.compare("ogt", y), x, select(x.compare("uno", x), x, y))


def minimum(x: Value, y: Any) -> Value:
    """The smaller one; NaN if one is. Of 0 and -0 the second, as numpy does."""
    y = x.like(y)
    return select(x.compare("olt", y), x, select(x.compare("uno", x), x, y))


def order_key(x: Value) -> Value:
    """An integer that is larger for larger numbers, and largest for NaN; its own inverse is
    `from_order_key`. Maxima of integers vectorise, those of floats do not."""
    _single(x)
    return _flipped(select(x.compare("uno", x), x.like(float("nan")), x).bits())


def from_order_key(key: Value) -> Value:
    """The number with this `order_key`."""
    return _flipped(key).floating()


def _flipped(bits: Value) -> Value:
    """All but the sign inverted where that is set."""
    return bits._do("xor", bits, bits.integer("ashr", 31).integer("and", 0x7FFFFFFF))


#: the order key of minus infinity
LOWEST = -2139095041


def larger(x: Value, y: Value) -> Value:
    """The larger of two integers."""
    return select(x.block.emit(BIT, f"icmp sgt i32 {x.name}, {y.name}"), x, y)


def sign(x: Value) -> Value:
    """-1, 0 or 1; NaN of NaN."""
    negative = select(x.compare("olt", 0), x.like(-1), select(x.compare("oeq", 0), x.like(0), x))
    return select(x.compare("ogt", 0), x.like(1), negative)


def _single(x: Value) -> None:
    if x.kind != FLOAT:
        raise Unsupported("only float32 has compiled transcendental functions")


_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 0.693359375, -2.12194440054690583e-4
_MAGIC = 12582912.0  # 1.5 * 2**23: adding it rounds to the nearest whole number


def _split(x: Value) -> tuple[Value, Value]:
    """``(r, k)``: x = k ln 2 + r with k whole (as an integer), for x within float32's exponents."""
    shifted = fma(x, _LOG2_E, _MAGIC)
    k = shifted - _MAGIC
    r = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    return r, shifted.bits() - 0x4B400000


def _scale(x: Value, k: Value) -> Value:
    """``x * 2**k`` in two steps, so that overflow and subnormal results come out right."""
    half = k.integer("ashr", 1)
    first = (half + 127).integer("shl", 23).floating()
    second = (k - half + 127).integer("shl", 23).floating()
    return x * first * second


def _exp_less_one(r: Value) -> Value:
    """exp(r) - 1 for |r| <= ln(2) / 2."""
    tail = polynomial(
        r, 0.5000000107136302, 0.1666650669850921, 0.041666167986952496, 0.008370321568050162,
        0.0013952970126671002,
    )  # fmt: skip
    return fma(r * r, tail, r)


def _clamp(x: Value, low: float, high: float) -> Value:
    x = select(x.compare("olt", low), x.like(low), x)
    return select(x.compare("ogt", high), x.like(high), x)


def exp(x: Value) -> Value:
    """The exponential."""
    _single(x)
    r, k = _split(_clamp(x, -105.0, 89.5))
    return _scale(_exp_less_one(r) + 1.0, k)


def expm1(x: Value) -> Value:
    """exp(x) - 1, exact near zero."""
    _single(x)
    r, k = _split(_clamp(x, -40.0, 89.5))
    small = _exp_less_one(r)
    power = (_clamp_whole(k) + 127).integer("shl", 23).floating()
    near = fma(power, small, power - 1.0)
    size = absolute(x)
    result = select(size.compare("olt", 20.0), near, _scale(small + 1.0, k) - 1.0)
    return select(x.compare("oeq", 0), x, select(size.compare("olt", 0.34), small, result))


def _clamp_whole(k: Value) -> Value:
    """``k`` kept below the exponents that overflow."""
    large = k.block.emit(BIT, f"icmp sgt i32 {k.name}, 100")
    return select(large, k.like(100), k)


def log(x: Value) -> Value:
    """The natural logarithm."""
    _single(x)
    tiny = x.compare("olt", 1.1754943508222875e-38)
    scaled = select(tiny, x * 8388608.0, x)
    bits = scaled.bits()
    exponent = (bits - 0x3F3504F3).integer("ashr", 23)
    f = (bits - exponent.integer("shl", 23)).floating() - 1.0
    k = x.block.emit(FLOAT, f"sitofp i32 {exponent.name} to float")
    k = k + select(tiny, x.like(-23.0), 0.0)
    square = f * f
    tail = polynomial(
        f, 0.33333310439859004, -0.24999986599828522, 0.20002226613932014, -0.16669250816098025,
        0.14218658091381225, -0.12384348471599578, 0.11872976287225594, -0.11789807685676751,
        0.06915368069729737,
    )  # fmt: skip
    low = fma(k, _LN2_LOW, fma(square, -0.5, square * f * tail))
    result = fma(k, _LN2_HIGH, f + low)
    infinity = float("inf")
    usual = select(x.compare("oeq", infinity), x, result)
    return select(
        x.compare("ogt", 0), usual, select(x.compare("oeq", 0), x.like(-infinity), float("nan"))
    )


def log1p(x: Value) -> Value:
    """log(1 + x), exact near zero."""
    _single(x)
    total = x + 1.0
    lost = select(absolute(x).compare("olt", 1e8), (x - (total - 1.0)) / total, 0.0)
    result = log(total) + lost
    return select(
        absolute(x).compare("olt", 1e-7), x, select(total.compare("oeq", 0), log(total), result)
    )


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    _single(x)
    square = x * x
    near = fma(
        square * x,
        polynomial(
            square, -0.3333332961353546, 0.1333315789259954, -0.053940562770289885,
            0.021666345046813227, -0.008091964387822451, 0.00206466203909462,
        ),
        x,
    )  # fmt: skip
    size = absolute(x)
    bounded = select(size.compare("ogt", 10.0), x.like(10.0), size)
    far = 1.0 - 2.0 / (exp(bounded + bounded) + 1.0)
    result = select(size.compare("olt", 0.625), near, _call("copysign", far, x))
    return select(x.compare("oeq", 0), x, result)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)), without overflow on the way."""
    small = exp(-absolute(x))
    return select(x.compare("olt", 0), small, 1.0) / (small + 1.0)


def softrelu(x: Value) -> Value:
    """log(1 + exp(x)) without overflow."""
    positive = select(x.compare("ogt", 0), x, select(x.compare("uno", x), x, 0.0))
    return positive + log1p(exp(-absolute(x)))


_PI_2 = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100059819e-15)


def _circular(x: Value, quarter: int) -> Value:
    """sin(x + quarter * pi / 2); beyond 1e5 the reduction is too coarse, and the block says so."""
    _single(x)
    x.block.beyond.append(absolute(x).compare("ogt", 1e5))
    shifted = fma(x, 0.6366197723675814, _MAGIC)
    k = shifted - _MAGIC
    r = fma(k, -_PI_2[2], fma(k, -_PI_2[1], fma(k, -_PI_2[0], x)))
    square = r * r
    sine = polynomial(
        square, -0.16666666637340943, 0.008333328889676769, -0.00019839176077684258,
        2.7168100095930833e-06,
    )  # fmt: skip
    sine = fma(square * r, sine, r)
    cosine = polynomial(
        square, 0.0416666666153219, -0.0013888883107560173, 2.4799350310291996e-05,
        -2.7196302345745826e-07,
    )  # fmt: skip
    cosine = fma(square * square, cosine, fma(square, -0.5, 1.0))
    turn = shifted.bits() + quarter
    odd = x.block.emit(BIT, f"trunc i32 {turn.name} to i1")
    result = select(odd, cosine, sine)
    flip = turn.integer("and", 2).integer("shl", 30)
    text = f"xor i32 {result.bits().name}, {flip.name}"
    return x.block.emit(INT, text).floating()


def sin(x: Value) -> Value:
    """The sine."""
    return select(x.compare("oeq", 0), x, _circular(x, 0))


def cos(x: Value) -> Value:
    """The cosine."""
    return _circular(x, 1)


def erf(x: Value) -> Value:
    """The error function."""
    _single(x)
    square = x * x
    near = fma(
        x,
        polynomial(
            square, 0.12837916706315855, -0.37612638483809446, 0.11283782747207069,
            -0.02686544582178188, 0.0052210748791433614, -0.0008484711463933453,
            0.00011270544594274567, -9.680136684023233e-06,
        ),
        x,
    )  # fmt: skip
    size = absolute(x)
    far = polynomial(
        _clamp(size, 0.9, 4.0), -0.00018246048918819116, 1.1295520429983519, 0.6332724102116616,
        0.10836155663751051, -0.025171811698307678, 0.004190856997182524, -0.00043853021572193285,
        2.1445592191970952e-05,
    )  # fmt: skip
    far = _call("copysign", 1.0 - exp(-far), x)
    return select(size.compare("olt", 1.0), near, select(x.compare("uno", x), x, far))


def power(x: Value, exponent: float) -> Value:
    """``x ** exponent`` for the exponents that are products or roots."""
    if exponent == 1:
        return x
    if exponent == 2:
        return x * x
    if exponent == -1:
        return 1.0 / x
    if exponent == 0.5:  # numpy: sqrt, but +0 of -0 and +inf of -inf
        return sqrt(x)
    raise Unsupported(f"x ** {exponent}")


def _comparison(how: str) -> Callable[[Value, Any], Value]:
    return lambda x, y: truth(x.compare(how, y), x)


#: functions of two numbers, by the names binary operators are made of
BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "maximum": maximum,
    "minimum": minimum,
    "equal": _comparison("oeq"),
    "not_equal": _comparison("une"),
    "greater": _comparison("ogt"),
    "greater_equal": _comparison("oge"),
    "lesser": _comparison("olt"),
    "lesser_equal": _comparison("ole"),
}

#: functions of one number, by the names of unary operators
UNARY: dict[str, Callable[[Value], Value]] = {
    "negative": lambda x: -x,
    "abs": absolute,
    "sign": sign,
    "reciprocal": lambda x: 1.0 / x,
    "square": lambda x: x * x,
    "sqrt": sqrt,
    "rsqrt": lambda x: 1.0 / sqrt(x),
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "relu": lambda x: maximum(x, 0.0),
    "sigmoid": sigmoid,
    "softsign": lambda x: x / (absolute(x) + 1.0),
    "_softrelu": softrelu,
    "ceil": lambda x: _call("ceil", x),
    "floor": lambda x: _call("floor", x),
    "trunc": whole,
    "fix": whole,
    "erf": erf,
    "logical_not": lambda x: truth(x.compare("oeq", 0), x),
}
