"""Symbolic recurrent networks, and their graphs in a form that can be kept and compared.

``python recurrent_graphs.py FILE``, with a python that has the real MXNet, records its graphs.
"""

import gzip
import json
import sys


def networks(mx):
    """By name, what makes ``(outputs, states)`` of a network; the same calls for both libraries."""
    R, data = mx.rnn, mx.sym.Variable
    pair = [data("a"), data("b")]

    def stack(*cells):
        made = R.SequentialRNNCell()
        for cell in cells:
            made.add(cell)
        return made

    def deep(mode, **kwargs):
        return R.FusedRNNCell(3, num_layers=2, mode=mode, dropout=0.5, **kwargs)

    def both(left, right):
        return R.BidirectionalCell(left, right, output_prefix="z_")

    lstm, gru = R.LSTMCell(3, prefix="l_"), R.GRUCell(4, prefix="r_")
    return {
        "rnn merged": lambda: R.RNNCell(3).unroll(2, data("data"), merge_outputs=True),
        "rnn of a list": lambda: R.RNNCell(3, "relu", prefix="q_").unroll(2, pair),
        "lstm in a list": lambda: R.LSTMCell(3).unroll(2, data("data"), merge_outputs=False),
        "lstm TNC": lambda: R.LSTMCell(3).unroll(2, data("data"), layout="TNC"),
        "gru TNC": lambda: R.GRUCell(3).unroll(2, data("data"), layout="TNC", merge_outputs=True),
        "given states": lambda: R.GRUCell(3).unroll(1, pair[:1], begin_state=[data("h")]),
        "fused": lambda: deep("lstm", get_next_state=True, bidirectional=True).unroll(2, data("x")),
        "fused gru": lambda: R.FusedRNNCell(3, mode="gru").unroll(2, pair, layout="TNC"),
        "fused split": lambda: R.FusedRNNCell(3, mode="rnn_tanh").unroll(
            2, data("x"), merge_outputs=False
        ),
        "unfused": lambda: (
            deep("lstm", bidirectional=True).unfuse().unroll(2, data("x"), merge_outputs=True)
        ),
        "unfused relu": lambda: deep("rnn_relu").unfuse().unroll(2, data("x")),
        "stack": lambda: stack(lstm, R.DropoutCell(0.3), gru).unroll(2, data("x")),
        "stack on fused": lambda: stack(
            R.FusedRNNCell(3, prefix="f_"), R.DropoutCell(0.3), R.RNNCell(3)
        ).unroll(2, data("x"), merge_outputs=True),
        "both ways": lambda: both(lstm, gru).unroll(2, data("x")),
        "both ways merged": lambda: both(R.RNNCell(3, prefix="f_"), R.RNNCell(3)).unroll(
            2, pair, layout="TNC", merge_outputs=True
        ),
        "both ways mixed": lambda: both(R.FusedRNNCell(3, prefix="f_"), R.RNNCell(3)).unroll(
            2, pair
        ),
        "zoneout": lambda: R.ZoneoutCell(R.LSTMCell(3), 0.2, 0.3).unroll(2, data("x")),
        "residual": lambda: R.ResidualCell(R.GRUCell(3)).unroll(2, data("x")),
        "residual merged": lambda: R.ResidualCell(R.FusedRNNCell(3, prefix="f_")).unroll(
            2, data("x")
        ),
        "dropout": lambda: R.DropoutCell(0.3).unroll(2, pair, merge_outputs=True),
        "convolutional": lambda: R.ConvRNNCell((1, 2, 6, 6), 2).unroll(2, pair),
        "convolutional lstm": lambda: R.ConvLSTMCell((1, 2, 6, 6), 2).unroll(1, pair[:1]),
        "convolutional gru": lambda: R.ConvGRUCell((1, 2, 6, 6), 2).unroll(1, pair[:1]),
    }


def described(mx, make):
    """The graph of a network: its nodes with inputs and attributes, its outputs, its states."""
    with mx.name.NameManager():
        outputs, states = make()
    whole = outputs if isinstance(outputs, mx.sym.Symbol) else mx.sym.Group(list(outputs))
    graph = json.loads(whole.tojson())
    nodes = graph["nodes"]
    lines = [
        [n["op"], n["name"], [[nodes[i[0]]["name"], i[1]] for i in n["inputs"]], n.get("attrs", {})]
        for n in nodes
    ]
    return {
        "nodes": lines,
        "heads": whole.list_outputs(),
        "merged": whole is outputs,
        "states": _names(mx, states),
    }


def _names(mx, states):
    if isinstance(states, mx.sym.Symbol):
        return states.list_outputs()[0]
    return [_names(mx, state) for state in states]


if __name__ == "__main__":
    import mxnet

    found = {name: described(mxnet, make) for name, make in networks(mxnet).items()}
    with gzip.open(sys.argv[1], "wt") as file:
        json.dump(found, file)
