import minigluon as mx
from minigluon import autograd, gluon, nd


def test_values_may_be_pulled_while_gradients_are_recorded():
    store = mx.kv.create("local")
    store.init("w", nd.ones((2, 1)))
    weight = nd.zeros((2, 1))
    weight.attach_grad()
    with autograd.record():
        store.pull("w", out=weight)
        loss = (weight * 3).sum()
    loss.backward()
    assert weight.asnumpy().tolist() == [[1], [1]]
    assert weight.grad.asnumpy().tolist() == [[3], [3]]


def test_the_first_rows_of_a_row_sparse_parameter_may_be_fetched_while_recording():
    class Linear(gluon.Block):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get(
                "weight", shape=(4, 1), stype="row_sparse", grad_stype="row_sparse", init="ones"
            )
            self.bias = self.params.get("bias", shape=(1,), init="zeros")

        def forward(self, x):
            return nd.sparse.dot(x, self.weight.row_sparse_data(x.indices)) + self.bias.data()

    net = Linear()
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore="local")
    x = nd.sparse.csr_matrix(([2.0], [3], [0, 1]), shape=(1, 4))
    with autograd.record():
        loss = net(x).sum()
    loss.backward()
    trainer.step(1)
    rows = net.weight.row_sparse_data(nd.array([0, 3])).asnumpy()
    assert rows.ravel().tolist() == [1, 0, 0, -1]
    assert net.bias.data().asscalar() == -1
