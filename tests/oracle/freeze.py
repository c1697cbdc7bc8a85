"""Ask the real MXNet about operators, and record its answers for the tests without it.

usage: MINIGLUON_ORACLE=PYTHON python tests/oracle/freeze.py [OPERATOR ...]

``tests/data/oracle.json.gz`` gets a sample of the answers about all operators, or the named ones,
and ``tests/data/compared.json`` how many agreed for each; then ``docs/make_operators.py`` is to be
run. Disagreements for which there is no reason are shown.
"""

import gzip
import json
import os
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).parents[1]
ANSWERS, COUNTS = TESTS / "data/oracle.json.gz", TESTS / "data/compared.json"
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent)]

from differences import excuse  # noqa: E402
from operators import COMPARED, ELSEWHERE  # noqa: E402
from oracle import Oracle, compare, ours, question  # noqa: E402
from rows import ROWS, sparse_case  # noqa: E402
from variants import variant  # noqa: E402

#: how many cases of an operator are asked about, and how many of these are recorded
ASKED, KEPT = 42, 10

#: operators of which MXNet's CPU build can do little
MORE = {"amp_multicast": 160, "InstanceNorm": 80, "SoftmaxActivation": 80}
MORE_ON_ROWS = {"_sparse_adagrad_update": 12}

#: how many cases of each sparse row of it, and of its rows altogether at least
ON_ROWS, ON_FEW_ROWS = 4, 24


def questions(name):
    """What is asked about an operator: each question once."""
    seen = set()
    for seed in range(MORE.get(name, ASKED)):
        case, dtype, odd = variant(COMPARED[name], name, seed)
        asked = question(case, dtype, odd=odd, infer=True)
        if str(asked) not in seen:
            seen.add(str(asked))
            yield asked
    rows = [(row, stypes) for named, row, stypes in ROWS.values() if named == name]
    for row, stypes in rows:
        for seed in range(MORE_ON_ROWS.get(name, max(ON_ROWS, ON_FEW_ROWS // len(rows)))):
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
    kept, counts = {}, dict(ELSEWHERE)
    if names:
        counts = json.loads(COUNTS.read_text())
        for line in gzip.decompress(ANSWERS.read_bytes()).splitlines():
            pair = json.loads(line)
            kept.setdefault(pair[0]["name"], []).append(pair)
    for name in names or sorted(COMPARED):
        pairs = [(asked, oracle.ask(asked)) for asked in questions(name)]
        same = [pair for pair in pairs if agrees(*pair)]
        answered = [pair for pair in same if "outputs" in pair[1]]
        rows = [pair for pair in answered[KEPT:] if set(pair[0]["stypes"]) - {"default"}]
        counts[name] = len(answered)
        kept[name] = answered[:KEPT] + rows[::ON_ROWS]
    oracle.close()
    lines = [json.dumps(p, separators=(",", ":")) for name in sorted(kept) for p in kept[name]]
    ANSWERS.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    COUNTS.write_text(json.dumps(counts, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
