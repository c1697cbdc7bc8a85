"""Ask the real MXNet about every operator, and record its answers for the tests without it.

usage: MINIGLUON_ORACLE=PYTHON python tests/oracle/freeze.py [OPERATOR ...]

Without operators ``tests/data/oracle.json.gz`` gets a sample of the answers, and
``tests/data/compared.json`` how many agreed for every operator; then ``docs/make_operators.py`` is
to be run. With some, only disagreements about these are shown.
"""

import gzip
import json
import os
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent)]

from differences import excuse  # noqa: E402
from operators import COMPARED, ELSEWHERE  # noqa: E402
from oracle import Oracle, compare, ours, question  # noqa: E402
from rows import ROWS, sparse_case  # noqa: E402
from variants import variant  # noqa: E402

#: how many cases of an operator are asked about, and how many of these are recorded
ASKED, KEPT = 42, 10

#: how many cases of each sparse row of it
ON_ROWS = 4


def questions(name):
    """What is asked about an operator: each question once."""
    seen = set()
    for seed in range(ASKED):
        case, dtype, odd = variant(COMPARED[name], name, seed)
        asked = question(case, dtype, odd=odd, infer=True)
        if str(asked) not in seen:
            seen.add(str(asked))
            yield asked
    for named, row, stypes in ROWS.values():
        for seed in range(ON_ROWS if named == name else 0):
            case, inputs = sparse_case(name, row, stypes, seed)
            yield question(case, "float32", stypes, inputs)


def agrees(asked, wanted):
    """Whether we answer as MXNet does; tells where not and there is no reason for it."""
    got = None
    try:
        got = ours(asked)
        compare(asked, got, wanted, COMPARED[asked["name"]])
    except Exception as error:
        if not isinstance(error, AssertionError) or excuse(asked, wanted, got) is None:
            shown = {k: asked[k] for k in ("name", "attrs", "stypes") if k in asked}
            arrays = [x[:2] for x in asked["inputs"]]
            sys.stderr.write(f"{shown} on {arrays}, {asked.get('odd')}: {error!r}\n\n")
        return False
    return True


def main(names):
    """Ask all questions and write what came of it."""
    warnings.simplefilter("ignore")
    oracle = Oracle(os.environ["MINIGLUON_ORACLE"])
    kept, counts = [], dict(ELSEWHERE)
    for name in names or sorted(COMPARED):
        pairs = [(asked, oracle.ask(asked)) for asked in questions(name)]
        same = [pair for pair in pairs if agrees(*pair)]
        answered = [pair for pair in same if "outputs" in pair[1]]
        rows = [pair for pair in answered[KEPT:] if set(pair[0]["stypes"]) - {"default"}]
        counts[name] = len(answered)
        kept += answered[:KEPT] + rows[::ON_ROWS]
    oracle.close()
    if names:
        sys.stdout.write(f"{counts}\n")
        return
    text = "\n".join(json.dumps(pair, separators=(",", ":")) for pair in kept)
    (TESTS / "data/oracle.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    text = json.dumps(counts, indent=0, sort_keys=True) + "\n"
    (TESTS / "data/compared.json").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
