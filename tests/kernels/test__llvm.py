"""Machine code of kernels is kept on disk, and nothing depends on whether it is."""

import ctypes
import warnings

import numpy as np
import pytest

from minigluon.kernels import _llvm

pytestmark = pytest.mark.skipif(_llvm.target() is None, reason="llvmlite is not there")

TEXT = """
define void @double(i64 %at, i64 %n) {
entry:
  %p = inttoptr i64 %at to ptr
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k1, %loop]
  %q = getelementptr double, ptr %p, i64 %k
  %x = load double, ptr %q
  %y = fadd double %x, %x
  store double %y, ptr %q
  %k1 = add i64 %k, 1
  %end = icmp sge i64 %k1, %n
  br i1 %end, label %done, label %loop
done:
  ret void
}
"""


def doubled():
    values = np.array([1.0, -2.0, np.inf])
    function = _llvm.Module(TEXT).function("double", 2)
    function(values.ctypes.data, values.size)
    return values.tolist()


@pytest.fixture
def compilations(tmp_path, monkeypatch):
    """An empty folder of compiled code, and what is compiled."""
    monkeypatch.setenv("MINIGLUON_CACHE_DIR", str(tmp_path))
    seen, compiled = [], _llvm.compiled
    monkeypatch.setattr(_llvm, "compiled", lambda text: seen.append(text) or compiled(text))
    return seen


def test_a_function_outlives_the_names_it_was_made_with(compilations):
    assert doubled() == [2.0, -4.0, np.inf]


def test_what_was_compiled_is_found_again(compilations, tmp_path):
    assert doubled() == doubled()
    assert len(compilations) == 1
    assert len(list(tmp_path.glob("kernel-*.o"))) == 1


def test_a_damaged_file_is_compiled_again(compilations, tmp_path):
    doubled()
    (path,) = tmp_path.glob("kernel-*.o")
    path.write_bytes(path.read_bytes()[:-40])
    assert doubled() == [2.0, -4.0, np.inf]
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_used_costs_one_warning(compilations, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MINIGLUON_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(_llvm, "_told", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert doubled() == doubled() == [2.0, -4.0, np.inf]
    assert ["MINIGLUON_CACHE_DIR" in str(w.message) for w in caught] == [True]
    assert len(compilations) == 2


def test_functions_run_without_the_lock_of_python():
    function = _llvm.Module(TEXT).function("double", 2)
    assert function._flags_ & ctypes._FUNCFLAG_PYTHONAPI == 0
