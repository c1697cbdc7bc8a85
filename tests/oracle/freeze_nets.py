"""Record a few results of networks run by the real MXNet, for the tests that run without it.

usage: PYTHON-WITH-MXNET tests/oracle/freeze_nets.py
"""

import json
import sys
from pathlib import Path

import mxnet as mx

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "support"))

import nets  # noqa: E402


def main():
    """Run every network in double precision and write ``tests/data/nets.json``."""
    recorded = {}
    for name in nets.NETS:
        dtype = "float32" if name in nets.SINGLE else "float64"
        recorded[name] = nets.sample(nets.run(mx, *nets.ready(mx, name, dtype)))
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in recorded.items())
    (TESTS / "data" / "nets.json").write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
