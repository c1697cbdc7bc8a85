"""How to draw inputs and attributes for linear algebra, order, indices and whole arrays."""

from __future__ import annotations

import numpy as np

from cases import FLOW, fixed, plain, smooth
from entries import Entry, unary

WIDE = ("float32", "float64")
NO_GRADIENT = "it has no gradient"
CASES: dict[str, Entry] = {}


def inside(pick, shape, low, high):
    """Numbers well inside a range."""
    return pick.numbers.uniform(low, high, shape)


def distinct(pick, shape):
    """Numbers of which no two are equal or close."""
    count = int(np.prod(shape))
    return (pick.numbers.permutation(count).reshape(shape) - count // 2) * 0.5 + 0.1


# ---- order


def _along_an_axis(**options):
    def make(pick):
        shape = pick.shape()
        attrs = {"axis": pick.choice([None, pick.axis(shape)]), "is_ascend": pick.boolean()}
        attrs.update({name: pick.choice(values) for name, values in options.items()})
        return [smooth(distinct(pick, shape))], attrs

    return make


def _top(pick):
    shape = pick.shape()
    axis = pick.choice([None, pick.axis(shape)])
    length = int(np.prod(shape)) if axis is None else shape[axis]
    attrs = {
        "axis": axis, "k": pick.integer(1, length), "is_ascend": pick.boolean(),
        "ret_typ": pick.choice(["value", "indices", "mask", "both"]),
        "dtype": pick.choice(["float32", "int32"]),
    }  # fmt: skip
    data = distinct(pick, shape)
    return [smooth(data) if attrs["ret_typ"] == "value" else plain(data)], attrs


CASES["sort"] = Entry(_along_an_axis())
CASES["argsort"] = Entry(_along_an_axis(dtype=["float32", "int32", "int64"]))
CASES["topk"] = Entry(_top)

# ---- borders and blocks


def _border(pick):
    shape = (1, 2, *[pick.integer(3, 4) for _ in range(pick.integer(2, 3))])
    widths = [0] * 4 + [pick.integer(0, 2) for _ in range(2 * len(shape) - 4)]
    mode = pick.choice(["constant", "edge", "reflect"])
    attrs = {"mode": mode, "pad_width": tuple(widths), "constant_value": pick.choice([0.0, 1.5])}
    return [smooth(pick.values(shape))], attrs


def _blocks(into_depth):
    def make(pick):
        b = pick.integer(1, 2)
        n, c, h, w = (pick.integer(1, 2) for _ in range(4))
        shape = (n, c, h * b, w * b) if into_depth else (n, c * b * b, h, w)
        return [smooth(pick.values(shape))], {"block_size": b}

    return make


CASES["Pad"] = Entry(_border)
CASES["space_to_depth"] = Entry(_blocks(True))
CASES["depth_to_space"] = Entry(_blocks(False))

# ---- linear algebra


def _batch(pick):
    return pick.choice([(), (2,), (2, 1)])


def _regular(pick, shape):
    """Square matrices far from singular ones."""
    n = shape[-1]
    return inside(pick, shape, -0.4, 0.4) / n + np.eye(n) * (1.5 + 0.5 * np.arange(n))


def _definite(pick, shape):
    a = _regular(pick, shape)
    return a @ np.swapaxes(a, -1, -2)


def _of_square(values, **options):
    def make(pick):
        n = pick.integer(1, 3)
        attrs = {name: pick.choice(given) for name, given in options.items()}
        return [smooth(values(pick, (*_batch(pick), n, n)))], attrs

    return make


def _product(added):
    def make(pick):
        batch, axis = _batch(pick), -2
        m, k, n = (pick.integer(1, 3) for _ in range(3))
        ta, tb = pick.boolean(), pick.boolean()
        shapes = [(k, m) if ta else (m, k), (n, k) if tb else (k, n)]
        attrs = {"transpose_a": ta, "transpose_b": tb, "alpha": pick.choice([1.0, -0.5])}
        if added:
            shapes.append((m, n))
            attrs["beta"] = pick.choice([1.0, 2.0])
        arrays = [pick.values((*batch, *s)) for s in shapes]
        if batch and pick.boolean():
            axis = 0
            arrays = [np.moveaxis(x, -2, 0) for x in arrays]
        return [smooth(x) for x in arrays], {**attrs, "axis": axis}

    return make


def _with_triangle(pick):
    batch, n, m = _batch(pick), pick.integer(1, 3), pick.integer(1, 3)
    right = pick.boolean()
    attrs = {
        "rightside": right, "transpose": pick.boolean(), "lower": pick.boolean(),
        "alpha": pick.choice([1.0, -0.5]),
    }  # fmt: skip
    other = pick.values((*batch, m, n) if right else (*batch, n, m))
    return [smooth(_regular(pick, (*batch, n, n))), smooth(other)], attrs


def _rank_update(pick):
    shape = (*_batch(pick), pick.integer(1, 3), pick.integer(1, 3))
    attrs = {"transpose": pick.boolean(), "alpha": pick.choice([1.0, -0.5])}
    return [smooth(pick.values(shape))], attrs


def _wide(pick):
    m = pick.integer(1, 3)
    n = m + pick.integer(0, 2)
    return [smooth(inside(pick, (*_batch(pick), m, n), 0.1, 0.4) / n + np.eye(m, n))]


def _part(make_matrix, triangle):
    def make(pick):
        offset = pick.integer(-1, 1)
        attrs = {"offset": offset}
        if triangle:
            attrs["lower"] = pick.boolean()
        batch = _batch(pick)
        if not make_matrix:
            n = pick.integer(2, 4)
            return [smooth(pick.values((*batch, n, n)))], attrs
        count = pick.choice([1, 3, 6]) if triangle else pick.integer(1, 3)
        return [smooth(pick.values((*batch, count)))], attrs

    return make


_MAKERS = {
    "gemm": _product(True),
    "gemm2": _product(False),
    "trmm": _with_triangle,
    "trsm": _with_triangle,
    "syrk": _rank_update,
    "potri": _of_square(_regular),
    "inverse": _of_square(_regular),
    "det": _of_square(_regular),
    "sumlogdiag": _of_square(_definite),
    "gelqf": _wide,
    "extractdiag": _part(False, False),
    "makediag": _part(True, False),
    "extracttrian": _part(False, True),
    "maketrian": _part(True, True),
}
for _name, _maker in _MAKERS.items():
    CASES[f"_linalg_{_name}"] = Entry(_maker, dtypes=WIDE, factor=10)
_HALF = "it reads one triangle only, and gives the gradient of symmetric matrices"
CASES["_linalg_potrf"] = Entry(_of_square(_definite), slopes=_HALF, dtypes=WIDE, factor=10)
CASES["_linalg_syevd"] = Entry(_of_square(_definite), slopes=_HALF, dtypes=WIDE, factor=10)
CASES["_linalg_slogdet"] = Entry(
    _of_square(_regular), dtypes=WIDE, factor=10, second="the sign has no gradient"
)
CASES["khatri_rao"] = Entry(
    lambda pick: [smooth(pick.values((pick.integer(1, 3), 2))) for _ in range(pick.integer(1, 3))]
)

# ---- indices


def _flat(pick):
    shape = pick.choice([(5,), (3, 4), (2, 3, 4)])
    places = pick.numbers.integers(0, int(np.prod(shape)), pick.shape(1, 1))
    given = pick.choice([shape, (-1, *shape[1:])])
    return shape, places, given


def _ravel(pick):
    shape, places, given = _flat(pick)
    return [plain(np.array(np.unravel_index(places, shape)))], {"shape": given}


def _unravel(pick):
    _, places, given = _flat(pick)
    return [plain(places)], {"shape": given}


def _range_like(pick):
    shape = pick.shape()
    attrs = {
        "axis": pick.choice([None, pick.axis(shape)]), "start": pick.choice([0.0, 2.0]),
        "step": pick.choice([1.0, 0.5]), "repeat": pick.integer(1, 3),
    }  # fmt: skip
    return [smooth(pick.values(shape))], attrs


def _index_array(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape))], {"axes": pick.choice([None, (pick.axis(shape),)])}


def _sums(pick):
    shape = pick.shape()
    return [smooth(pick.values(shape))], {"axis": pick.choice([None, pick.axis(shape)])}


def _histogram(pick):
    data = plain(pick.values(pick.shape(), -2, 2))
    if pick.boolean():
        edges = np.sort(pick.values((pick.integer(2, 4),)))
        return [data, plain(edges)], {}
    return [data], {"bin_cnt": pick.integer(1, 4), "range": (-1.25, 1.5)}


_REAL = "what it gives are whole numbers"
CASES["_ravel_multi_index"] = Entry(_ravel, slopes=_REAL)
CASES["_unravel_index"] = Entry(_unravel, slopes=_REAL)
CASES["_contrib_arange_like"] = Entry(_range_like)
CASES["_contrib_index_array"] = Entry(_index_array)
CASES["_np_cumsum"] = Entry(_sums, factor=4)
CASES["_histogram"] = Entry(_histogram, slopes=_REAL)

# ---- parts replaced and chosen


def _assigned(pick):
    attrs = {"begin": (1, None), "end": (3, None), "step": pick.choice([(), (1, 2)])}
    width = 2 if attrs["step"] else 3
    return [smooth(pick.values((4, 3))), smooth(pick.values((2, width)))], attrs


def _assigned_scalar(pick):
    attrs = {"begin": (1,), "end": (3,), "scalar": pick.choice([0.0, 2.5])}
    return [smooth(pick.values((4, 3)))], attrs


def _scattered(pick):
    shape = (3, 4)
    places = pick.numbers.choice(12, pick.integer(1, 5), replace=False)
    indices = np.array(np.unravel_index(places, shape))
    return [
        plain(pick.values(shape)),
        plain(pick.values(places.shape)),
        fixed(indices, "int64"),
    ], {"shape": shape}


def _rows_copied(pick):
    count = pick.integer(1, 3)
    rows = pick.numbers.choice(4, count, replace=False)
    return [
        smooth(pick.values((4, 2))),
        fixed(rows, pick.choice(["int64", "int32"])),
        smooth(pick.values((count, 2))),
    ]


def _filled_columns(pick):
    n = pick.integer(1, 3)
    columns = pick.numbers.integers(0, 3, n)
    return [plain(pick.values((n, 3))), plain(pick.values((n,))), plain(columns)]


def _one_hot_rows(pick):
    n = pick.integer(1, 3)
    return [plain(pick.numbers.integers(0, 3, n)), plain(pick.values((n, 3)))]


CASES["_slice_assign"] = Entry(_assigned)
CASES["_slice_assign_scalar"] = Entry(_assigned_scalar)
CASES["_scatter_set_nd"] = Entry(_scattered, slopes=NO_GRADIENT)
CASES["_contrib_index_copy"] = Entry(_rows_copied)
CASES["fill_element_0index"] = Entry(_filled_columns, slopes=NO_GRADIENT)
CASES["_copyto"] = unary()
CASES["_onehot_encode"] = Entry(_one_hot_rows, slopes=NO_GRADIENT)

# ---- whole arrays


def _some(pick, **attrs):
    shape = pick.shape()
    count = pick.integer(1, 3)
    return [plain(pick.values(shape)) for _ in range(count)], {"num_arrays": count, **attrs}


def _pair(pick):
    data = pick.values(pick.shape())
    return [plain(data), plain(data + pick.choice([0.0, 1.0]))]


CASES["all_finite"] = Entry(lambda pick: [plain(pick.values(pick.shape()))], slopes=NO_GRADIENT)
CASES["multi_all_finite"] = Entry(_some, slopes=NO_GRADIENT)
CASES["multi_sum_sq"] = Entry(_some, slopes=NO_GRADIENT, factor=4)
CASES["_contrib_allclose"] = Entry(_pair, slopes=NO_GRADIENT)

# ---- transforms


def _rows(pick, multiple=1):
    shape = (*pick.shape(1, 2), multiple * pick.integer(1, 4))
    return [smooth(pick.values(shape))]


def _sketch(pick):
    width, out_dim = pick.integer(1, 4), pick.integer(1, 3)
    h = pick.numbers.integers(0, out_dim, (1, width))
    s = pick.numbers.choice([-1.0, 1.0], (1, width))
    data = smooth(pick.values((pick.integer(1, 3), width)))
    return [data, plain(h), plain(s)], {"out_dim": out_dim}


CASES["_contrib_fft"] = Entry(_rows, dtypes=WIDE, factor=10)
CASES["_contrib_ifft"] = Entry(lambda pick: _rows(pick, 2), dtypes=WIDE, factor=10)
CASES["_contrib_count_sketch"] = Entry(_sketch)

# ---- samples


def _numbers_from(**parameters):
    def make(pick):
        attrs = {"shape": pick.shape(1, 2), "dtype": FLOW}
        return [], {**attrs, **{name: pick.choice(v) for name, v in parameters.items()}}

    return make


def _numbers_like(**parameters):
    def make(pick):
        attrs = {name: pick.choice(values) for name, values in parameters.items()}
        return [smooth(pick.values(pick.shape()))], attrs

    return make


def _numbers_for(*ranges):
    def make(pick):
        shape = pick.shape(1, 2)
        arrays = [plain(inside(pick, shape, low, high)) for low, high in ranges]
        return arrays, {"shape": pick.choice([(), (2,), (2, 1)]), "dtype": FLOW}

    return make


def _density(*ranges, sample=None, counts=False):
    def make(pick):
        shape = pick.shape(1, 2)
        whole = (*shape, *pick.shape(1, 2, 3))
        if counts:
            x = plain(pick.numbers.integers(0, 4, whole))
        else:
            x = smooth(inside(pick, whole, *sample))
        arrays = [smooth(inside(pick, shape, low, high)) for low, high in ranges]
        return [x, *arrays], {"is_log": pick.boolean()}

    return make


_PARAMETERS = {
    "exponential": {"lam": (0.4, 2.0)},
    "gamma": {"alpha": (0.4, 2.0), "beta": (0.4, 2.0)},
    "poisson": {"lam": (0.4, 2.0)},
    "negative_binomial": {"k": (1.0, 3.0), "p": (0.2, 0.8)},
    "generalized_negative_binomial": {"mu": (0.4, 2.0), "alpha": (0.4, 2.0)},
}
_RANDOM = {"random": True, "slopes": "the result is random"}
for _name, _ranges in _PARAMETERS.items():
    _values = {n: (1, 2) if n == "k" else r for n, r in _ranges.items()}
    CASES[f"_random_{_name}"] = Entry(_numbers_from(**_values), **_RANDOM)
    CASES[f"_random_{_name}_like"] = Entry(_numbers_like(**_values), **_RANDOM)
    CASES[f"_sample_{_name}"] = Entry(_numbers_for(*_ranges.values()), **_RANDOM)
for _name in ("poisson", "negative_binomial", "generalized_negative_binomial"):
    CASES[f"_random_pdf_{_name}"] = Entry(
        _density(*_PARAMETERS[_name].values(), counts=True), dtypes=WIDE, factor=10
    )
for _name, _sample in (("exponential", (0.2, 2.0)), ("gamma", (0.4, 2.0))):
    CASES[f"_random_pdf_{_name}"] = Entry(
        _density(*_PARAMETERS[_name].values(), sample=_sample), dtypes=WIDE, factor=10
    )
CASES["_random_pdf_normal"] = Entry(
    _density((-1.0, 1.0), (0.6, 2.0), sample=(-1.0, 1.0)), dtypes=WIDE, factor=10
)
CASES["_random_pdf_uniform"] = Entry(
    _density((-2.0, -1.0), (1.0, 2.0), sample=(-0.8, 0.8)), dtypes=WIDE, factor=10
)


def _dirichlet(pick):
    shape = pick.shape(1, 1)
    sample = pick.numbers.dirichlet([2.0, 2.0, 2.0], (*shape, *pick.shape(1, 1)))
    alpha = inside(pick, (*shape, 3), 0.6, 2.0)
    return [smooth(sample * 0.9 + 0.03), smooth(alpha)], {"is_log": pick.boolean()}


def _draws(pick):
    shape = (*pick.shape(1, 2), 3)
    attrs = {
        "shape": pick.choice([(), (2,), (1, 2)]), "get_prob": pick.boolean(),
        "dtype": pick.choice(["int32", "float32"]),
    }  # fmt: skip
    return [smooth(pick.values(shape, 0.2, 1.0))], attrs


def _zipfian(pick):
    return [], {"range_max": pick.integer(5, 9), "shape": (pick.integer(1, 2), pick.integer(1, 5))}


def _whole(pick):
    low = pick.integer(-2, 2)
    attrs = {"low": low, "high": low + pick.integer(1, 3), "shape": pick.shape(1, 2)}
    return [], {**attrs, "dtype": pick.choice(["int32", "int64"])}


CASES["_random_pdf_dirichlet"] = Entry(_dirichlet, dtypes=WIDE, factor=20)
CASES["_random_randint"] = Entry(_whole, **_RANDOM)
CASES["_sample_multinomial"] = Entry(_draws, **_RANDOM)
CASES["_sample_unique_zipfian"] = Entry(_zipfian, **_RANDOM)
CASES["_shuffle"] = Entry(lambda pick: [plain(pick.values(pick.shape()))], **_RANDOM)

ELSEWHERE = {
    "_contrib_boolean_mask": "tests/ops/test_select.py: its shape is seen in running only",
    "_contrib_getnnz": "tests/ops/test_select.py: it takes csr arrays only",
    "_contrib_edge_id": "tests/ops/test_select.py: it takes csr arrays only",
    "_set_value": "tests/ops/test_assign.py: it takes the shape of what it is written to",
    "reset_arrays": "tests/ops/test_finite.py: it gives nothing",
}
PARTS = frozenset(
    "_put_along _take_along _pad_grad _put_drawn _pick_drawn _pdf_possible _pdf_spread _pdf_sum "
    "_spread_along_last _pdf_spread_rows _pdf_sum_rows _boolean_mask_grad _khatri_rao_part "
    "_count_sketch_grad _rows_copied _linalg_transposed _linalg_triangle _linalg_mirror "
    "_linalg_folded _linalg_inverse_gaps _linalg_cofactors _linalg_scaled _linalg_dot".split()
)
