"""Machine code of plans is kept on disk, and nothing depends on whether it is."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import minigluon
from minigluon import nd, sym
from minigluon.__main__ import main
from minigluon.core.plan import cache

pytestmark = pytest.mark.skipif(not cache.available(), reason="llvmlite is not there")

PROGRAM = textwrap.dedent("""
    import warnings
    import numpy as np
    from minigluon import nd, sym
    from minigluon.core.plan import cache
    compiled = []
    original = cache._compile
    cache._compile = lambda *a: compiled.append(1) or original(*a)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for extra in range(2):
            x = sym.Variable("x")
            f = nd.CachedOp(sym.exp(x) * 2 + extra)
            y = f(nd.array([0.0, 1.0, 2.0]))
    print(len(compiled), len([w for w in caught if "cache" in str(w.message).lower()
                              or "kept on disk" in str(w.message)]), y.asnumpy().tobytes().hex())
""")


def run(folder, program=PROGRAM):
    environment = {**os.environ, "MINIGLUON_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.split()


@pytest.mark.slow
def test_the_next_process_finds_what_was_compiled(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first[:2] == ["2", "0"]
    assert second[:2] == ["0", "0"]
    assert first[2] == second[2]


@pytest.mark.slow
def test_a_spawned_child_finds_what_was_compiled(tmp_path):
    script = tmp_path / "program.py"
    body = textwrap.indent(PROGRAM, "    ")
    script.write_text(
        "import multiprocessing\n"
        f"def work():\n{body}\n"
        "if __name__ == '__main__':\n"
        "    work()\n"
        "    child = multiprocessing.get_context('spawn').Process(target=work)\n"
        "    child.start()\n"
        "    child.join()\n"
    )
    root = str(Path(minigluon.__file__).parents[1])
    environment = {
        **os.environ, "MINIGLUON_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": root,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment
    )
    parent, child = [line.split() for line in done.stdout.splitlines()]
    assert parent[0] == "2"
    assert child[0] == "0"
    assert parent[2] == child[2]


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_costs_one_warning(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    usual, without = run(tmp_path / "cache"), run(blocked)
    assert without[:2] == ["2", "1"]
    assert without[2] == usual[2]


@pytest.mark.slow
def test_damaged_files_are_compiled_again(tmp_path):
    first = run(tmp_path)
    for file in tmp_path.glob("plan-*.o"):
        file.write_bytes(file.read_bytes()[:-7] + b"damaged")
    again = run(tmp_path)
    assert again[:2] == ["2", "0"]
    assert again[2] == first[2]
    assert run(tmp_path)[0] == "0"


def test_the_command_line_shows_and_clears_the_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINIGLUON_CACHE_DIR", str(tmp_path))
    (tmp_path / "plan-1.o").write_bytes(bytes(2048))
    (tmp_path / "other").write_text("stays")
    main(["cache", "info"])
    main(["cache", "clear"])
    main(["cache", "info"])
    shown = capsys.readouterr().out.splitlines()
    assert shown == [
        f"1 files, 2 KiB, in {tmp_path}",
        f"1 files, 2 KiB, removed from {tmp_path}",
        f"0 files, 0 KiB, in {tmp_path}",
    ]
    assert [f.name for f in tmp_path.iterdir()] == ["other"]


def test_old_files_make_way_for_new_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FILES_KEPT", 3)
    for k in range(4):
        (tmp_path / f"plan-{k}.o").write_bytes(b"")
        os.utime(tmp_path / f"plan-{k}.o", (k, k))
    cache._forget_old(tmp_path)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["plan-2.o", "plan-3.o"]


def test_where_llvm_refuses_plans_are_numpy_calls(tmp_path, monkeypatch):
    def refuse(text):
        raise RuntimeError("LLVM IR parsing error")

    monkeypatch.setenv("MINIGLUON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_compile", refuse)
    monkeypatch.setattr(cache, "_WARNED", set())
    x = sym.Variable("x")
    with pytest.warns(RuntimeWarning, match="plans cannot be compiled") as caught:
        for factor in (3, 5):
            f = nd.CachedOp(sym.exp(x) * factor - 0.125)
            for n in (2, 3):
                got = f(nd.ones(n)).asnumpy()
                np.testing.assert_allclose(got, np.exp(np.ones(n)) * factor - 0.125, rtol=1e-6)
    assert len(caught) == 1
    assert not cache.available()
