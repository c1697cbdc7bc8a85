"""Record answers of the real MXNet for the tests that run without it.

usage: MINIGLUON_ORACLE=PYTHON python tests/oracle/freeze.py
"""

import gzip
import json
import os
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent)]

from cases import make  # noqa: E402
from differences import excuse  # noqa: E402
from operators import CASES  # noqa: E402
from oracle import Oracle, question  # noqa: E402
from picks import Seeded  # noqa: E402
from rows import ROWS, sparse_case  # noqa: E402

EACH = 2


def questions():
    """What is asked: some cases of every operator, one of every sparse row."""
    for name, entry in sorted(CASES.items()):
        for seed in range(EACH):
            case = make(entry, name, Seeded(seed))
            yield question(case, entry.dtypes[seed % len(entry.dtypes)])
    for name, row, stypes in ROWS.values():
        case, inputs = sparse_case(name, row, stypes, 1)
        yield question(case, "float32", stypes, inputs)


def main():
    """Ask all questions and write what may be compared to ``tests/data/oracle.json.gz``."""
    warnings.simplefilter("ignore")
    oracle = Oracle(os.environ["MINIGLUON_ORACLE"])
    kept = []
    for asked in questions():
        wanted = oracle.ask(asked)
        if excuse(asked, wanted) is None:
            kept.append([asked, wanted])
    oracle.close()
    text = "\n".join(json.dumps(pair, separators=(",", ":")) for pair in kept)
    packed = gzip.compress(text.encode(), 9, mtime=0)
    (TESTS / "data" / "oracle.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
