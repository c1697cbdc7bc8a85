"""Files of parameters from one block to another, as reported by users of MXNet."""

import numpy as np
import pytest

from minigluon import MXNetError, nd
from minigluon.gluon import nn


class Scoped(nn.HybridBlock):
    """A layer made in a name scope, as most users' networks have them."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.dense = nn.Dense(2, in_units=3)

    def hybrid_forward(self, F, x):
        return self.dense(x)


X = nd.array([[1.0, -2.0, 0.5]])


def test_a_block_loads_what_it_has_exported(tmp_path):
    # MXNet 1.9.1 adds the prefix twice and fails
    net = Scoped()
    net.initialize()
    net.hybridize()
    wanted = net(X).asnumpy()
    net.export(str(tmp_path / "m"))
    for param in net.collect_params().values():
        param.set_data(param.data() * 0)
    net.load_parameters(str(tmp_path / "m-0000.params"))
    np.testing.assert_array_equal(net(X).asnumpy(), wanted)


def test_parameters_go_to_another_instance_by_structure_and_not_by_full_name(tmp_path):
    first, second = Scoped(), Scoped()
    first.initialize()
    first.save_parameters(str(tmp_path / "p"))
    second.load_parameters(str(tmp_path / "p"))
    np.testing.assert_array_equal(first(X).asnumpy(), second(X).asnumpy())
    with pytest.raises(AssertionError, match="is missing in file") as caught:
        second.collect_params().load(str(tmp_path / "p"))
    assert second.dense.weight.name in str(caught.value)
    assert "dense.weight" in str(caught.value)


@pytest.mark.parametrize("suffix", [".params", ".safetensors"])
def test_a_cut_file_is_named_by_the_block(tmp_path, suffix):
    net = Scoped()
    net.initialize()
    path = tmp_path / f"net{suffix}"
    net.save_parameters(str(path))
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(MXNetError, match=f"net{suffix}, byte"):
        net.load_parameters(str(path))
