"""A factorization machine of 100,000 csr features, and a matrix factorization by embeddings."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, batches, power_law_rows

TARGETS = {"factorization machine": {"mxnet": 3.3}, "matrix factorization": {"mxnet": 4.3}}
FEATURES, SIZE, BATCH, COUNT, STEPS = 100_000, 16, 1000, 20, 10
USERS, LONG = 100_000, 64


def clicks():
    """Batches of ``(indices, indptr, labels)``, first factors, first weights."""
    indices, indptr = power_law_rows(BATCH * COUNT, FEATURES, 20, 40, seed=21)
    rng = np.random.RandomState(22)
    labels = (rng.rand(BATCH * COUNT) < 0.3).astype("f")
    parts = []
    for rows in batches(BATCH * COUNT, BATCH):
        first, last = indptr[rows.start], indptr[rows.stop]
        starts = indptr[rows.start : rows.stop + 1] - first
        parts.append((indices[first:last], starts, labels[rows]))
    factors = (rng.randn(FEATURES, SIZE) * 0.05).astype("f")
    return parts, factors, (rng.randn(FEATURES, 1) * 0.01).astype("f")


def ratings():
    """Users, items and scores of every batch, and the first tables."""
    rng = np.random.RandomState(23)
    users = rng.randint(0, USERS, (COUNT, BATCH))
    items = (USERS * rng.power(0.4, (COUNT, BATCH))).astype(np.int64)
    tables = [(rng.randn(USERS, LONG) * 0.1).astype("f") for _ in range(2)]
    return users, items, rng.rand(COUNT, BATCH).astype("f"), tables


def machine(mx):
    """``run(n)`` for the factorization machine, and its loss after some steps."""
    sym, nd = mx.sym, mx.nd
    parts, factors, weights = clicks()
    x = sym.Variable("data", stype="csr")
    v = sym.Variable("v", shape=(FEATURES, SIZE), stype="row_sparse")
    w = sym.Variable("w", shape=(FEATURES, 1), stype="row_sparse")
    linear = sym.broadcast_add(sym.dot(x, w), sym.Variable("bias", shape=(1,)))
    squares = sym.dot(x.square(), sym._internal._square_sum(data=v, axis=1, keepdims=True))
    pairs = 0.5 * sym.square(data=sym.dot(x, v))
    score = sym.Concat(linear, pairs, dim=1).sum(axis=1, keepdims=True) + (-0.5 * squares)
    net = sym.LogisticRegressionOutput(data=score, label=sym.Variable("softmax_label"))
    module = mx.mod.Module(net, data_names=["data"], label_names=["softmax_label"])
    module.bind([("data", (BATCH, FEATURES))], [("softmax_label", (BATCH,))])
    start = {"v": nd.array(factors).tostype("row_sparse"), "bias": nd.zeros((1,))}
    start["w"] = nd.array(weights).tostype("row_sparse")
    module.init_params(arg_params=start, initializer=None)
    adam = mx.optimizer.Adam(learning_rate=0.001, rescale_grad=1.0 / BATCH)
    module.init_optimizer(optimizer=adam, kvstore=None)
    given = [
        mx.io.DataBatch(
            [nd.sparse.csr_matrix((np.ones(len(i), "f"), i, p), shape=(BATCH, FEATURES))],
            [nd.array(labels)],
        )
        for i, p, labels in parts
    ]
    place = [0]

    def run(n):
        for _ in range(n):
            module.forward_backward(given[place[0] % COUNT])
            module.update()
            place[0] += 1
        nd.waitall()

    run(STEPS)
    module.forward(given[0], is_train=False)
    p, y = module.get_outputs()[0].asnumpy().ravel(), parts[0][2]
    return run, float(-np.log(np.where(y > 0, p, 1 - p)).mean())


def factorization(mx):
    """``run(n)`` for the matrix factorization, and its loss after some steps."""
    nd, gluon = mx.nd, mx.gluon
    users, items, scores, tables = ratings()

    class Factors(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.user = gluon.nn.Embedding(USERS, LONG, sparse_grad=True)
                self.item = gluon.nn.Embedding(USERS, LONG, sparse_grad=True)

        def hybrid_forward(self, F, user, item):
            return (self.user(user) * self.item(item)).sum(axis=1)

    net, loss = Factors(), gluon.loss.L2Loss()
    net.initialize()
    net.hybridize()
    given = [tuple(nd.array(x) for x in row) for row in zip(users, items, scores)]  # noqa: B905
    net(*given[0][:2])
    net.user.weight.set_data(nd.array(tables[0]))
    net.item.weight.set_data(nd.array(tables[1]))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 5.0})
    place = [0]

    def run(n):
        for _ in range(n):
            user, item, score = given[place[0] % COUNT]
            with mx.autograd.record():
                value = loss(net(user, item), score)
            value.backward()
            trainer.step(BATCH)
            place[0] += 1
        nd.waitall()

    run(STEPS)
    user, item, score = given[0]
    return run, float(loss(net(user, item), score).asnumpy().mean())


def mx(mx):
    cases, checks = [], {}
    for name, make in (("factorization machine", machine), ("matrix factorization", factorization)):
        run, checks[name] = make(mx)
        cases.append(Case(name, run, "rows/s", amount=BATCH))
    return cases, checks


def torch_():
    import torch

    users, items, scores, tables = ratings()
    given = [tuple(map(torch.from_numpy, row)) for row in zip(users, items, scores)]  # noqa: B905
    user_table, item_table = (torch.nn.Embedding(USERS, LONG, sparse=True) for _ in range(2))
    with torch.no_grad():
        user_table.weight.copy_(torch.from_numpy(tables[0]))
        item_table.weight.copy_(torch.from_numpy(tables[1]))
    optimizer = torch.optim.SGD([user_table.weight, item_table.weight], lr=5.0)
    place = [0]

    def loss(batch):
        user, item, score = batch
        return (((user_table(user) * item_table(item)).sum(dim=1) - score) ** 2).mean() / 2

    def run(n):
        for _ in range(n):
            optimizer.zero_grad()
            loss(given[place[0] % COUNT]).backward()
            optimizer.step()
            place[0] += 1

    run(STEPS)
    checks = {"matrix factorization": float(loss(given[0]))}
    return [Case("matrix factorization", run, "rows/s", amount=BATCH)], checks
