"""Every example in a docstring is true."""

import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon.core.op import Op

ROOT = Path(mx.__file__).parent
NAMES = ("autograd", "gluon", "nd", "sym")


def modules_with_examples():
    """The names of all modules in whose text an example occurs."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        if ">>>" in path.read_text():
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def examples(module):
    """The doctests of a module: of its functions and classes, and of the operators it declares."""
    shared = {"mx": mx, "np": np, **{name: getattr(mx, name) for name in NAMES}}
    yield from doctest.DocTestFinder().find(module, extraglobs=shared)
    parser = doctest.DocTestParser()
    for name, operator in vars(module).items():
        if isinstance(operator, Op) and operator.dense.__module__ == module.__name__:
            test = parser.get_doctest(
                operator.doc, {**vars(module), **shared}, name, module.__file__, None
            )
            if test.examples:
                yield test


@pytest.mark.parametrize("module", list(modules_with_examples()))
def test_examples_of_docstrings_hold(module):
    found = importlib.import_module(module)
    runner = doctest.DocTestRunner(
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False
    )
    failures = []
    for test in examples(found):
        mx.random.seed(0)
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
