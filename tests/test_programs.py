"""Old programs, written for MXNet, run unchanged and print what they print there.

The programs are in ``programs/``. What they printed with MXNet 1.9.1 is in ``data/programs.json``;
``oracle/freeze_programs.py`` records it. Where ``MINIGLUON_ORACLE`` names a python that has MXNet,
they are run there again and compared.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minigluon

ROOT = Path(minigluon.__file__).parents[1]
HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "data" / "programs.json").read_text())
ORACLE = os.environ.get("MINIGLUON_ORACLE")

pytestmark = pytest.mark.slow


def printed(*command):
    """The lines a program prints, as words; MXNet's remarks about itself are left out."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    return [line.split() for line in lines if not line.startswith(("WARNING", "learning rate"))]


def assert_same(got, wanted):
    """The same words, and numbers that agree to what single precision leaves of them."""
    assert [line[0] for line in got] == [line[0] for line in wanted]
    for ours, theirs in zip(got, wanted, strict=True):
        assert len(ours) == len(theirs), ours[0]
        for word, expected in zip(ours[1:], theirs[1:], strict=True):
            word, expected = word.strip("[](),"), expected.strip("[](),")
            try:
                number = float(expected)
            except ValueError:
                assert word == expected, ours[0]
                continue
            assert float(word) == pytest.approx(number, rel=1e-3, abs=1e-5, nan_ok=True), ours[0]


@pytest.mark.parametrize("name", RECORDED)
def test_an_old_program_prints_what_it_printed_with_mxnet(name):
    script = str(HERE / "programs" / f"{name}.py")
    got = printed(sys.executable, "-m", "minigluon", "run", script)
    assert_same(got, RECORDED[name])


@pytest.mark.skipif(not ORACLE, reason="MINIGLUON_ORACLE does not name a python with MXNet")
@pytest.mark.parametrize("name", RECORDED)
def test_the_record_is_what_mxnet_prints(name):
    script = str(HERE / "programs" / f"{name}.py")
    assert_same(RECORDED[name], printed(ORACLE, "-W", "ignore", script))


def test_every_program_is_recorded_and_uses_nothing_that_is_not_supported():
    programs = sorted((HERE / "programs").glob("*.py"))
    assert [program.stem for program in programs] == sorted(RECORDED)
    command = [sys.executable, "-m", "minigluon", "check", *map(str, programs)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (result.returncode, result.stdout) == (0, "")
