"""Answers of the real MXNet 1.9.1, recorded by ``freeze.py``, are ours too."""

import gzip
import json
from pathlib import Path

import pytest

from operators import COMPARED
from oracle import compare, ours

RECORDED = {}
for _line in gzip.decompress(
    (Path(__file__).parents[1] / "data" / "oracle.json.gz").read_bytes()
).splitlines():
    _asked, _wanted = json.loads(_line)
    RECORDED.setdefault(_asked["name"], []).append((_asked, _wanted))


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers_of_mxnet_are_ours(name):
    for asked, wanted in RECORDED[name]:
        compare(asked, ours(asked), wanted, COMPARED[name])
