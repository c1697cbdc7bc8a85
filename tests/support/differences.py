"""Where our answers differ from MXNet's on purpose, and why."""

import numpy as np

WHOLE = ("bool", "uint8", "int8", "int32", "int64")


def always(asked, wanted):
    """For every question about the operator."""
    return True


def refused(asked, wanted):
    """Where MXNet does not compute at all."""
    return "error" in wanted or "no_gradient" in wanted


def dtype(*names):
    """For questions on arrays of these dtypes."""
    return lambda asked, wanted: any(x[0] in names for x in asked["inputs"])


def attribute(name, *values):
    """For questions with one of these values of an attribute."""
    return lambda asked, wanted: asked["attrs"].get(name) in values


def ties(asked, wanted):
    """Where elements of the first input are equal."""
    numbers = arrays(asked)[0]
    return np.unique(numbers).size < numbers.size


def arrays(asked):
    """The inputs of a question."""
    return [np.frombuffer(bytes.fromhex(x[2]), x[0]).reshape(x[1]) for x in asked["inputs"]]


def whole(asked, wanted):
    """For questions on whole numbers or truth values."""
    return bool(asked["inputs"]) and asked["inputs"][0][0] in WHOLE


def not_finite(asked, wanted):
    """Where there is an infinity or a NaN among the inputs."""
    return any(not np.isfinite(x).all() for x in arrays(asked))


def extra_arrays(asked, wanted):
    """Where MXNet leaves inputs out that attributes do not ask for."""
    return refused(asked, wanted) and "num_inputs" in str(wanted)


def grey(asked, wanted):
    """For images of one channel."""
    return asked["inputs"][0][1][-1] == 1


def one_row(asked, wanted):
    """Where the first input has one row, or MXNet does not compute at all."""
    return refused(asked, wanted) or asked["inputs"][0][1][0] == 1


def one_pixel(asked, wanted):
    """Where an axis of the output has one element."""
    return "outputs" in wanted and 1 in wanted["outputs"][0][1][1][2:]


def deep(asked, wanted):
    """Where the first input has more than two dimensions."""
    return len(asked["inputs"][0][1]) > 2


def dilated_double(asked, wanted):
    """Where windows have gaps in double precision, or MXNet does not compute at all."""
    double = asked["inputs"][0][0] == "float64" and max(asked["attrs"]["dilate"]) > 1
    return double or refused(asked, wanted)


#: operator -> (which questions, why the answers differ)
DIFFERENCES = {
    "Embedding": (refused, "MXNet refuses sparse_grad=True into a dense gradient; it is added up"),
    "_contrib_SparseEmbedding": (refused, "MXNet refuses to give a dense gradient"),
    "FullyConnected": (refused, "MXNet wants every row of a row_sparse weight to be there"),
    "LeakyReLU": (
        attribute("act_type", "selu", "rrelu"),
        "MXNet's slope of selu below zero is wrong, and the slopes of rrelu are not written",
    ),
    "SequenceLast": (
        attribute("use_sequence_length", False),
        "MXNet's gradient without lengths goes to the wrong places, or ends its process",
    ),
    "SoftmaxActivation": (deep, "MXNet's gradient is wrong for more than two dimensions"),
    "SoftmaxOutput": (
        attribute("out_grad", True),
        "MXNet multiplies the gradient with the output itself in place of the head gradient",
    ),
    "softmax": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "log_softmax": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "softmin": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "_sparse_adagrad_update": (refused, "MXNet has no dense step"),
    "_scatter_elemwise_div": (refused, "MXNet cannot divide by an array without values"),
    "adam_update": (refused, "MXNet wants states of one storage"),
    "ftrl_update": (refused, "MXNet wants states of one storage"),
    "sgd_mom_update": (refused, "MXNet wants a state stored as the weight"),
    "broadcast_add": (refused, "MXNet spreads the dense array only, not the csr one"),
    "broadcast_sub": (refused, "MXNet spreads the dense array only, not the csr one"),
    "broadcast_mul": (one_row, "MXNet takes the first numbers for any columns of a csr row"),
    "broadcast_div": (one_row, "MXNet takes the first numbers for any columns of a csr row"),
    "Concat": (refused, "MXNet has no gradient of joined csr arrays"),
    "_sparse_retain": (refused, "MXNet retains rows of row_sparse arrays only"),
    "_square_sum": (refused, "MXNet has no dense kernel"),
    "max": (ties, "MXNet gives every one of several largest elements the whole gradient"),
    "min": (ties, "MXNet gives every one of several smallest elements the whole gradient"),
    "BatchNorm_v1": (refused, "MXNet's function takes no states, as it was before version 1"),
    "Convolution": (refused, "MXNet's CPU build wants channels first"),
    "Deconvolution": (
        dilated_double,
        "MXNet's CPU build wants channels first, and in float64 dilates otherwise than in float32",
    ),
    "Pooling": (
        attribute("pooling_convention", "same", "full"),
        "MXNet knows same for max pooling of one axis only, and gives the lowest number where "
        "there is only padding",
    ),
    "LRN": (always, "MXNet's gradient is for float32 only and reads what was not written"),
    "Pooling_v1": (always, "MXNet gives every one of several largest elements the gradient"),
    "mp_lamb_update_phase2": (always, "MXNet leaves the weights in single precision as they are"),
    "_contrib_BilinearResize2D": (one_pixel, "MXNet takes the first pixel for a size of one"),
    "RNN": (attribute("use_sequence_length", True), "MXNet's CPU build ignores the lengths"),
    "_np_cumsum": (refused, "MXNet wants an axis counted from the front"),
    "_contrib_arange_like": (dtype("float16"), "MXNet cuts the step off to a whole number"),
    "_contrib_fft": (refused, "MXNet has it on a GPU only"),
    "_contrib_ifft": (refused, "MXNet has it on a GPU only"),
    "_copyto": (refused, "MXNet has no rule for its dtype"),
    "_scatter_set_nd": (refused, "MXNet writes into its first input only"),
    "col2im": (refused, "MXNet's has two axes only"),
    "im2col": (refused, "MXNet's has two axes only"),
    "mp_lamb_update_phase1": (refused, "MXNet wants weights in float16 to step at all"),
    "multi_sgd_update": (refused, "MXNet wants an out for every weight"),
    "preloaded_multi_sgd_update": (refused, "MXNet wants an out for every weight"),
    "tile": (refused, "MXNet cannot add up the gradient over so many axes"),
    "GridGenerator": (refused, "MXNet computes it in float32 only"),
    "_contrib_ModulatedDeformableConvolution": (refused, "MXNet has no gradient on the CPU"),
    "_contrib_PSROIPooling": (refused, "MXNet has no gradient on the CPU"),
    "_contrib_hawkesll": (
        always,
        "MXNet gives no gradient of the counts at the start, nor through those at the end",
    ),
    "_contrib_MultiBoxPrior": (refused, "MXNet computes it in float32 only"),
    "_contrib_MultiBoxTarget": (
        refused,
        "MXNet computes it in float32 only, and fails where there are too few negatives to mine",
    ),
    "_contrib_MultiBoxDetection": (refused, "MXNet computes it in float32 only"),
    "_image_adjust_lighting": (grey, "MXNet leaves images of one channel unwritten"),
    "_image_flip_left_right": (
        always,
        "MXNet leaves the middle column unwritten, and does not turn the gradient back",
    ),
    "_image_flip_top_bottom": (
        always,
        "MXNet leaves the middle row unwritten, and does not turn the gradient back",
    ),
    "_image_resize": (refused, "MXNet's gradient has the wrong shape"),
}


#: what MXNet says where its CPU build lacks a dtype, a kernel or a gradient that we have
LACKING = (
    "only available for GPU",
    "not implemented for CPU",
    "not support",
    "has not implemented",
    "nly support",
    "Only FP32",
    "Unsupported data type",
    "data type do not match",
    "FP16 gemm",
    "Not implmented",
    "Only 1D or 2D",
    "MKLDNN",
    "MKL-DNN",
    "CuDNN",
    "cuDNN",
    "is not differentiable",
    "non-differentiable",
    "ended its process",
    "Unknown type enum",
)


def excuse(asked, wanted, got=None):
    """Why our answer may differ from the one wanted, or None if it may not."""
    said = wanted.get("error") or wanted.get("no_gradient")
    if said and any(lack in said[1] for lack in LACKING):
        return "MXNet's CPU build lacks it"
    if whole(asked, wanted) and _is_floating(got) and not _is_floating(wanted):
        return "functions of whole numbers give floats; MXNet cuts them off"
    which, why = DIFFERENCES.get(asked["name"], (None, None))
    return why if which is not None and which(asked, wanted) else None


def _is_floating(answer):
    """Whether all outputs of an answer are floats."""
    if not answer or "outputs" not in answer:
        return False
    return all(values[0].startswith("float") for _, values in answer["outputs"])
