"""minigluon/module/bucketing_module.py; numbers called recorded come from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx


def sym_gen(length):
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=10, output_dim=4, name="emb")
    scores = mx.sym.FullyConnected(mx.sym.mean(words, axis=1), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(scores, name="softmax"), ("data",), ("softmax_label",)


def batch(length):
    return mx.io.DataBatch(
        [mx.nd.ones((2, length))],
        [mx.nd.array([0, 1])],
        bucket_key=length,
        provide_data=[("data", (2, length))],
        provide_label=[("softmax_label", (2,))],
    )


class Batches(mx.io.DataIter):
    """Six batches in three lengths."""

    def __init__(self):
        super().__init__(2)
        self.provide_data = [mx.io.DataDesc("data", (2, 10))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (2,))]
        self.at = 0

    def reset(self):
        self.at = 0

    def next(self):
        if self.at == 6:
            raise StopIteration
        self.at += 1
        return batch([10, 5, 7][self.at % 3])


def bound(**options):
    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=10)
    module.bind([("data", (2, 10))], [("softmax_label", (2,))], **options)
    module.init_params(mx.init.One())
    return module


def sums(module):
    return {name: float(value.asnumpy().sum()) for name, value in module.get_params()[0].items()}


def test_training_over_buckets_gives_what_mxnet_gets():
    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=10)
    module.fit(
        Batches(),
        num_epoch=2,
        initializer=mx.init.One(),
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
    )
    found = sums(module)
    np.testing.assert_allclose(found["emb_weight"], 40.348774, rtol=1e-6)  # recorded
    np.testing.assert_allclose(found["fc_weight"], 12, rtol=1e-6)
    [(_, value)] = module.score(Batches(), "ce")
    np.testing.assert_allclose(value, 0.6945955157279968, rtol=1e-5)  # recorded
    assert module.predict(Batches()).shape == (12, 3)


def test_a_bucket_is_made_when_its_first_batch_comes():
    module = bound()
    assert list(module._buckets) == [10]
    module.forward(batch(5))
    assert list(module._buckets) == [10, 5]
    assert module._curr_bucket_key == 5
    assert module.data_shapes[0].shape == (2, 5)
    module.switch_bucket(10, None)
    assert module._curr_module is module._buckets[10]


def test_buckets_share_parameters_optimizer_and_memory():
    module = bound()
    module.init_optimizer()
    module.forward_backward(batch(5))
    module.update()
    one, other = (module._buckets[key]._exec_group.execs[0] for key in (10, 5))
    for name in ("emb_weight", "fc_weight", "fc_bias"):
        assert one.arg_dict[name]._data is other.arg_dict[name]._data
    assert module._buckets[5]._updater is module._buckets[10]._updater
    assert module._buckets[10]._total_exec_bytes == 0


def test_parameters_changed_in_one_bucket_are_seen_from_another():
    module = bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    module.forward_backward(batch(5))
    module.update()
    module.forward(batch(10))
    assert np.abs(module.get_params()[0]["fc_bias"].asnumpy()).max() > 0.1


def test_gradients_accumulate_over_buckets():
    module = bound(grad_req="add")
    module.forward_backward(batch(10))
    grad = module._curr_module._exec_group.execs[0].grad_dict["fc_weight"].asnumpy().copy()
    module.forward_backward(batch(5))
    both = module._curr_module._exec_group.execs[0].grad_dict["fc_weight"].asnumpy()
    np.testing.assert_allclose(both, 2 * grad, rtol=1e-6)


def test_a_checkpoint_holds_parameters_symbols_and_keys(tmp_path):
    module, prefix = bound(), str(tmp_path / "b")
    module.forward(batch(5))
    module.set_params({"fc_bias": mx.nd.ones((3,))}, {}, allow_missing=True)
    module.save_checkpoint(prefix, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "b-0001.params", "b-10-symbol.json", "b-5-symbol.json", "b.buckets"
    ]  # fmt: skip
    loaded = mx.mod.BucketingModule.load(prefix, 1, sym_gen, default_bucket_key=10)
    loaded.bind([("data", (2, 10))], [("softmax_label", (2,))])
    assert sums(loaded) == sums(module)


def test_loading_needs_the_symbols(tmp_path):
    with pytest.raises(AssertionError, match="sym_gen is required"):
        mx.mod.BucketingModule.load(str(tmp_path / "b"), 1)


def test_a_default_bucket_is_needed_and_sharing_is_refused():
    with pytest.raises(AssertionError, match="default"):
        mx.mod.BucketingModule(sym_gen)
    with pytest.raises(AssertionError, match="not supported"):
        bound(shared_module=bound())


def test_prepare_binds_the_bucket_and_leaves_the_current_one():
    module = bound()
    module.forward(batch(10))
    module.prepare(batch(7))
    assert 7 in module._buckets
    assert module._curr_bucket_key == 10
    assert module.get_outputs()[0].shape == (2, 3)
