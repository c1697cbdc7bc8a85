"""What modules on several contexts and with many optimizers answer, one line for each question."""

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


C = [mx.cpu(0), mx.cpu(1)]
rng = np.random.RandomState(0)
R = lambda *s: mx.nd.array(rng.uniform(-0.5, 0.5, s))


def sums(d):
    return {k: round(float(np.abs(v.asnumpy()).sum()), 4) for k, v in d.items()}


# group2ctxs
with mx.AttrScope(ctx_group="a"):
    h = S.FullyConnected(S.var("data"), num_hidden=4, name="fa")
with mx.AttrScope(ctx_group="b"):
    o = S.SoftmaxOutput(S.FullyConnected(h, num_hidden=2, name="fb"), name="softmax")
B = lambda n=4: mx.io.DataBatch(
    [mx.nd.array(np.arange(n * 3).reshape(n, 3) * 0.1)], [mx.nd.array(np.arange(n) % 2)]
)
P = {"fa_weight": R(4, 3), "fa_bias": R(4), "fb_weight": R(2, 4), "fb_bias": R(2)}


def run(**kw):
    m = mx.mod.Module(o, **kw)
    m.bind([("data", (4, 3))], [("softmax_label", (4,))])
    m.init_params(arg_params=P, aux_params={})
    m.init_optimizer(optimizer_params={"learning_rate": 0.5})
    for _ in range(2):
        m.forward_backward(B())
        m.update()
    return sums(m.get_params()[0]), m.get_outputs()[0].asnumpy().tolist()


t("one", run)
t("two", lambda: run(context=C))
t("load", lambda: run(context=C, work_load_list=[3, 1]))
t("g2", lambda: run(context=mx.cpu(), group2ctxs={"a": mx.cpu(0), "b": mx.cpu(0)}))
t("g2l", lambda: run(context=C, group2ctxs=[{"a": C[0], "b": C[0]}, {"a": C[1], "b": C[1]}]))
t("g2dl", lambda: run(context=C, group2ctxs={"a": C, "b": [C[0], C[1]]}))
t("g2 bad", lambda: run(context=C, group2ctxs={"a": [C[0]] * 3}))
t("g2 bad2", lambda: run(context=C, group2ctxs=[{}]))
t("g2 bad3", lambda: run(context=C, group2ctxs=5))
t("wl bad", lambda: run(context=C, work_load_list=[1]))
# TNC layout over two contexts
data = S.var("data", __layout__="TNC")
rn = S.sum(data, axis=2, keepdims=True) * S.var("w", shape=(1, 1, 1), init="ones")
rn._set_attr(__layout__="TNC") if False else None
cell = mx.rnn.RNNCell(3, prefix="c_")
outs, _ = cell.unroll(2, S.var("data"), layout="TNC", merge_outputs=True)
outs._set_attr(__layout__="TNC")


def tnc():
    m = mx.mod.Module(outs, label_names=None, context=C)
    m.bind([mx.io.DataDesc("data", (2, 4, 5), layout="TNC")])
    m.init_params(
        arg_params={"c_i2h_weight": R(3, 5), "c_i2h_bias": R(3), "c_h2h_weight": R(3, 3), "c_h2h_bias": R(3)},
        aux_params={},
    )
    m.forward(mx.io.DataBatch([mx.nd.array(np.arange(40).reshape(2, 4, 5) * 0.01)]), is_train=True)
    q = m.get_outputs()[0]
    m.backward([mx.nd.ones(q.shape)])
    return (
        q.shape,
        round(float(q.asnumpy().sum()), 4),
        [[g.shape for g in gs] for gs in m._exec_group.grad_arrays][0],
        m.output_shapes,
    )


rng = np.random.RandomState(0)
t("tnc", tnc)


# states
def states():
    x = S.var("data")
    st = S.var("state")
    y = S.tanh(S.FullyConnected(x, num_hidden=3, name="f") + st)
    m = mx.mod.Module(S.Group([y, S.BlockGrad(y)]), state_names=["state"], label_names=None, context=C)
    m.bind([("data", (4, 2))], for_training=False)
    m.init_params(arg_params={"f_weight": mx.nd.ones((3, 2)), "f_bias": mx.nd.zeros(3)}, aux_params={})
    m.set_states(value=0.5)
    b = mx.io.DataBatch([mx.nd.ones((4, 2)) * 0.1])
    m.forward(b)
    a = m.get_outputs(merge_multi_context=False)[1]
    m.set_states(states=[a])
    m.forward(b)
    return m.get_outputs()[0].asnumpy().tolist(), [
        [s.shape for s in z] for z in m.get_states(merge_multi_context=False)
    ]


t("states", states)


def addreq():
    m = mx.mod.Module(o)
    m.bind([("data", (4, 3))], [("softmax_label", (4,))], grad_req="add")
    m.init_params(arg_params=P, aux_params={})
    for _ in range(3):
        m.forward_backward(B())
    return [round(float(np.abs(g[0].asnumpy()).sum()), 4) for g in m._exec_group.grad_arrays]


t("add", addreq)


def fixed():
    m = mx.mod.Module(o, fixed_param_names=["fa_weight", "fa_bias"])
    m.bind([("data", (4, 3))], [("softmax_label", (4,))], inputs_need_grad=True)
    m.init_params(arg_params=P, aux_params={})
    m.init_optimizer()
    m.forward_backward(B())
    m.update()
    return (
        sums(m.get_params()[0]),
        round(float(np.abs(m.get_input_grads()[0].asnumpy()).sum()), 4),
        [g[0] is None for g in m._exec_group.grad_arrays],
    )


t("fixed", fixed)


def shared():
    a = mx.mod.Module(o)
    a.bind([("data", (4, 3))], [("softmax_label", (4,))])
    a.init_params(arg_params=P, aux_params={})
    a.init_optimizer(optimizer_params={"learning_rate": 0.5})
    b = mx.mod.Module(o)
    b.bind([("data", (2, 3))], [("softmax_label", (2,))], shared_module=a)
    b.borrow_optimizer(a)
    b.forward_backward(B(2))
    b.update()
    return sums(a.get_params()[0]), sums(b.get_params()[0]), b.params_initialized


t("shared", shared)


def opts(o_, kw):
    m = mx.mod.Module(o)
    m.bind([("data", (4, 3))], [("softmax_label", (4,))])
    m.init_params(arg_params=P, aux_params={})
    m.init_optimizer(optimizer=o_, optimizer_params=kw)
    for _ in range(3):
        m.forward_backward(B())
        m.update()
    return sums(m.get_params()[0]), m._optimizer.rescale_grad


for n, kw in dict(
    sgd={"wd": 0.1},
    nag={"momentum": 0.9},
    adam={},
    rmsprop={},
    adagrad={},
    adadelta={},
    ftrl={},
    signum={},
    adamax={},
    nadam={},
    ftml={},
    lamb={},
    dcasgd={},
).items():
    t("opt " + n, lambda: opts(n, kw))
t(
    "mults",
    lambda: (
        lambda m: (
            m.bind([("data", (4, 3))], [("softmax_label", (4,))]),
            m.init_params(arg_params=P, aux_params={}),
            m.init_optimizer(),
            m._optimizer.wd_mult,
            m._optimizer.lr_mult,
            m._optimizer.idx2name,
            m._optimizer.rescale_grad,
        )
    )(mx.mod.Module(o))[3:],
)
with mx.AttrScope(__lr_mult__="0.5", __wd_mult__="2.0"):
    o2 = S.SoftmaxOutput(S.FullyConnected(S.var("data"), num_hidden=2, name="f"), name="softmax")
t(
    "mults2",
    lambda: (
        lambda m: (
            m.bind([("data", (4, 3))], [("softmax_label", (4,))]),
            m.init_params(),
            m.init_optimizer(),
            m._optimizer.wd_mult,
            m._optimizer.lr_mult,
        )
    )(mx.mod.Module(o2))[3:],
)


def metrics():
    m = mx.mod.Module(o, context=C)
    m.bind([("data", (4, 3))], [("softmax_label", (4,))])
    m.init_params(arg_params=P, aux_params={})
    r = []
    for n in (
        "acc",
        "ce",
        "nll_loss",
        "mse",
        "mae",
        "rmse",
        "perplexity",
        "top_k_accuracy",
        "f1",
        "mcc",
        "loss",
        "pcc",
    ):
        kw = {"top_k": 2} if n == "top_k_accuracy" else {"ignore_label": None} if n == "perplexity" else {}
        try:
            k = mx.metric.create(n, **kw)
            m.forward(B(), is_train=False)
            m.update_metric(k, B().label)
            r.append((n, float(k.get()[1])))
        except Exception as e:
            r.append((n, type(e).__name__))
    return r


t("metrics", metrics)
