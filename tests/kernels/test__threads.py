"""Work shared by threads."""

import threading

import pytest

from minigluon.kernels import _threads


@pytest.mark.parametrize("count, most, wanted", [(7, 3, [2, 2, 3]), (2, 5, [1, 1]), (3, 0, [3])])
def test_jobs_are_shared_in_order_and_as_equal_as_can_be(count, most, wanted):
    parts = _threads.share(range(count), most)
    assert [len(p) for p in parts] == wanted
    assert [k for p in parts for k in p] == list(range(count))


def test_no_jobs_are_one_empty_part():
    assert [len(p) for p in _threads.share(range(0), 4)] == [0]


def test_every_part_but_the_first_has_a_thread_of_its_own():
    seen = {}
    meeting = threading.Barrier(3, timeout=10)

    def work(part):
        meeting.wait()  # all are there at the same time
        seen[part] = threading.get_ident()

    _threads.run(["a", "b", "c"], work)
    assert len(set(seen.values())) == 3
    assert seen["a"] == threading.get_ident()


def test_what_is_raised_in_a_thread_is_raised_when_all_have_ended():
    ended = []

    def work(part):
        if part == 1:
            raise ValueError("part 1")
        ended.append(part)

    with pytest.raises(ValueError, match="part 1"):
        _threads.run([0, 1, 2], work)
    assert sorted(ended) == [0, 2]


@pytest.mark.parametrize("text, wanted", [("3", 3), ("5,2", 5)])
def test_the_first_setting_that_says_a_number_counts(monkeypatch, text, wanted):
    monkeypatch.delenv("MINIGLUON_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "9")
    assert _threads.threads() == wanted
