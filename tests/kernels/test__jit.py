import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from minigluon.kernels import _jit

SOURCE = '''
from minigluon.kernels._jit import jit

FACTOR = 3


@jit
def double(x):
    """Twice x."""
    return 2 * x


@jit
def total(values):
    """FACTOR times the doubled values, added up."""
    result = 0.0
    for k in range(values.size):
        result += double(values[k]) * FACTOR
    return result
'''


@pytest.fixture
def run(tmp_path):
    """Run Python text beside a module ``kernels_here`` in a process of its own."""
    (tmp_path / "kernels_here.py").write_text(SOURCE)

    def start(text, **environment):
        root = str(Path(_jit.__file__).parents[2])
        path = os.pathsep.join([str(tmp_path), root])
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text)],
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done

    return start


CALL = """
    import sys, warnings
    import numpy as np
    import kernels_here
    assert "numba" not in sys.modules
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert kernels_here.total(np.ones(3)) == 18
        assert kernels_here.double(2.5) == 5
    print(*[w.message for w in caught], sep="|")
"""


def test_a_kernel_keeps_the_name_and_text_of_its_function():
    @_jit.jit
    def triple(x):
        """Three times x."""
        return 3 * x

    assert triple.__name__ == "triple"
    assert triple.__doc__ == "Three times x."
    assert triple.python(2) == 6


def test_the_dispatcher_takes_the_wrappers_place(numba_loaded):
    from minigluon.kernels import csr

    csr._sum_rows(np.ones(2), np.array([0, 2]), np.zeros(1))
    assert hasattr(csr._sum_rows, "py_func")


def test_compiled_is_the_same_object_every_time(numba_loaded):
    @_jit.jit(cache=False)
    def same(x):
        return x

    assert same.compiled() is same.compiled()
    assert same(3) == 3


@pytest.mark.slow
def test_a_cache_on_disk_is_written_and_used(run, tmp_path):
    done = run(CALL, MINIGLUON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.strip() == ""
    assert list((tmp_path / "cache").rglob("*.nbi"))
    hits = CALL + "    print(sum(kernels_here.total.stats.cache_hits.values()))\n"
    again = run(hits, MINIGLUON_CACHE_DIR=str(tmp_path / "cache"))
    assert again.stdout.split() == ["1"]


@pytest.mark.slow
def test_a_cache_folder_that_cannot_be_written_means_one_warning(run, tmp_path):
    # a file where a folder would have to be: refused even to root, unlike a read-only folder
    (tmp_path / "__pycache__").write_text("")
    blocked = str(tmp_path / "__pycache__" / "cache")
    places = {"HOME": blocked, "XDG_CACHE_HOME": blocked, "LOCALAPPDATA": blocked}
    done = run(CALL, NUMBA_CACHE_DIR=blocked, **places)
    assert done.stdout.count("cannot be kept on disk") == 1
    assert "MINIGLUON_CACHE_DIR" in done.stdout


@pytest.mark.slow
def test_a_disk_that_fails_later_means_one_warning(run, tmp_path):
    text = """
        import shutil, warnings
        import numpy as np
        import kernels_here
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kernels_here.total.compiled(), kernels_here.double
            shutil.rmtree("cache")
            open("cache", "w").close()
            assert kernels_here.total(np.ones(3)) == 18
            assert kernels_here.total(np.ones(3)) == 18
        print(*[w.message for w in caught], sep="|")
    """
    done = run(text, MINIGLUON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.count("cannot be kept on disk") == 1


@pytest.mark.slow
def test_damaged_cache_files_mean_one_warning(run, tmp_path):
    run(CALL, MINIGLUON_CACHE_DIR=str(tmp_path / "cache"))
    for file in (tmp_path / "cache").rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:30])
    done = run(CALL, MINIGLUON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.count("cannot be kept on disk") <= 1


@pytest.mark.slow
def test_without_numba_the_python_function_runs_with_one_warning(run):
    text = CALL.replace(
        "import kernels_here", "sys.modules['numba'] = None\n    import kernels_here"
    )
    text = text.replace('assert "numba" not in sys.modules', "pass")
    done = run(text)
    assert done.stdout.count("numba cannot be imported") == 1


@pytest.mark.slow
def test_without_numba_all_kernels_are_right(run):
    done = run(
        """
        import sys, warnings
        sys.modules["numba"] = None
        import numpy as np
        from minigluon.kernels import csr, csr_arithmetic, csr_dot, libsvm, row_sparse, updates
        from minigluon.storage import densify
        warnings.simplefilter("ignore", RuntimeWarning)
        r = np.random.RandomState(0)
        a = np.where(r.rand(40, 50) < 0.2, r.randint(1, 9, (40, 50)), 0).astype(np.float32)
        b = np.where(r.rand(40, 50) < 0.2, r.randint(1, 9, (40, 50)), 0).astype(np.float32)
        w = [r.randint(-4, 5, (50, k)).astype(np.float32) for k in (1, 2, 3)]
        g = [r.randint(-4, 5, (40, k)).astype(np.float32) for k in (1, 2, 3)]
        x, y = csr.from_dense(a), csr.from_dense(b)
        assert (csr.densify(x) == a).all()
        for k in range(3):
            assert (csr_dot.dot(x, w[k]) == a @ w[k]).all()
            assert (densify(csr_dot.dot_transposed(x, g[k])) == a.T @ g[k]).all()
        assert (densify(csr_arithmetic.add(x, y)) == a + b).all()
        assert (densify(csr_arithmetic.multiply(x, y)) == a * b).all()
        assert (csr.column_sums(x) == a.sum(0)).all() and (csr.row_sums(x) == a.sum(1)).all()
        ids = r.randint(0, 30, 2000)
        counts = row_sparse.scatter_rows(ids, np.ones((2000, 1)), 30).values[:, 0]
        assert (counts == np.bincount(ids)).all()
        weight = np.ones(5000, np.float32)
        updates.sgd(weight, weight, weight, lr=0.5)
        assert (weight == 0.5).all()
        assert libsvm.parse(b"1 2:3\\n" * 20000).values.sum() == 60000
        """
    )
    assert done.stdout == ""
