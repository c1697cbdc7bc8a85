"""What symbols, their gradients and executors answer, one line for each question."""

import copy
import json

import mxnet as mx
import numpy as np

S = mx.sym


def ordered(value):
    """The same with sorted keys, and short numbers."""
    if isinstance(value, dict):
        return {k: ordered(value[k]) for k in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [ordered(v) for v in value]
    if isinstance(value, float):
        return round(value, 3) + 0.0
    return value.__name__ if isinstance(value, type) else value


def t(question, ask):
    try:
        print(question.replace(" ", "_"), ordered(ask()))
    except Exception as error:
        kinds = [
            c.__name__ for c in type(error).__mro__ if c in (ValueError, TypeError, KeyError, IndexError)
        ]
        print(question.replace(" ", "_"), "raises", *(kinds or ["MXNetError"]))


x, y = S.var("x"), S.var("y")
t(
    "attr json",
    lambda: json.loads(S.FullyConnected(x, num_hidden=2, name="f", lr_mult=0.5).tojson())["nodes"][-1],
)
with mx.AttrScope(force_mirroring="1", ctx_group="z"):
    q = S.BatchNorm(S.Convolution(x, kernel=(1, 1), num_filter=2, name="c"), name="b")
t("attr_dict bn", lambda: q.attr_dict())
t("vars in group", lambda: S.Group([x, y, x]).list_arguments())
t("dup outs", lambda: S.Group([x, x])["x"])
t(
    "copy indep",
    lambda: (lambda a, b: (b._set_attr(__m__="1"), a.attr("__m__"), b.attr("__m__")))(
        x + 1, copy.copy(x + 1)
    ),
)
t("deep", lambda: copy.deepcopy(q).list_auxiliary_states())
t("internals outs", lambda: q.get_internals().list_outputs())
t("children bn", lambda: q.get_children().list_outputs())
t("infer aux", lambda: q.infer_shape(x=(1, 3, 4, 4)))
t("infer type aux", lambda: q.infer_type(x="float16"))
t("bn fix", lambda: S.BatchNorm(x, name="b2", fix_gamma=False).list_attr())


def ev(s, **k):
    return [o.asnumpy().tolist() for o in s.eval(**k)]


A = mx.nd.array([[1.0, 2], [3, 4]])
t("eval grp", lambda: ev(S.Group([x + 1, x * y, S.sum(x)]), x=A, y=A * 2))
t("eval ctx", lambda: ev(x + y, ctx=mx.cpu(0), x=A, y=A))
t("slice sym", lambda: ev(S.SliceChannel(x, num_outputs=2, squeeze_axis=1)[1], x=A))
t("where", lambda: ev(S.where(x > 2, x, -x), x=A))
t("cmp", lambda: ev(S.Group([x > y, x >= 2, x == y, x != 1, x < y, x <= 3]), x=A, y=A.T))
t("mod", lambda: ev(S.Group([x % 2, 5 % x, x % y]), x=A, y=A + 1))
t("pow", lambda: ev(S.Group([x**2, 2**x, x**y]), x=A, y=A))
t("neg", lambda: ev(S.Group([-x, abs(-x), 1 - x, 2 / x]), x=A))
t("hyp", lambda: ev(S.Group([S.hypot(x, 3), S.maximum(x, 2.5), S.minimum(2.5, x), S.pow(x, 2)]), x=A))


def g(sym, heads=None, req="write", **k):
    e = sym.simple_bind(mx.cpu(), grad_req=req, **{n: v.shape for n, v in k.items()})
    for n, v in k.items():
        e.arg_dict[n][:] = v
    e.forward(is_train=True)
    e.backward(heads)
    return {n: (None if v is None else v.asnumpy().tolist()) for n, v in e.grad_dict.items()}


t("grad mul", lambda: g(x * y + x, [mx.nd.ones((2, 2))], x=A, y=A * 2))
t("grad shared", lambda: g(S.dot(x, x), mx.nd.ones((2, 2)), x=A))
t("grad block", lambda: g(S.BlockGrad(x) * y, mx.nd.ones((2, 2)), x=A, y=A))
t(
    "grad multi head",
    lambda: g(S.Group([x * 2, y * x]), [mx.nd.ones((2, 2)), mx.nd.ones((2, 2)) * 3], x=A, y=A),
)
t("grad none head", lambda: g(S.Group([S.MakeLoss(x * 2), S.BlockGrad(y)]), None, x=A, y=A))
t("unused", lambda: g(S.Group([S.MakeLoss(x), S.BlockGrad(y)]), None, x=A, y=A))
t("makeloss scale", lambda: g(S.MakeLoss(x, grad_scale=3.0, normalization="batch"), None, x=A))
t(
    "softmaxout",
    lambda: g(
        S.SoftmaxOutput(x, y, grad_scale=2.0, use_ignore=True, ignore_label=1, normalization="valid"),
        None,
        x=A,
        y=mx.nd.array([0, 1]),
    ),
)
t("svm", lambda: g(S.SVMOutput(x, y), None, x=A, y=mx.nd.array([0, 1])))
t("custom head scale", lambda: g(S.LinearRegressionOutput(x, y, grad_scale=0.5), None, x=A, y=A * 0))


def drop():
    e = S.Dropout(x, p=0.5).simple_bind(mx.cpu(), x=(200,))
    e.arg_dict["x"][:] = 1
    o = e.forward(is_train=True)[0].asnumpy()
    p = e.forward(is_train=False)[0].asnumpy()
    return sorted(set(o.tolist())), set(p.tolist())


t("drop", drop)


def outs():
    e = (x * 2).simple_bind(mx.cpu(), x=(2,))
    o = e.outputs[0]
    e.forward(x=np.ones(2))
    a = e.outputs[0]
    b = e.forward(x=np.ones(2) * 5)[0]
    return a.asnumpy().tolist(), b.asnumpy().tolist(), o.shape


t("outs", outs)
