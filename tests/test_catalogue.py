"""What ``minigluon ops`` prints, on operators declared here and on the table."""

from __future__ import annotations

import subprocess
import sys

import pytest

from minigluon import MXNetError, _catalogue
from minigluon.core.op import Op


def scaled(data, weight=None, *, factor: float, offset: int = 1, out=None):
    """``data * factor + offset``."""


def test_a_signature_shows_inputs_attributes_and_defaults():
    assert _catalogue.signature(Op(scaled)) == "scaled(data, weight=None, *, factor, offset=1)"


def test_a_kernel_row_reads_as_it_was_declared():
    op = Op(scaled)
    op.kernel("csr|default row_sparse -> csr", when=lambda **attrs: True)(scaled)
    assert _catalogue.storages(op.rows[0]) == (
        "csr|default row_sparse -> csr (fcompute_ex, for some attributes)"
    )


def test_details_begin_with_the_signature():
    assert _catalogue.details("FullyConnected").startswith(
        "FullyConnected(data, weight, bias=None, *, num_hidden"
    )


def test_an_unknown_operator_is_answered_with_similar_names():
    with pytest.raises(MXNetError, match="FullyConnected"):
        _catalogue.details("FulyConnected")


@pytest.mark.slow
def test_the_command_lists_every_operator_with_its_first_line():
    result = subprocess.run(
        [sys.executable, "-m", "minigluon", "ops"], capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert len(lines) > 100
    assert all(line.partition("  ")[2].strip() for line in lines)


@pytest.mark.slow
def test_the_command_ends_with_two_for_an_unknown_operator():
    result = subprocess.run(
        [sys.executable, "-m", "minigluon", "ops", "no_such_operator"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert "no_such_operator" in result.stderr
