"""Where our answers differ from MXNet's on purpose, and why."""


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
    text = asked["inputs"][0][2]
    size = {"float16": 4, "float32": 8, "float64": 16}[asked["inputs"][0][0]]
    numbers = [text[k : k + size] for k in range(0, len(text), size)]
    return len(set(numbers)) < len(numbers)


#: operator -> (which questions, why the answers differ)
DIFFERENCES = {
    "Embedding": (refused, "MXNet refuses sparse_grad=True into a dense gradient; it is added up"),
    "_contrib_SparseEmbedding": (refused, "MXNet refuses to give a dense gradient"),
    "FullyConnected": (refused, "MXNet has no float16 product on the CPU"),
    "dot": (refused, "MXNet has no float16 product on the CPU"),
    "batch_dot": (refused, "MXNet has no float16 product on the CPU"),
    "LeakyReLU": (attribute("act_type", "selu"), "MXNet's slope of selu below zero is wrong"),
    "SoftmaxActivation": (refused, "MXNet computes it in float32 only"),
    "SoftmaxOutput": (
        attribute("out_grad", True),
        "MXNet multiplies the gradient with the output itself in place of the head gradient",
    ),
    "softmax": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "log_softmax": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "softmin": (refused, "MXNet refuses lengths for an axis counted from the end"),
    "_sparse_adagrad_update": (refused, "MXNet has no dense step"),
    "adam_update": (refused, "MXNet wants states of one storage"),
    "ftrl_update": (refused, "MXNet wants states of one storage"),
    "sgd_mom_update": (refused, "MXNet wants a state stored as the weight"),
    "Concat": (refused, "MXNet has no gradient of joined csr arrays"),
    "_sparse_retain": (refused, "MXNet retains rows of row_sparse arrays only"),
    "_square_sum": (refused, "MXNet has no dense kernel"),
    "amp_cast": (refused, "MXNet's CPU build refuses float16 and float64"),
    "amp_multicast": (refused, "MXNet's CPU build refuses float16 and float64"),
    "argmax_channel": (refused, "MXNet has no gradient, here it is zero as that of argmax"),
    "max": (ties, "MXNet gives every one of several largest elements the whole gradient"),
    "min": (ties, "MXNet gives every one of several smallest elements the whole gradient"),
    "tile": (refused, "MXNet cannot add up the gradient over so many axes"),
}


def excuse(asked, wanted):
    """Why our answer may differ from the one wanted, or None if it may not."""
    which, why = DIFFERENCES.get(asked["name"], (None, None))
    return why if which is not None and which(asked, wanted) else None
