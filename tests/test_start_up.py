"""What a fresh interpreter loads for ``import minigluon``."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "scipy", "mpi4py", "matplotlib", "sklearn")


def loaded_by(statement):
    """The names of all modules a fresh interpreter has loaded after the statement."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout.split()
    )


@pytest.mark.slow
def test_import_loads_nothing_heavy():
    assert not loaded_by("import minigluon").intersection(HEAVY)


DENSE_PROGRAM = """
from minigluon import autograd, gluon, nd
net = gluon.nn.Dense(2, activation="relu")
net.initialize()
with autograd.record():
    loss = gluon.loss.L2Loss()(net(nd.ones((3, 4))), nd.ones((3, 2)))
loss.backward()
assert net.weight.grad().shape == (2, 4)
"""


@pytest.mark.slow
def test_dense_eager_code_never_loads_numba():
    others = {"socket", "tarfile", "multiprocessing.connection"}  # what gluon.data needs
    assert not loaded_by(DENSE_PROGRAM).intersection({"numba", "llvmlite", *others})


@pytest.mark.slow
def test_dense_eager_code_works_where_numba_cannot_be_imported():
    loaded_by(f"import sys\nsys.modules['numba'] = None\n{DENSE_PROGRAM}\ndel sys.modules['numba']")
