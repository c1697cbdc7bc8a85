"""Networks of the zoo have MXNet's structure; digests of it were recorded from MXNet 1.9.1."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from minigluon import MXNetError, autograd, gluon, init, name, nd, sym
from minigluon.gluon.model_zoo import vision

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "model_zoo.json").read_text())


def digest(value):
    return hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def described(param):
    init = param.init if isinstance(param.init, str | None) else param.init.dumps()
    return [param.name, list(param.shape), param.grad_req, init]


@pytest.mark.parametrize("maker", RECORDED)
def test_names_shapes_and_graph_of_a_network_are_those_of_mxnet(maker):
    with name.NameManager():
        net = getattr(vision, maker)(classes=10)
        graph = json.loads(net(sym.var("data")).tojson())
    params = [described(param) for param in net.collect_params().values()]
    assert {
        "parameters": digest(params),
        "paths": digest(list(net._collect_params_with_prefix())),
        "graph": digest(graph["nodes"]),
        "repr": digest(repr(net)),
        "count": len(params),
    } == RECORDED[maker]


def test_get_model_knows_every_network_by_its_published_name():
    made = {maker.__name__ for maker in vision.models.values()}
    assert made == set(RECORDED)
    assert type(vision.get_model("ResNet18_V1", classes=3)) is vision.ResNetV1


def test_get_model_lists_the_names_there_are():
    with pytest.raises(
        ValueError, match=r"Model nope is not supported.*\n\talexnet\n\tdensenet121"
    ):
        vision.get_model("nope")


def test_depths_versions_and_lengths_that_do_not_exist_are_named():
    with pytest.raises(AssertionError, match="Invalid number of layers: 19"):
        vision.get_resnet(1, 19)
    with pytest.raises(AssertionError, match="Invalid resnet version: 3"):
        vision.get_resnet(3, 18)
    with pytest.raises(AssertionError, match=r"Unsupported SqueezeNet version 2\.0"):
        vision.SqueezeNet("2.0")
    with pytest.raises(ValueError, match="num_layers=12"):
        vision.get_vgg(12)
    with pytest.raises(AssertionError, match=r"layers=\[1, 1\], channels=\[8, 8\]"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8])
    with pytest.raises(AssertionError, match=r"layers=\[1\], filters=\[2, 3\]"):
        vision.VGG([1], [2, 3])


def test_a_network_of_random_parameters_scores_images():
    net = vision.ResNetV2(vision.BottleneckV2, [1, 1], [8, 8, 16], classes=3, thumbnail=True)
    net.initialize()
    net.hybridize()
    assert net(nd.ones((2, 3, 8, 8))).shape == (2, 3)


def test_without_a_file_pretrained_says_where_to_put_it(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        vision.squeezenet1_1(pretrained=True, root=str(tmp_path))
    text = str(caught.value)
    assert "squeezenet1.1-33ba0f93.params or squeezenet1.1.params" in text
    assert str(tmp_path) in text
    assert "nothing is downloaded" in text


def test_pretrained_reads_a_file_of_ones_own(tmp_path):
    net = vision.mobilenet0_25(classes=4)
    net.initialize()
    x = nd.ones((1, 3, 32, 32))
    wanted = net(x).asnumpy()
    net.save_parameters(str(tmp_path / "mobilenet0.25.params"))
    read = vision.get_model("mobilenet0.25", classes=4, pretrained=True, root=str(tmp_path))
    np.testing.assert_array_equal(read(x).asnumpy(), wanted)


def test_a_published_name_with_other_content_is_refused(tmp_path):
    (tmp_path / "alexnet-44335d1f.params").write_bytes(b"something else")
    with pytest.raises(MXNetError, match="SHA-1 44335d1f0046b328243b32a26a4fbd62d9057b45"):
        vision.alexnet(pretrained=True, root=str(tmp_path))


def small(**kwargs):
    return vision.ResNetV2(vision.BasicBlockV2, [1, 1], [4, 4, 8], thumbnail=True, **kwargs)


@pytest.mark.slow
def test_features_of_a_trained_network_serve_another_one():
    trained, tuned = small(classes=5), small(classes=2)
    trained.initialize()
    x = nd.array(np.random.RandomState(0).normal(size=(4, 3, 8, 8)))
    trained(x)
    tuned.features = trained.features
    tuned.output.initialize(init.Xavier())
    tuned.features.collect_params().setattr("grad_req", "null")
    tuned.output.collect_params().setattr("lr_mult", 10)
    before = tuned.features(x).asnumpy()
    trainer = gluon.Trainer(tuned.collect_params(), "sgd", {"learning_rate": 0.05})
    tuned.hybridize()
    compute, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(10):
        with autograd.record(train_mode=False):
            loss = compute(tuned(x), nd.array([0, 1, 0, 1])).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[-1] < losses[0]
    np.testing.assert_array_equal(trained.features(x).asnumpy(), before)


@pytest.mark.slow
def test_layers_inside_of_a_network_are_taken_out_as_a_graph():
    net = small(classes=5, prefix="net_")
    net.initialize()
    x = nd.ones((1, 3, 8, 8))
    net(x)
    data = sym.var("data")
    inside = net(data).get_internals()["net_pool0_fwd_output"]
    taken = gluon.SymbolBlock(inside, data, params=net.collect_params())
    np.testing.assert_allclose(
        taken(x).asnumpy(), net.features[:-1](x).asnumpy(), rtol=1e-5, atol=1e-6
    )
