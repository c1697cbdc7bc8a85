"""minigluon/module/inputs.py."""

import minigluon as mx
from minigluon.module.inputs import described, labels_of_losses, of_batch


def test_the_labels_of_loss_heads_are_found_whatever_their_name():
    data = mx.sym.Variable("data")
    heads = mx.sym.Group(
        [
            mx.sym.SoftmaxOutput(data, name="softmax"),
            mx.sym.LinearRegressionOutput(data, mx.sym.Variable("y"), name="lro"),
            mx.sym.LogisticRegressionOutput(data, mx.sym.Variable("z") * 2, name="other"),
        ]
    )
    assert labels_of_losses(heads) == {"softmax_label", "y"}


def test_descriptions_follow_the_arrays_of_a_batch():
    bound = [mx.io.DataDesc("data", (4, 5), layout="NC")]
    [desc] = described(bound, [mx.nd.zeros((2, 5))])
    assert (desc.name, desc.shape, desc.layout) == ("data", (2, 5), "NC")


def test_a_label_gets_the_batch_size_of_the_data():
    label = of_batch(
        mx.io.DataDesc("y", (4, 7), layout="NT"), mx.io.DataDesc("x", (9, 2, 5), layout="TNC")
    )
    assert label.shape == (2, 7)
