"""A tour of sparse symbols: variables with a storage type, inference, fallback, inspection.

Every stop prints what it shows, and the comment behind it says what is printed.
"""

import os

import numpy as np

import minigluon as mx

SHAPE = (2, 2)


def variables():
    """A variable says which storage it is made for; data come when it is bound."""
    a = mx.sym.Variable("a")  # dense
    b = mx.sym.Variable("b", stype="csr")
    c = mx.sym.Variable("c", stype="row_sparse")
    print((a, b, c))  # (<Symbol a>, <Symbol b>, <Symbol c>)
    return a, b, c


def binding(b, c):
    """``simple_bind`` makes zeros of the declared storage; ``arg_dict`` lets one replace them."""
    b_exec = b.simple_bind(ctx=mx.cpu(), b=SHAPE)
    c_exec = c.simple_bind(ctx=mx.cpu(), c=SHAPE)
    b_exec.forward()
    c_exec.forward()
    print(b_exec.outputs, c_exec.outputs)
    # [
    # <CSRNDArray 2x2 @cpu(0)>] [
    # <RowSparseNDArray 2x2 @cpu(0)>]

    b_exec.arg_dict["b"][:] = mx.nd.ones(SHAPE).tostype("csr")
    b_exec.forward()
    eval_b = b_exec.outputs[0]
    print({"eval_b": eval_b, "eval_b.asnumpy()": eval_b.asnumpy()})
    # {'eval_b':
    # <CSRNDArray 2x2 @cpu(0)>, 'eval_b.asnumpy()': array([[1., 1.],
    #        [1., 1.]], dtype=float32)}
    assert eval_b.stype == "csr"
    assert (eval_b.asnumpy() == 1).all()


def composition(a, b, c):
    """Operators are composed as on dense symbols."""
    d = mx.sym.elemwise_add(a, a)
    e = mx.sym.sparse.negative(b)
    f = mx.sym.sparse.elemwise_add(c, c)
    print({"d": d, "e": e, "f": f})
    # {'d': <Symbol elemwise_add0>, 'e': <Symbol negative0>, 'f': <Symbol elemwise_add1>}
    return d, e, f


def inference(d, e, f):
    """The storage of an output follows from the storages of the inputs."""
    add_exec = mx.sym.Group([d, e, f]).simple_bind(ctx=mx.cpu(), a=SHAPE, b=SHAPE, c=SHAPE)
    add_exec.forward()
    dense_add, csr_add, rsp_add = add_exec.outputs
    stypes = {
        "dense_add.stype": dense_add.stype,
        "csr_add.stype": csr_add.stype,
        "rsp_add.stype": rsp_add.stype,
    }
    print(stypes)
    # {'dense_add.stype': 'default', 'csr_add.stype': 'csr', 'rsp_add.stype': 'row_sparse'}
    assert list(stypes.values()) == ["default", "csr", "row_sparse"]


def fallback(a, b, c):
    """What has no sparse result gives a dense one.

    MXNet runs these two on dense copies and warns of a fallback. Here they have kernels that read
    the stored values. An operator without one warns once, too, unless
    ``MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0``.
    """
    csr_log = mx.sym.log(a)
    csr_rsp_add = mx.sym.elemwise_add(b, c)
    fallback_exec = mx.sym.Group([csr_rsp_add, csr_log]).simple_bind(
        ctx=mx.cpu(), a=SHAPE, b=SHAPE, c=SHAPE
    )
    fallback_exec.forward()
    fallback_add, fallback_log = fallback_exec.outputs
    print({"fallback_add": fallback_add, "fallback_log": fallback_log})
    # {'fallback_add':
    # [[0. 0.]
    #  [0. 0.]]
    # <NDArray 2x2 @cpu(0)>, 'fallback_log':
    # [[-inf -inf]
    #  [-inf -inf]]
    # <NDArray 2x2 @cpu(0)>}
    assert fallback_add.stype == fallback_log.stype == "default"
    assert np.isneginf(fallback_log.asnumpy()).all()


def inspection():
    """With the setting on, binding writes every node's dispatch mode and storages to stderr."""
    os.environ["MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING"] = "1"
    data = mx.sym.var("data", stype="csr", shape=(32, 10000))
    weight = mx.sym.var("weight", stype="row_sparse", shape=(10000, 2))
    bias = mx.symbol.Variable("bias", shape=(2,))
    dot = mx.symbol.sparse.dot(data, weight)
    pred = mx.symbol.broadcast_add(dot, bias)
    y = mx.symbol.Variable("label")
    output = mx.symbol.SoftmaxOutput(data=pred, label=y, name="output")
    executor = output.simple_bind(ctx=mx.cpu())
    # Among the lines on stderr: `node 2 dot: fcompute_ex`, and under it `input 0: csr`,
    # `input 1: row_sparse`, `output 2: default`.
    del os.environ["MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING"]
    print({name: grad.stype for name, grad in executor.grad_dict.items() if grad is not None})
    # {'data': 'default', 'weight': 'row_sparse', 'bias': 'default', 'label': 'default'}
    assert executor.grad_dict["weight"].stype == "row_sparse"


def main():
    mx.random.seed(42)
    a, b, c = variables()
    binding(b, c)
    inference(*composition(a, b, c))
    fallback(a, b, c)
    inspection()


if __name__ == "__main__":
    main()
