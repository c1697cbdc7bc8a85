"""Names that Python and numpy have dropped since are given back to old programs."""

import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import minigluon
from minigluon import _old_modules, _old_names

ROOT = Path(minigluon.__file__).parents[1]


@pytest.mark.parametrize("name", _old_names.NUMPY_NAMES)
def test_every_old_name_of_numpy_leads_to_something(name):
    assert _old_names._exists(_old_names.NUMPY_NAMES[name]) or hasattr(np, name)


@pytest.mark.parametrize(
    ("module", "name"), [(m, n) for m, names in _old_names.PYTHON_NAMES.items() for n in names]
)
def test_every_old_name_of_python_leads_to_something(module, name):
    assert _old_names._there(_old_names.PYTHON_NAMES[module][name]) is not None


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("NaN", np.nan), ("NINF", -np.inf), ("float", float), ("bool", bool), ("float_", np.float64)],
)
def test_old_names_mean_what_they_meant(name, wanted):
    found = _old_names._there(_old_names.NUMPY_NAMES[name])
    assert found is wanted or found == wanted


def test_functions_numpy_dropped_compute_what_they_did():
    assert _old_names.asscalar(np.array([2.5])) == 2.5
    assert _old_names.asfarray([1, 2]).dtype == np.float64
    assert _old_names.asfarray([1, 2], dtype=np.float32).dtype == np.float32
    assert _old_names.msort(np.array([[2, 1], [1, 2]])).tolist() == [[1, 1], [2, 2]]
    assert _old_names.getargspec(lambda a, b=1, *c, **d: 0) == (["a", "b"], "c", "d", (1,))


def test_the_first_use_is_told_once_and_unknown_names_stay_unknown(monkeypatch):
    module = types.ModuleType("module")
    module.there = 1
    monkeypatch.setattr(_old_names, "_told", set())
    _old_names._answer(module, {"gone": "math:pi", "never": "math:nothing"}, "it", "")
    with pytest.warns(UserWarning, match=r"it has no module\.gone any more"):
        assert 3 < module.gone < 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 3 < module.gone < 4
        assert module.there == 1
        for name in ("never", "unheard_of"):
            with pytest.raises(AttributeError, match=name):
                getattr(module, name)


@pytest.mark.parametrize(
    ("left", "right"),
    [("1.9.1", "1.10"), ("1.4.0", "2.0.0"), ("1.5", "1.5.0"), ("1.5.0.a", "1.5.0.b"), ("0.9", "1")],
)
def test_versions_are_compared_number_by_number(left, right):
    one, other = _old_modules.LooseVersion(left), _old_modules.LooseVersion(right)
    assert one < other
    assert other > left
    assert one != right
    assert one == left
    assert str(one) == left


def test_words_for_true_and_false_are_read():
    assert [_old_modules.strtobool(w) for w in ("y", "True", "0", "OFF")] == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="invalid truth value 'maybe'"):
        _old_modules.strtobool("maybe")


def test_a_file_is_loaded_as_a_module(tmp_path):
    (tmp_path / "part.py").write_text("value = 3\n")
    try:
        assert _old_modules.load_source("loaded_part", str(tmp_path / "part.py")).value == 3
    finally:
        sys.modules.pop("loaded_part", None)


def run(text, tmp_path, *options):
    script = tmp_path / "old_script.py"
    script.write_text(textwrap.dedent(text))
    return subprocess.run(
        [sys.executable, "-m", "minigluon", "run", *options, str(script)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.slow
def test_an_old_program_runs_with_one_notice_each(tmp_path):
    result = run(
        """
        import collections, inspect, subprocess, sys, threading, time
        import mxnet as mx
        import numpy as np
        assert np.float is float and np.object is object and np.asscalar(np.ones(1)) == 1
        assert np.array([1.5], np.float).dtype == np.float_ and np.isnan(np.NaN)
        assert issubclass(dict, collections.Mapping) and time.clock() >= 0
        assert not threading.Thread().isAlive()
        assert inspect.getargspec(lambda a: a).args == ["a"]
        import fractions, unittest
        assert fractions.gcd(4, 6) == 2
        unittest.TestCase("assertTrue").assertItemsEqual if 0 else None
        assert unittest.TestCase.assertRegexpMatches
        import multiprocessing
        assert multiprocessing.pool.Pool
        import imp
        from distutils.util import strtobool
        from distutils.version import LooseVersion
        assert LooseVersion(mx.__version__) >= LooseVersion("1.4.0") and imp.reload
        assert strtobool("Yes") == 1 and strtobool("off") == 0
        child = "import mxnet, numpy, time; numpy.bool, numpy.int, time.clock"
        subprocess.run([sys.executable, "-W", "ignore", "-c", child], check=True)
        """,
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("UserWarning: numpy") == 1
    assert result.stderr.count("UserWarning: Python") == 1
    assert "old_script.py:5" in result.stderr


@pytest.mark.slow
def test_numpy_can_be_left_alone(tmp_path):
    result = run(
        """
        import mxnet, numpy, time
        assert time.clock() >= 0
        assert not hasattr(numpy, "asscalar")
        """,
        tmp_path,
        "--no-numpy-names",
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_importing_minigluon_gives_nothing_back():
    program = "import minigluon, numpy, sys; assert not hasattr(numpy, 'asscalar')"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
