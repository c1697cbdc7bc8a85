"""Memory of large arrays is taken from a pool, inside kernels only."""

import contextvars
import gc
import os
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest

from minigluon.kernels import _memory

try:
    from numpy._core.multiarray import get_handler_name
except ImportError:  # numpy 1
    from numpy.core.multiarray import get_handler_name

LARGE = 1 << 18


@pytest.fixture
def pooled():
    """Calls functions where arrays are made in the pool."""
    context = contextvars.copy_context()
    if not context.run(_memory.use_pool):
        pytest.skip("there is no pool here")
    return context.run


def address(array):
    return array.ctypes.data


def test_an_array_gets_the_memory_of_one_of_its_size_that_is_gone(pooled):
    first = pooled(np.empty, LARGE, np.float32)
    was = address(first)
    del first
    second = pooled(np.empty, LARGE - 100, np.float32)  # the same size, within an eighth
    assert address(second) == was


def test_zeros_are_zero_in_used_memory(pooled):
    used = pooled(np.ones, LARGE, np.float32)
    was = address(used)
    del used
    zeros = pooled(np.zeros, LARGE, np.float32)
    assert address(zeros) == was
    assert not zeros.any()


def test_vectors_do_not_straddle_cache_lines(pooled):
    made = [pooled(np.empty, LARGE + 4096 * k, np.float32) for k in range(8)]
    assert {address(x) % 64 for x in made} == {0}


def test_arrays_made_elsewhere_are_left_alone(pooled):
    assert get_handler_name(pooled(np.empty, LARGE)) == "minigluon"
    elsewhere = contextvars.Context().run(np.empty, LARGE)
    assert get_handler_name(elsewhere) != "minigluon"


def test_arrays_can_grow_and_shrink(pooled):
    for sizes in ((10, LARGE, 20), (LARGE, 2 * LARGE, 5), (LARGE, 7, LARGE)):
        array = pooled(np.arange, sizes[0], dtype=np.float64)
        for size in sizes[1:]:
            kept = min(size, array.size)
            before = array[:kept].copy()
            array.resize(size, refcheck=False)
            np.testing.assert_array_equal(array[:kept], before)


def test_no_more_is_kept_than_is_allowed(pooled):
    state = _memory._handler().state
    before = int(state[3])
    try:
        state[3] = 4 << 20
        for k in range(40):
            pooled(np.empty, (1 << 17) + 20000 * k, np.uint8)
        gc.collect()
        assert 0 < _memory.kept_bytes() <= 4 << 20
        huge = pooled(np.ones, 8 << 20, np.uint8)
        del huge
        assert _memory.kept_bytes() <= 4 << 20
    finally:
        state[3] = before


def test_threads_share_the_pool(pooled):
    wrong = []

    def work(seed):
        def body():
            _memory.use_pool()
            rng = np.random.default_rng(seed)
            held = []
            for k in range(300):
                size = int(rng.integers(20000, 90000))
                held.append((np.full(size, seed * 1000 + k, np.float64), seed * 1000 + k))
                if len(held) > 8:
                    array, value = held.pop(int(rng.integers(8)))
                    if not (array == value).all():
                        wrong.append(value)

        contextvars.copy_context().run(body)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_python_still_counts_what_is_allocated(pooled):
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        held = pooled(np.empty, LARGE, np.float32)
        assert tracemalloc.get_traced_memory()[0] - before >= held.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("kept, there", [("0", False), ("1000000", True)])
def test_the_setting_turns_it_off(kept, there):
    text = "from minigluon.kernels import _memory; print(_memory.use_pool())"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True,
        env={**os.environ, "MINIGLUON_KEPT_MEMORY": kept},
    )  # fmt: skip
    if there and done.stdout.strip() == "False":
        pytest.skip("there is no pool here")
    assert done.stdout.strip() == str(there)
