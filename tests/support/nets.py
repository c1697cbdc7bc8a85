"""Networks of many kinds, written for ``mx`` of either library, with parameters of fixed values.

The real MXNet's process imports this too, so nothing of this project is imported here.
"""

import zlib

import numpy as np

CLASSES = 10
ZOO = {
    "alexnet": 67,
    "vgg11_bn": 32,
    "resnet18_v1": 64,
    "resnet18_v2": 64,
    "resnet50_v1": 64,
    "resnet50_v2": 64,
    "mobilenet0_25": 64,
    "mobilenet_v2_0_25": 64,
    "squeezenet1_1": 64,
    "densenet121": 64,
    "inception_v3": 107,
}
"""Side of the images that a network of the zoo is given; the last pooling is made to fit."""


def mlp(mx):
    """Three dense layers."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="mlp_")
    with net.name_scope():
        net.add(nn.Dense(16, activation="relu"), nn.Dense(16, activation="tanh"))
        net.add(nn.Dense(CLASSES))
    return net


def lenet(mx):
    """Two convolutions with pooling, two dense layers."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="lenet_")
    with net.name_scope():
        net.add(nn.Conv2D(20, 5, activation="tanh"), nn.MaxPool2D(2, 2))
        net.add(nn.Conv2D(50, 5, activation="tanh"), nn.MaxPool2D(2, 2))
        net.add(nn.Flatten(), nn.Dense(50, activation="tanh"), nn.Dense(CLASSES))
    return net


def recurrent(mx, make):
    """An embedding, recurrent layers and a dense layer over all steps."""
    gluon = mx.gluon

    class Language(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.encoder = gluon.nn.Embedding(20, 6)
                self.rnn = make(gluon.rnn)
                self.decoder = gluon.nn.Dense(CLASSES, flatten=False)

        def hybrid_forward(self, F, x):
            return self.decoder(self.rnn(self.encoder(x)))

    return Language(prefix="language_")


def lstm(mx):
    """Two layers of LSTM."""
    return recurrent(mx, lambda rnn: rnn.LSTM(8, 2, layout="NTC", input_size=6))


def gru(mx):
    """GRU in both directions."""
    return recurrent(mx, lambda rnn: rnn.GRU(8, layout="NTC", bidirectional=True, input_size=6))


def lstm_cells(mx):
    """Cells one on top of the other, unrolled."""
    gluon = mx.gluon

    class Unrolled(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.stack = gluon.rnn.HybridSequentialRNNCell()
                with self.stack.name_scope():
                    self.stack.add(gluon.rnn.LSTMCell(7))
                    self.stack.add(gluon.rnn.ResidualCell(gluon.rnn.GRUCell(7)))
                self.output = gluon.nn.Dense(CLASSES)

        def hybrid_forward(self, F, x):
            outputs, _ = self.stack.unroll(5, x, layout="NTC", merge_outputs=True)
            return self.output(outputs)

    return Unrolled(prefix="unrolled_")


def transformer(mx):
    """Attention of two heads with its mask, layer normalization, and a GELU layer."""
    gluon = mx.gluon
    nn = gluon.nn

    class Encoder(gluon.HybridBlock):
        def __init__(self, units, heads, **kwargs):
            super().__init__(**kwargs)
            self._heads, self._size = heads, units // heads
            with self.name_scope():
                self.project = nn.Dense(3 * units, flatten=False, use_bias=False, prefix="qkv_")
                self.mix = nn.Dense(units, flatten=False, prefix="mix_")
                self.norm1 = nn.LayerNorm()
                self.wide = nn.Dense(4 * units, flatten=False, prefix="wide_")
                self.gelu = nn.GELU()
                self.narrow = nn.Dense(units, flatten=False, prefix="narrow_")
                self.norm2 = nn.LayerNorm()
                self.output = nn.Dense(CLASSES, prefix="output_")

        def hybrid_forward(self, F, x):
            parts = F.split(self.project(x), num_outputs=3, axis=-1)
            query, key, value = [self._split(F, part) for part in parts]
            scores = F.batch_dot(query, key, transpose_b=True) / self._size**0.5
            steps = F.contrib.arange_like(x, axis=1)
            later = F.broadcast_lesser(steps.reshape((-1, 1)), steps.reshape((1, -1)))
            scores = F.broadcast_add(scores, (later * -1e9).expand_dims(0))
            seen = F.batch_dot(F.softmax(scores, axis=-1), value)
            seen = seen.reshape((-1, self._heads, 0, 0), reverse=True).transpose((0, 2, 1, 3))
            x = self.norm1(x + self.mix(seen.reshape((0, 0, -3))))
            return self.output(self.norm2(x + self.narrow(self.gelu(self.wide(x)))))

        def _split(self, F, x):
            x = x.reshape((0, 0, self._heads, -1)).transpose((0, 2, 1, 3))
            return x.reshape((-3, 0, 0))

    return Encoder(8, 2, prefix="encoder_")


def conv_cells(mx):
    """Recurrent cells of convolutions, one on top of the other, unrolled."""
    gluon = mx.gluon
    rnn = gluon.contrib.rnn

    class Unrolled(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.stack = gluon.rnn.HybridSequentialRNNCell()
                with self.stack.name_scope():
                    self.stack.add(rnn.Conv2DLSTMCell((2, 5, 5), 3, 3, 3, i2h_pad=1))
                    self.stack.add(rnn.Conv2DGRUCell((3, 5, 5), 2, (1, 3), 3, h2h_dilate=2))
                    self.stack.add(rnn.Conv2DRNNCell((2, 5, 3), 2, 1, 1, activation="relu"))
                self.output = gluon.nn.Dense(CLASSES)

        def hybrid_forward(self, F, x):
            steps = F.split(x, num_outputs=3, axis=1, squeeze_axis=True)
            states = self.stack.begin_state(batch_size=2)
            if not isinstance(x, mx.nd.NDArray):
                states = [F.zeros(state.shape) for state in states]
            self.stack.reset()
            for step in steps:
                out, states = self.stack(step, states)
            return self.output(out)

    return Unrolled(prefix="unrolled_")


def projected(mx):
    """An LSTM with a projection, as a loop over sequences of different lengths."""
    gluon = mx.gluon

    class Looped(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.cell = gluon.contrib.rnn.LSTMPCell(6, 4, input_size=7)
                self.output = gluon.nn.Dense(CLASSES, in_units=20)

        def hybrid_forward(self, F, x):
            unroll = gluon.contrib.rnn.rnn_cell.dynamic_unroll
            begin = [F.zeros((3, 4)), F.zeros((3, 6))]
            lengths = F.arange(3, 6)
            outputs, _ = unroll(self.cell, x, begin, layout="NTC", valid_length=lengths)
            return self.output(outputs)

    return Looped(prefix="looped_")


def shuffled(mx):
    """Layers of contrib: deformable convolutions, pixel shuffling, layers beside one another."""
    nn, contrib = mx.gluon.nn, mx.gluon.contrib
    net = nn.HybridSequential(prefix="shuffled_")
    with net.name_scope():
        net.add(contrib.cnn.DeformableConvolution(8, (3, 3), padding=(1, 1), activation="relu"))
        net.add(contrib.nn.PixelShuffle2D((2, 1)), contrib.nn.SyncBatchNorm())
        beside = contrib.nn.HybridConcurrent(axis=1)
        beside.add(nn.Conv2D(3, 1), contrib.nn.Identity())
        net.add(beside, nn.Flatten(), nn.Dense(CLASSES))
    return net


NETS = {
    "mlp": (mlp, (4, 12)),
    "lenet": (lenet, (2, 1, 28, 28)),
    "lstm": (lstm, "tokens"),
    "gru": (gru, "tokens"),
    "lstm_cells": (lstm_cells, (3, 5, 7)),
    "transformer": (transformer, (2, 5, 8)),
    "conv_cells": (conv_cells, (2, 3, 2, 5, 5)),
    "projected": (projected, (3, 5, 7)),
    "shuffled": (shuffled, (2, 3, 5, 5)),
    **{name: (name, (2, 3, side, side)) for name, side in ZOO.items()},
}
"""Every network: what makes it, and the shape of its input."""


SINGLE = ("lstm_cells", "conv_cells", "projected", "shuffled")
"""Networks that MXNet runs in single precision only."""


def build(mx, name):
    """A network of the table, without randomness in training."""
    make = NETS[name][0]
    if callable(make):
        return make(mx)
    net = getattr(mx.gluon.model_zoo.vision, make)(classes=CLASSES, prefix=name + "_")
    net.apply(_adapt)
    return net


def _adapt(block):
    """No dropout, and a last pooling that fits small images."""
    kind = type(block).__name__
    if kind == "Dropout":
        block._rate = 0
    elif kind == "AvgPool2D" and block._kwargs["kernel"] in [(7, 7), (8, 8), (13, 13)]:
        block._kwargs.update(kernel=(2, 2), stride=(2, 2))


def data(name):
    """The input of a network."""
    shape = NETS[name][1]
    if shape == "tokens":
        return np.random.RandomState(1).randint(0, 20, (3, 6)).astype("float32")
    return np.random.RandomState(1).uniform(-1, 1, shape)


def fill(mx, net):
    """Give every parameter values that follow from its name."""
    for name, param in net._collect_params_with_prefix().items():
        draw = np.random.RandomState(zlib.crc32(name.encode()))
        shape = param.shape
        if name.endswith(("gamma", "running_var")):
            values = draw.uniform(0.5, 1.5, shape)
        elif len(shape) == 1:
            values = draw.uniform(-0.1, 0.1, shape)
        else:
            values = draw.uniform(-1, 1, shape) * (6.0 / np.prod(shape[1:])) ** 0.5
        param.set_data(mx.nd.array(values, dtype=param.dtype))


def ready(mx, name, dtype):
    """A network with its parameters in ``dtype``, after one forward pass, and its input."""
    net = build(mx, name)
    net.initialize()
    net.cast(dtype)
    x = mx.nd.array(data(name), dtype=dtype)
    net(x)
    fill(mx, net)
    return net, x


def run(mx, net, x):
    """Outputs when predicting and when training, gradients, and moved running averages."""
    result = {"predicted": net(x)}
    tokens = hasattr(net, "encoder")  # numbers of words have no gradient
    if not tokens:
        x.attach_grad()
    with mx.autograd.record():
        out = net(x)
    head = np.random.RandomState(2).uniform(-1, 1, out.shape)
    out.backward(mx.nd.array(head, dtype=out.dtype))
    result["trained"] = out
    if not tokens:
        result["gradient of the input"] = x.grad
    for name, param in net._collect_params_with_prefix().items():
        if param.grad_req != "null":
            result["gradient of " + name] = param.grad()
        elif "running" in name:
            result["moved " + name] = param.data()
    return result


def trainer(mx, net, optimizer):
    """A trainer for a network, with settings that need states."""
    settings = {"learning_rate": 0.05, "wd": 0.01}
    if optimizer == "sgd":
        settings["momentum"] = 0.9
    return mx.gluon.Trainer(net.collect_params(), optimizer, settings)


def train(mx, net, made, x, steps):
    """Some steps that make the outputs smaller."""
    for _ in range(steps):
        with mx.autograd.record():
            loss = mx.nd.square(net(x)).sum()
        loss.backward()
        made.step(len(x))


def sample(results):
    """A few numbers of the results: outputs of the first row, sums of gradients with weights."""
    kept = {}
    gradients = [name for name in results if name.startswith("gradient")]
    for name in ("predicted", "trained", *gradients[:1], *gradients[-2:]):
        values = results[name].asnumpy().ravel()
        if name in gradients:
            values = np.array([values @ np.cos(np.arange(values.size)), np.abs(values).sum()])
        kept[name] = [float(f"{value:.10g}") for value in values[:CLASSES]]
    return kept
