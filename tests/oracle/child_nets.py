"""Runs networks with the real MXNet, one JSON line for each on standard output.

Run by the python that has it, so only ``support/nets.py`` is imported, which needs nothing of this
project. Parameters and results go to files in the folder that a question names.
"""

import json
import os
import sys
from pathlib import Path

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what MXNet prints must not come between the answers

import mxnet as mx  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import nets  # noqa: E402


def read(folder, name):
    """The outputs of a network for every file that was written for it."""
    x = mx.nd.array(nets.data(name))
    by_path = nets.build(mx, name)
    by_path.load_parameters(str(folder / "net.params"))
    by_name = nets.build(mx, name)
    by_name.collect_params().load(str(folder / "full.params"))
    exported = str(folder / "exported")
    graph = mx.gluon.SymbolBlock.imports(
        exported + "-symbol.json", ["data"], exported + "-0000.params"
    )
    mx.nd.save(
        str(folder / "read.params"),
        {"save_parameters": by_path(x), "ParameterDict.save": by_name(x), "export": graph(x)},
    )
    return {"done": ["read.params"]}


def train(folder, question):
    """Train a network and save it with its trainer, or go on with what was saved."""
    net, x = nets.ready(mx, question["net"], "float32")
    trainer = nets.trainer(mx, net, question["optimizer"])
    if question["train"] == "start":
        nets.train(mx, net, trainer, x, 3)
        net.save_parameters(str(folder / "net.params"))
        trainer.save_states(str(folder / "net.states"))
    else:
        net.load_parameters(str(folder / "net.params"))
        trainer.load_states(str(folder / "net.states"))
    nets.train(mx, net, trainer, x, 2)
    net.save_parameters(str(folder / "after.params"))
    return {"done": ["after.params"]}


def answer(question):
    if "train" in question:
        return train(Path(question["folder"]), question)
    folder = Path(question["folder"])
    if question.get("read"):
        return read(folder, question["net"])
    net, x = nets.ready(mx, question["net"], question["dtype"])
    net.save_parameters(str(folder / "net.params"))
    mx.nd.save(str(folder / "results.params"), nets.run(mx, net, x))
    if question.get("export"):
        net.save_parameters(str(folder / "after.params"))
        net.collect_params().save(str(folder / "full.params"))
        net.hybridize()
        net(x)
        net.export(str(folder / "exported"))
    return {"done": sorted(file.name for file in folder.iterdir())}


for line in sys.stdin:
    try:
        said = answer(json.loads(line))
    except Exception as error:
        said = {"error": [type(error).__name__, str(error)[-600:]]}
    answers.write(json.dumps(said) + "\n")
    answers.flush()
