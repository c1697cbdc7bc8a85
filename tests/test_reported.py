"""Cases from bug reports against MXNet that concern symbols, modules and old programs.

The number at the end of a name is the row in the project's list of such reports.
"""

import subprocess
import sys
import textwrap
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd, sym

ROOT = Path(mx.__file__).parents[1]
Batch = namedtuple("Batch", ["data", "label"])


def classifier():
    return sym.SoftmaxOutput(
        sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="softmax"
    )


def trained(steps, module=None):
    """A module after some steps of SGD with momentum on fixed data."""
    if module is None:
        module = mx.mod.Module(classifier())
    module.bind([("data", (4, 2))], [("softmax_label", (4,))])
    start = {
        "fc_weight": nd.array([[0.1, -0.2], [0.3, 0.0], [-0.1, 0.2]]),
        "fc_bias": nd.zeros(3),
    }
    if not module.params_initialized:
        module.init_params(arg_params=start, aux_params={})
    module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    batch = Batch([nd.array([[1, 2], [3, 4], [-1, 0], [0, 1]])], [nd.array([0, 1, 2, 1])])
    for _ in range(steps):
        module.forward_backward(batch)
        module.update()
    return module


@pytest.mark.slow
def test_training_goes_on_from_saved_optimizer_states_27(tmp_path):
    prefix = str(tmp_path / "net")
    straight = trained(4).get_params()[0]
    trained(2).save_checkpoint(prefix, 2, save_optimizer_states=True)
    again = trained(2, mx.mod.Module.load(prefix, 2, load_optimizer_states=True)).get_params()[0]
    for name, value in straight.items():
        np.testing.assert_array_equal(again[name].asnumpy(), value.asnumpy())


@pytest.mark.parametrize("label_names", [None, ["softmax_label"], []])
def test_inference_needs_no_label_28(tmp_path, label_names):
    prefix = str(tmp_path / "net")
    trained(1).save_checkpoint(prefix, 1)
    symbol, args, aux = mx.model.load_checkpoint(prefix, 1)
    module = mx.mod.Module(symbol, label_names=label_names)
    module.bind([("data", (1, 2))], for_training=False)
    module.set_params(args, aux)
    module.forward(Batch([nd.array([[1, 2]])], None))
    assert module.get_outputs()[0].asnumpy().sum() == pytest.approx(1, abs=1e-6)


def test_scoring_twice_agrees_and_scoring_nothing_is_nan_31():
    module = trained(1)
    data = mx.io.NDArrayIter(np.ones((8, 2), "f"), np.zeros(8, "f"), 4)
    first, second = (module.score(data, "acc")[0][1] for _ in range(2))
    assert first == second
    assert np.isnan(module.score(data, "acc", reset=False)[0][1])


@pytest.mark.parametrize("axis", [-1, 0])
def test_an_output_does_not_depend_on_who_else_is_asked_for_61(axis):
    data = np.array([[1, 2, 3], [4, 5, 6]], "f")
    wanted = {1: data.mean(axis, keepdims=True), 2: data.std(axis, keepdims=True)}
    whole = sym.LayerNorm(sym.var("x"), output_mean_var=True, axis=axis, name="ln")
    size = data.shape[axis]
    for k, value in wanted.items():
        got = whole[k].eval(x=nd.array(data), ln_gamma=nd.ones(size), ln_beta=nd.zeros(size))[0]
        np.testing.assert_allclose(got.asnumpy().ravel(), value.ravel(), rtol=1e-3)


@pytest.mark.parametrize("operator", ["GroupNorm", "InstanceNorm", "BatchNorm", "LayerNorm"])
@pytest.mark.parametrize("name", ["gamma", "beta"])
def test_a_wrong_scale_is_found_by_inference_62(operator, name):
    extra = {"num_groups": 3} if operator == "GroupNorm" else {}
    net = getattr(sym, operator)(sym.var("data"), name="norm", **extra)
    with pytest.raises(MXNetError, match=rf"norm(.|\n)*{name}(.|\n)*\(99,\)"):
        net.infer_shape(data=(2, 3, 4), **{f"norm_{name}": (99,)})


@pytest.mark.slow
def test_mistakes_are_found_with_and_without_assertions_82():
    program = textwrap.dedent("""
        import minigluon as mx
        from minigluon import gluon
        makers = [
            lambda: mx.lr_scheduler.LRScheduler(warmup_steps=1.5),
            lambda: gluon.data.ArrayDataset([1], [2, 3]),
            lambda: gluon.nn.LeakyReLU(-0.1),
            lambda: gluon.Parameter("p", grad_req="bogus"),
            lambda: gluon.nn.Conv2D(1, 1, layout="BAD"),
            lambda: mx.lr_scheduler.MultiFactorScheduler(step=()),
            lambda: mx.rnn.RNNCell(2).unroll(2, [mx.sym.var("a")]),
            lambda: mx.contrib.text.vocab.Vocabulary(min_freq=0),
        ]
        for make in makers:
            try:
                make()
            except (ValueError, TypeError, AssertionError) as error:
                print(type(error).__name__, str(error)[:20])
            else:
                print("accepted")
    """)
    runs = [
        subprocess.run(
            [sys.executable, *option, "-c", program],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        ).stdout.splitlines()
        for option in ([], ["-O"])
    ]
    assert runs[0] == runs[1]
    assert "accepted" not in runs[0]
    assert all(len(line.split(maxsplit=1)) == 2 for line in runs[0])


def test_an_unknown_backend_is_named_83():
    with pytest.raises(MXNetError, match=r"definitely_missing(.|\n)*none is registered"):
        sym.relu(sym.var("x")).get_backend_symbol("definitely_missing")


@pytest.mark.parametrize("argument", ["out", "name", "attr"])
def test_arguments_of_custom_operators_may_have_any_name_87(argument):
    class Prop(mx.operator.CustomOpProp):
        def list_arguments(self):
            return [argument]

    mx.operator.register(f"reported_{argument}")(Prop)
    made = sym.Custom(op_type=f"reported_{argument}", **{argument: sym.var("x")})
    assert made.list_arguments() == ["x"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mx.mod.Module(5), "Module: this is no symbol"),
        (lambda: sym.var(5), "Expect a string for variable `name`"),
        (lambda: sym.Group([]), "Expected a list of symbols"),
        (lambda: sym.Group([5]), "Expected a list of symbols"),
        (lambda: mx.kv.create(5), "name must be a string"),
        (lambda: mx.optimizer.SGD(learning_rate="x"), "SGD: learning_rate must be a number"),
        (lambda: sym.var("x")[1.5], "integer index"),
        (lambda: sym.FullyConnected(sym.var("x"), num_hidden=1)(sym.var("a"), b=sym.var("b")),
         "either as positional or keyword"),
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_type_are_type_errors_that_say_what_to_do(make, words):
    with pytest.raises(TypeError, match=words) as told:
        make()
    assert isinstance(told.value, MXNetError)
    assert len(str(told.value).splitlines()) == 4


def test_rates_that_a_subclass_of_an_optimizer_gives_are_those_it_steps_by():
    """As a Keras on MXNet has it: mixed in before the optimizer, with updates one by one."""

    class Rates(mx.optimizer.Optimizer):
        def _get_lr(self, index):
            return 0.5

        def _get_lrs(self, indices):
            return [0.5 for _ in range(self.aggregate_num)]

    class Own(Rates, mx.optimizer.SGD):
        def __init__(self):
            mx.optimizer.SGD.__init__(self, learning_rate=0.1)
            self.aggregate_num = 0

    update = mx.optimizer.get_updater(Own())
    weights = [nd.ones((2,)) for _ in range(6)]
    update(list(range(6)), [nd.ones((2,)) for _ in range(6)], weights)
    assert [w.asnumpy().tolist() for w in weights] == [[0.5, 0.5]] * 6
