"""Every operator that is written to ONNX gives our results in onnxruntime, and when read again."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from minigluon.onnx import export_model, import_to_gluon  # noqa: E402
from minigluon.onnx.layers import CONVERTERS  # noqa: E402

NUMBERS = np.random.default_rng(3)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The ..th input to HybridBlock is not used"),
]


def signed(*shape):
    return NUMBERS.uniform(-2, 2, shape).astype(np.float32)


def positive(*shape):
    return NUMBERS.uniform(0.5, 2, shape).astype(np.float32)


def places(high, *shape):
    return NUMBERS.integers(0, high, shape).astype(np.float32)


def flags(*shape):
    return NUMBERS.integers(0, 2, shape).astype(np.float32)


def on(name, *arrays, **attributes):
    """A case: the operator on inputs ``a``, ``b``, ...; those named in ``fixed`` are parameters."""
    fixed = attributes.pop("fixed", "")
    letters = "abcde"[: len(arrays)]
    function = getattr(sym, name, None) or getattr(sym._internal, name, None)
    if function is None:
        function = getattr(sym.contrib, name.removeprefix("_contrib_"), None)
    if function is None:
        function = getattr(sym.linalg, name.removeprefix("_linalg_"))
    variables = [sym.var(k) for k in letters]
    return (
        name,
        function(*variables, name="n", **attributes),
        dict(zip(letters, arrays, strict=True)),
        fixed,
    )


PICTURE = signed(2, 4, 7, 6)
MATRIX, OTHER = signed(3, 4), signed(3, 4)
UNARY = (  # noqa: SIM905
    "relu sigmoid tanh softsign exp abs negative ceil floor sign rint reciprocal erf sin cos tan "
    "arctan sinh cosh arcsinh square expm1 hard_sigmoid"
).split()
POSITIVE = "log sqrt rsqrt log2 log10 log1p".split()  # noqa: SIM905
COMPARED = "equal not_equal greater lesser greater_equal lesser_equal".split()  # noqa: SIM905
SCALARS = "plus minus rminus mul div rdiv power rpower maximum minimum".split()  # noqa: SIM905

CASES = [
    *[on(name, signed(3, 4)) for name in UNARY],
    *[on(name, positive(3, 4)) for name in POSITIVE],
    *[on(name, positive(3, 4) / 4) for name in ("arcsin", "arccos", "arctanh")],
    on("arccosh", positive(3, 4) + 1),
    *[on(f"elemwise_{n}", MATRIX, OTHER) for n in ("add", "sub", "mul", "div")],
    *[
        on(f"broadcast_{n}", positive(3, 4), positive(3, 1))
        for n in ("add", "sub", "mul", "div", "power", "maximum", "minimum")
    ],
    *[on(f"_{n}", positive(3, 4), positive(3, 4)) for n in ("power", "maximum", "minimum")],
    *[
        on(f"_{n}_scalar", positive(3, 4), scalar=1.5)
        for n in SCALARS
    ],
    *[on(f"broadcast_{n}", places(3, 3, 4), places(3, 1, 4)) for n in COMPARED],
    *[on(f"_{n}", places(3, 3, 4), places(3, 3, 4)) for n in COMPARED],
    *[on(f"_{n}_scalar", places(3, 3, 4), scalar=1) for n in COMPARED],
    *[on(f"broadcast_logical_{n}", flags(3, 4), flags(3, 1)) for n in ("and", "or", "xor")],
    on("logical_not", flags(3, 4)),
    *[on(n, MATRIX, axis=1) for n in ("max", "min", "prod", "mean", "sum", "argmax", "argmin")],
    *[on(n, MATRIX, axis=1, keepdims=True) for n in ("max", "sum", "argmax", "norm")],
    *[on(n, MATRIX) for n in ("mean", "sum", "argmin", "norm")],
    on("sum", PICTURE, axis=(1,), exclude=True),
    on("norm", MATRIX, ord=1, axis=0),
    on("add_n", MATRIX, OTHER, signed(3, 4)),
    on("clip", MATRIX, a_min=-1, a_max=0.5),
    on("Cast", MATRIX, dtype="int32"),
    on("amp_cast", MATRIX, dtype="float16"),
    on("where", flags(3, 4), MATRIX, OTHER),
    on("_contrib_div_sqrt_dim", MATRIX),
    on("dot", MATRIX, signed(4, 2)),
    on("dot", MATRIX, signed(2, 3), transpose_a=True, transpose_b=True),
    on("dot", signed(4), signed(4)),
    on("dot", signed(2, 3, 4), signed(4, 2)),
    on("batch_dot", signed(2, 3, 4), signed(2, 5, 4), transpose_b=True),
    on("_linalg_gemm2", signed(2, 4, 3), signed(2, 4, 2), transpose_a=True, alpha=0.5),
    # layers
    on("Convolution", PICTURE, signed(6, 4, 3, 3), signed(6), kernel=(3, 3), num_filter=6,
       stride=(2, 1), pad=(1, 0), fixed="bc"),
    on("Convolution", PICTURE, signed(4, 2, 2, 3), kernel=(2, 3), num_filter=4, no_bias=True,
       dilate=(2, 1), num_group=2, fixed="b"),
    on("Convolution", signed(2, 3, 9), signed(2, 3, 3), kernel=(3,), num_filter=2, no_bias=True),
    on("Deconvolution", PICTURE, signed(4, 3, 3, 3), signed(6), kernel=(3, 3), num_filter=6,
       stride=(2, 2), pad=(1, 1), adj=(1, 0), num_group=2, no_bias=False, fixed="bc"),
    on("FullyConnected", PICTURE, signed(3, 168), signed(3), num_hidden=3, fixed="bc"),
    on("FullyConnected", MATRIX, signed(3, 4), num_hidden=3, no_bias=True, fixed="b"),
    on("FullyConnected", signed(2, 3, 4), signed(5, 4), signed(5), num_hidden=5, flatten=False),
    *[
        on("BatchNorm", PICTURE, positive(n), signed(n), signed(n), positive(n), axis=axis,
           fix_gamma=fix, fixed="bcde")
        for axis, n, fix in ((1, 4, False), (1, 4, True), (3, 6, False))
    ],
    on("_contrib_SyncBatchNorm", PICTURE, *[positive(4) for _ in range(4)], key="a", fixed="bcde"),
    *[
        on("Activation", MATRIX, act_type=kind)
        for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    ],
    *[on("LeakyReLU", PICTURE, act_type=k) for k in ("leaky", "elu", "selu", "gelu", "rrelu")],
    on("LeakyReLU", PICTURE, positive(4), act_type="prelu", fixed="b"),
    *[
        on("Pooling", PICTURE, kernel=(3, 2), stride=(2, 2), pad=(1, 0), pool_type=kind, **more)
        for kind, more in (
            ("max", {}), ("avg", {}), ("avg", {"count_include_pad": False}), ("sum", {}),
        )
    ],
    on("Pooling", PICTURE, kernel=(2, 3), stride=(2, 2), pooling_convention="full"),
    on("Pooling", PICTURE, kernel=(3, 2), stride=(2, 2), pooling_convention="full",
       pool_type="avg"),
    on("Pooling", positive(2, 3, 6, 6), kernel=(2, 2), stride=(2, 2), pool_type="lp", p_value=2),
    *[
        on("Pooling", PICTURE, kernel=(1, 1), global_pool=True, pool_type=kind)
        for kind in ("max", "avg", "sum")
    ],
    on("_contrib_AdaptiveAvgPooling2D", PICTURE),
    on("_contrib_AdaptiveAvgPooling2D", signed(1, 2, 6, 4), output_size=(3, 2)),
    *[on(n, MATRIX, axis=axis) for n in ("softmax", "log_softmax", "softmin") for axis in (0, -1)],
    on("softmax", PICTURE, axis=1, temperature=2.0),
    on("SoftmaxOutput", MATRIX, places(3, 3)),
    on("SoftmaxOutput", PICTURE, places(3, 2)),
    on("SoftmaxOutput", PICTURE, places(3, 2, 7, 6), multi_output=True),
    on("SoftmaxActivation", PICTURE, mode="channel"),
    on("SoftmaxActivation", PICTURE),
    *[
        on(n, MATRIX, MATRIX)
        for n in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")
    ],
    *[on(n, MATRIX) for n in ("Dropout", "_copy", "BlockGrad", "make_loss", "MakeLoss")],
    on("IdentityAttachKLSparseReg", positive(3, 4) / 4, positive(4), fixed="b"),
    on("LRN", positive(2, 5, 3, 3), nsize=3, alpha=0.1, beta=0.5, knorm=1.5),
    on("InstanceNorm", PICTURE, positive(4), signed(4), eps=0.01, fixed="bc"),
    on("LayerNorm", PICTURE, positive(6), signed(6), fixed="bc"),
    on("LayerNorm", PICTURE, positive(4), signed(4), axis=1, fixed="bc"),
    on("GroupNorm", PICTURE, positive(2), signed(2), num_groups=2, fixed="bc"),
    *[on("L2Normalization", PICTURE, mode=mode) for mode in ("instance", "channel", "spatial")],
    on("UpSampling", PICTURE, scale=2, sample_type="nearest", num_args=1),
    on("_contrib_BilinearResize2D", PICTURE, height=10, width=4),
    on("_contrib_BilinearResize2D", PICTURE, height=10, width=4, align_corners=False),
    on("Embedding", places(5, 2, 3), signed(5, 4), input_dim=5, output_dim=4, fixed="b"),
    *[
        on("RNN", signed(5, 2, 3), signed(size), *[signed(layers * (1 + both), 2, 4)] * states,
           mode=mode, state_size=4, num_layers=layers, bidirectional=both, state_outputs=True,
           fixed="b")
        for mode, layers, both, size, states in (
            ("lstm", 1, False, 144, 2), ("lstm", 2, True, 736, 2), ("gru", 2, False, 228, 1),
            ("gru", 1, True, 216, 1), ("rnn_tanh", 1, False, 36, 1), ("rnn_relu", 1, True, 72, 1),
        )
    ],
    ("_rnn_param_concat", sym.RNN(
        sym.var("a"), sym._internal._rnn_param_concat(sym.var("b"), sym.var("c"), dim=0),
        sym.zeros((1, 2, 4)), mode="rnn_tanh", state_size=4, num_layers=1),
     {"a": signed(5, 2, 3), "b": signed(28), "c": signed(8)}, "bc"),
    # shapes and places
    on("Flatten", PICTURE),
    *[
        on("Reshape", PICTURE, shape=shape)
        for shape in ((0, -1), (-1, 6), (2, 28, 6), (0, -3, -2), (-2, 1), (0, -4, 2, -1, -2))
    ],
    on("Reshape", PICTURE, shape=(-1, 6), reverse=True),
    on("reshape_like", MATRIX, signed(2, 6)),
    on("transpose", PICTURE, axes=(0, 2, 3, 1)),
    on("transpose", MATRIX),
    on("SwapAxis", PICTURE, dim1=1, dim2=3),
    on("expand_dims", MATRIX, axis=1),
    on("expand_dims", MATRIX, axis=-1),
    on("squeeze", signed(1, 3, 1)),
    on("squeeze", signed(1, 3, 1), axis=(2,)),
    on("Concat", MATRIX, OTHER, dim=1),
    on("stack", MATRIX, OTHER, axis=1),
    on("SliceChannel", PICTURE, num_outputs=2, axis=1),
    on("SliceChannel", signed(3, 2), num_outputs=2, axis=1, squeeze_axis=True),
    on("_split_v2", PICTURE, indices=(0, 1, 3), axis=1),
    on("slice", PICTURE, begin=(0, 1), end=(1, None)),
    on("slice", MATRIX, begin=(None, 3), end=(None, None), step=(1, -2)),
    on("slice_axis", MATRIX, axis=1, begin=1, end=None),
    on("slice_axis", MATRIX, axis=-1, begin=-3, end=-1),
    on("slice_like", signed(5, 6), MATRIX),
    on("slice_like", signed(5, 6), MATRIX, axes=(1,)),
    on("reverse", MATRIX, axis=(1,)),
    on("Pad", PICTURE, mode="constant", pad_width=(0, 0, 0, 0, 1, 2, 0, 3), constant_value=1.5),
    *[
        on("Pad", PICTURE, mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 1, 3))
        for mode in ("edge", "reflect")
    ],
    on("broadcast_to", signed(3, 1), shape=(0, 4)),
    on("broadcast_axis", signed(3, 1, 2), axis=1, size=4),
    on("broadcast_like", signed(3, 1), MATRIX),
    on("tile", MATRIX, reps=(2, 1)),
    on("tile", MATRIX, reps=(2, 1, 3)),
    on("zeros_like", MATRIX),
    on("ones_like", MATRIX),
    on("take", MATRIX, places(3, 2, 2)),
    on("take", MATRIX, places(6, 5), axis=1),
    on("gather_nd", MATRIX, places(3, 2, 5)),
    on("one_hot", places(4, 3), depth=5, on_value=2.0, off_value=-1.0),
    on("depth_to_space", PICTURE, block_size=2),
    on("space_to_depth", signed(1, 2, 4, 6), block_size=2),
    on("shape_array", PICTURE),
    on("topk", MATRIX, k=2),
    on("topk", MATRIX, k=2, axis=0, ret_typ="both", is_ascend=True),
    on("topk", MATRIX, k=3, ret_typ="value"),
    ("_zeros", sym.broadcast_add(sym.var("a"), sym.zeros((3, 1))), {"a": MATRIX}, ""),
    ("_ones", sym.broadcast_add(sym.var("a"), sym.ones((3, 1))), {"a": MATRIX}, ""),
    ("_arange", sym.broadcast_add(sym.var("a"), sym.arange(1, 3, 0.5)), {"a": MATRIX}, ""),
]  # fmt: skip


def test_there_is_a_case_for_every_operator_of_the_table():
    assert {case[0] for case in CASES} == set(CONVERTERS)


def ours_for(graph, arrays):
    shapes = {k: x.shape for k, x in arrays.items()}
    executor = graph.simple_bind(mx.cpu(), grad_req="null", **shapes)
    for name, x in arrays.items():
        {**executor.arg_dict, **executor.aux_dict}[name][:] = x
    return executor.forward(is_train=False)


@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{c[0]}" for k, c in enumerate(CASES)])
def test_an_operator_gives_our_results_elsewhere(tmp_path, case):
    _, graph, arrays, fixed = case
    graph = graph[0] if case[0] == "LeakyReLU" else graph  # rrelu shows its slopes, too
    wanted = ours_for(graph, arrays)
    labels = {"b"} if "Output" in case[0] else set()
    params = {k: nd.array(x) for k, x in arrays.items() if k in fixed}
    inputs = {k: x for k, x in arrays.items() if k not in fixed and k not in labels}
    path = export_model(
        graph, params, [x.shape for x in inputs.values()], onnx_file_path=str(tmp_path / "m.onnx")
    )
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    named = [i.name for i in session.get_inputs()]
    found = session.run(None, {k: inputs[k] for k in named})
    block = import_to_gluon(path)
    again = block(*[nd.array(inputs[k]) for k in named])
    again = again if isinstance(again, list | tuple) else [again]
    for ours, theirs, read in zip(wanted, found, again, strict=True):
        ours = ours.asnumpy()
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(theirs, ours, 2e-3 if ours.dtype == np.float16 else 2e-5, 1e-5)
        np.testing.assert_allclose(read.asnumpy(), ours, 2e-5, 1e-5)
