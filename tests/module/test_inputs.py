"""minigluon/module/inputs.py."""

import minigluon as mx
from minigluon.module.inputs import joined, labels_of_losses, shapes_of


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
    data = [mx.io.DataDesc("x", (9, 4, 5), layout="TNC")]
    label = [mx.io.DataDesc("y", (4, 7), layout="NT")]
    batch = mx.io.DataBatch([mx.nd.zeros((9, 2, 5))], [mx.nd.zeros((2, 7))])
    [x], [y] = shapes_of(batch, data, label)
    assert (x.name, x.shape, x.layout) == ("x", (9, 2, 5), "TNC")
    assert (y.name, y.shape, y.layout) == ("y", (2, 7), "NT")


def test_a_label_that_is_missing_gets_the_batch_size_of_the_data():
    data = [mx.io.DataDesc("x", (9, 4, 5), layout="TNC")]
    label = [mx.io.DataDesc("y", (4, 7), layout="NT")]
    _, [y] = shapes_of(mx.io.DataBatch([mx.nd.zeros((9, 2, 5))]), data, label)
    assert y.shape == (2, 7)


def test_a_batch_may_declare_its_shapes():
    bound = [mx.io.DataDesc("x", (4, 5))]
    declared = [("x", (2, 5))]
    batch = mx.io.DataBatch([mx.nd.zeros((2, 5))], provide_data=declared)
    assert shapes_of(batch, bound, None) == (declared, None)


def test_parts_are_joined_along_the_axis_of_the_batch():
    parts = [mx.io.DataBatch([mx.nd.ones((3, n, 2)) * n], [mx.nd.ones((n,))]) for n in (1, 2)]
    whole = joined(parts, [1], [0])
    assert whole.data[0].shape == (3, 3, 2)
    assert whole.data[0].asnumpy()[0, :, 0].tolist() == [1.0, 2.0, 2.0]
    assert whole.label[0].shape == (3,)
