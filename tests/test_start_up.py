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
