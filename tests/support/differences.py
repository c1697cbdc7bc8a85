"""Where our answers differ from MXNet's on purpose, and why."""

import numpy as np

WHOLE = ("bool", "uint8", "int8", "int32", "int64")


def always(asked, wanted):
    """For every question about the operator."""
    return True


def refused(asked, wanted):
    """Where MXNet does not compute."""
    return "error" in wanted


def odd(*kinds):
    """For cases that `variants` made odd in one of these ways."""
    return lambda asked, wanted: asked.get("odd") in kinds


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


def zeros(asked, wanted):
    """Where there is a zero among the inputs."""
    return any((x == 0).any() for x in arrays(asked))


def not_finite(asked, wanted):
    """Where there is an infinity or a NaN among the inputs."""
    return any(not np.isfinite(x).all() for x in arrays(asked))


def grey(asked, wanted):
    """For images of one channel."""
    return asked["inputs"][0][1][-1] == 1


def one_row(asked, wanted):
    """Where the first input has one row, or MXNet does not compute at all."""
    return refused(asked, wanted) or asked["inputs"][0][1][0] == 1


def middle(axis):
    """Where an axis of an image has an element in the middle."""
    return lambda asked, wanted: asked["inputs"][0][1][axis - 3] % 2 == 1


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


PDF = (
    "_random_pdf_uniform _random_pdf_normal _random_pdf_gamma _random_pdf_exponential "
    "_random_pdf_poisson _random_pdf_negative_binomial _random_pdf_dirichlet "
    "_random_pdf_generalized_negative_binomial"
)

#: (operators, which questions, why the answers differ)
DIFFERENCES = (
    ("Embedding", refused, "MXNet refuses sparse_grad=True into a dense gradient; it is added up"),
    ("FullyConnected", refused, "MXNet wants every row of a row_sparse weight to be there"),
    ("LeakyReLU", attribute("act_type", "rrelu"), "MXNet does not write the slopes of rrelu"),
    ("softmax log_softmax softmin", refused, "MXNet refuses lengths along an axis from the end"),
    ("_sparse_adagrad_update", refused, "MXNet has no dense step"),
    ("_scatter_elemwise_div", refused, "MXNet cannot divide by an array without values"),
    ("adam_update ftrl_update", refused, "MXNet wants states of one storage"),
    ("sgd_mom_update", refused, "MXNet wants a state stored as the weight"),
    ("broadcast_add broadcast_sub", refused, "MXNet spreads the dense array, not the csr one"),
    ("broadcast_mul broadcast_div", one_row, "MXNet takes any columns of a csr row as the first"),
    ("_sparse_retain", refused, "MXNet retains rows of row_sparse arrays only"),
    ("_square_sum", refused, "MXNet has no dense kernel"),
    ("BatchNorm_v1", refused, "MXNet's function takes no states, as it was before version 1"),
    ("Convolution Deconvolution", refused, "MXNet's CPU build wants channels first"),
    ("Deconvolution", dilated_double, "MXNet dilates otherwise in float64 than in float32"),
    (
        "Pooling",
        attribute("pooling_convention", "same", "full"),
        "MXNet knows same for max pooling of one axis only, and gives the lowest number where "
        "there is only padding",
    ),
    ("_contrib_SparseEmbedding sort", refused, "MXNet lacks dtypes here, and an axis of None"),
    ("_contrib_BilinearResize2D", one_pixel, "MXNet takes the first pixel for a size of one"),
    ("RNN", attribute("use_sequence_length", True), "MXNet's CPU build ignores the lengths"),
    ("_np_cumsum", refused, "MXNet wants an axis counted from the front"),
    ("_contrib_arange_like", dtype("float16", *WHOLE), "MXNet cuts the step to a whole number"),
    ("_contrib_fft _contrib_ifft", refused, "MXNet has it on a GPU only"),
    ("_contrib_boolean_mask", refused, "MXNet cannot give arrays without elements"),
    ("_contrib_getnnz", refused, "MXNet wants an axis counted from the front"),
    ("col2im im2col", refused, "MXNet's has two axes only"),
    ("mp_lamb_update_phase1", refused, "MXNet wants weights in float16 to step at all"),
    ("GridGenerator", refused, "MXNet computes it in float32 only"),
    ("_contrib_MultiBoxPrior", refused, "MXNet computes it in float32 only"),
    (
        "_contrib_MultiBoxTarget _contrib_MultiBoxDetection",
        refused,
        "MXNet computes it in float32 only, and fails where there are too few negatives to mine",
    ),
    (
        "_contrib_SyncBatchNorm",
        attribute("output_mean_var", True),
        "MXNet leaves the statistics unwritten",
    ),
    ("_ones _zeros _full", refused, "MXNet takes sizes of zero for unknown ones"),
    ("_contrib_Proposal _contrib_MultiProposal", refused, "MXNet wants small images"),
    ("tile", refused, "MXNet cannot add up the gradient over so many axes"),
    ("_image_adjust_lighting", grey, "MXNet leaves images of one channel unwritten"),
    ("_image_flip_left_right", middle(1), "MXNet leaves the middle column unwritten"),
    ("_image_flip_top_bottom", middle(0), "MXNet leaves the middle row unwritten"),
    ("all_finite multi_all_finite", attribute("init_output", False), "it adds to what was there"),
    (
        "BilinearSampler ROIPooling Correlation CTCLoss SVMOutput _contrib_AdaptiveAvgPooling2D "
        "_contrib_BilinearResize2D _contrib_ROIAlign _contrib_DeformableConvolution _linalg_gelqf "
        "_linalg_trsm _linalg_trmm _linalg_det _linalg_inverse _linalg_slogdet _linalg_gemm norm "
        "_linalg_gemm2 _linalg_syrk _linalg_potri _linalg_syevd _linalg_potrf "
        "_contrib_DeformablePSROIPooling _image_resize _cvimresize SpatialTransformer",
        not_finite,
        "how far an infinity or a NaN reaches depends on the order in which it is computed",
    ),
    ("sign _contrib_sign_ste clip", not_finite, "NaN has a sign in MXNet, and slope 1 in clip"),
    (
        "_contrib_ModulatedDeformableConvolution max min prod nanprod softmax log_softmax softmin "
        "sort",
        not_finite,
        "how far an infinity or a NaN reaches depends on the order in which it is computed",
    ),
    ("gammaln", not_finite, "as scipy says of minus infinity; MXNet: infinity"),
    ("argsort topk", not_finite, "MXNet's order of NaN depends on where they are"),
    (PDF, odd("special", "dtype"), "the density is 0 where no sample can be"),
    ("sample_multinomial _sample_multinomial", odd("special"), "what is below 0 is no probability"),
    ("_rdiv_scalar", whole, "a whole number divided by 0 is 0"),
    ("LayerNorm", odd("special"), "MXNet's squares overflow in half precision"),
    ("_power broadcast_power", whole, "powers beyond the range of whole numbers"),
    ("_mod elemwise_div broadcast_sub", dtype("bool"), "there is no arithmetic of truth values"),
    ("_histogram _contrib_hawkesll", whole, "what it takes are floats"),
    (
        "_cvimresize _cvcopyMakeBorder _image_resize",
        dtype("int8", "int32", "int64", "bool", "float16"),
        "MXNet hands types to OpenCV that this does not know",
    ),
    (
        "sum mean prod nansum nanprod norm max min moments argmax argmin argmax_channel pick "
        "amp_cast",
        odd("empty"),
        "what comes of no elements MXNet refuses, or infers otherwise than it computes",
    ),
    (
        "Dropout reverse broadcast_axis transpose",
        refused,
        "MXNet wants axes counted from the front",
    ),
    ("SoftmaxActivation", refused, "MXNet wants three dimensions"),
    ("dot", refused, "MXNet refuses to transpose vectors"),
    ("Reshape _image_normalize", odd("defaults"), "MXNet's defaults are refused by itself"),
    ("amp_multicast _zeros_without_dtype", refused, "MXNet's Python function cannot do it"),
    ("_sample_uniform _sample_unique_zipfian", refused, "MXNet refuses shapes of no elements"),
    (
        "Correlation Pad Reshape clip ftrl_update _contrib_MultiBoxPrior _contrib_arange_like "
        "_contrib_index_array _contrib_interleaved_matmul_selfatt_qk _linalg_trsm "
        "_contrib_interleaved_matmul_selfatt_valatt _contrib_DeformableConvolution "
        "_contrib_DeformablePSROIPooling _contrib_SyncBatchNorm _image_random_lighting GroupNorm "
        "BatchNorm LayerNorm _image_crop "
        "_random_negative_binomial _random_negative_binomial_like _ravel_multi_index pick "
        "_contrib_AdaptiveAvgPooling2D _contrib_ModulatedDeformableConvolution _scatter_set_nd "
        "_contrib_Proposal _contrib_MultiProposal _contrib_PSROIPooling _contrib_box_nms "
        "_rnn_param_concat multi_sum_sq multi_all_finite reverse ftml_update CTCLoss "
        "multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update",
        odd("changed", "axes", "defaults"),
        "attributes out of range are refused; MXNet computes something with them",
    ),
)

#: the same for what changes in place alone
STATES = (
    ("mp_lamb_update_phase2", always, "MXNet leaves the weights in single precision as they are"),
)

#: the same for gradients alone
GRADIENTS = (
    (
        "SequenceLast",
        attribute("use_sequence_length", False, None),
        "MXNet's gradient without lengths goes to the wrong places, or ends its process",
    ),
    ("LeakyReLU", attribute("act_type", "selu", "rrelu"), "MXNet's slope of selu is wrong"),
    ("SoftmaxActivation", deep, "MXNet's is wrong for more than two dimensions"),
    (
        "SoftmaxOutput",
        attribute("out_grad", True),
        "MXNet multiplies with the output itself in place of the head gradient",
    ),
    ("gamma gammaln", zeros, "at a pole MXNet takes the limit from the other side"),
    ("prod nanprod", zeros, "the product of the others counts; MXNet divides by zero"),
    ("max min", ties, "MXNet gives every one of several extreme elements the whole gradient"),
    ("Pooling_v1", always, "MXNet gives every one of several largest elements the gradient"),
    ("LRN", always, "MXNet's is for float32 only and reads what was not written"),
    ("_power_scalar", attribute("scalar", 0.0), "the slope of x ** 0 is 0; MXNet: NaN at 0"),
    ("_contrib_DeformablePSROIPooling", dtype("float16"), "MXNet rounds in between"),
    ("_contrib_hawkesll", always, "MXNet has none of the counts, nor through those at the end"),
    (
        "_image_flip_left_right _image_flip_top_bottom",
        always,
        "MXNet does not turn the gradient back",
    ),
)


def _by_operator(rules):
    found = {}
    for names, which, why in rules:
        for name in names.split():
            found.setdefault(name, []).append((which, why))
    return found


_DIFFERENCES = _by_operator(DIFFERENCES)
_PARTS = {"states": _by_operator(STATES), "gradients": _by_operator(GRADIENTS)}

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
    said = wanted.get("error")
    if said and any(lack in said[1] for lack in LACKING):
        return "MXNet's CPU build lacks it"
    if whole(asked, wanted) and asked.get("odd") == "empty":
        return "there is no arithmetic of whole numbers in it; MXNet computes nothing of nothing"
    if said and asked.get("odd") == "defaults" and "inferring shapes failed" in said[1]:
        return "without a shape MXNet makes nothing"
    if whole(asked, wanted) and _is_floating(got) and not _is_floating(wanted):
        return "functions of whole numbers give floats; MXNet cuts them off"
    return _found(_DIFFERENCES, asked, wanted)


def excuse_part(part, asked, wanted):
    """Why our states, or gradients, may differ from those wanted, or None if they may not."""
    return _found(_PARTS.get(part, {}), asked, wanted)


def _found(rules, asked, wanted):
    return next((why for which, why in rules.get(asked["name"], ()) if which(asked, wanted)), None)


def _is_floating(answer):
    """Whether all outputs of an answer are floats."""
    if not answer or "outputs" not in answer:
        return False
    return all(values[0].startswith("float") for _, values in answer["outputs"])
