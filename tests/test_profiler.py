"""What is timed, and how it is shown."""

import json

import pytest

from minigluon import autograd, nd, profiler
from minigluon.base import MXNetError


@pytest.fixture(autouse=True)
def forgotten():
    """Nothing timed before and after."""
    profiler.dumps(reset=True)
    yield
    profiler.stop()
    profiler.dumps(reset=True)


def times():
    return json.loads(profiler.dumps(format="json"))["Time"]


def test_operators_are_timed_between_run_and_stop():
    profiler.set_state("run")
    nd.relu(nd.relu(nd.array([1])))
    profiler.set_state("stop")
    nd.relu(nd.array([1]))
    assert times()["operator"]["relu"]["Count"] == 2


def test_gradients_are_timed_too():
    x = nd.ones(3)
    x.attach_grad()
    profiler.start()
    with autograd.record():
        y = nd.tanh(x)
    y.backward()
    profiler.stop()
    assert {"tanh", "tanh_pullback"} <= set(times()["operator"])


def test_running_twice_and_stopping_once_stops():
    profiler.resume()
    profiler.resume()
    profiler.pause()
    nd.relu(nd.array([1]))
    assert times() == {}


def test_the_table_is_sorted_as_asked():
    domain = profiler.Domain("mine")
    for name, count in (("often", 3), ("once", 1)):
        for _ in range(count):
            with domain.new_task(name):
                pass
    table = profiler.dumps(sort_by="count", ascending=True)
    assert table.index("once") < table.index("often")
    table = profiler.dumps(sort_by="count")
    assert table.index("often") < table.index("once")
    with pytest.raises(AssertionError, match="Invalid value provided for format: foo"):
        profiler.dumps(format="foo")


def test_the_trace_file_lists_every_event(tmp_path):
    profiler.set_config(profile_all=True, filename=str(tmp_path / "trace.json"))
    with profiler.Event("whole"), profiler.Domain("d").new_frame("step"):
        profiler.Marker(profiler.Domain("d"), "here").mark()
    profiler.dump()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [(e["cat"], e["name"]) for e in events] == [
        ("d", "here"),
        ("d", "step"),
        ("event", "whole"),
    ]
    profiler.set_config(filename="profile.json")


def test_counters_count():
    counter = profiler.Domain("d").new_counter("c", 2)
    counter += 3
    counter -= 1
    counter.increment()
    counter.decrement(2)
    assert counter.value == 3
    counter.set_value(7)
    assert (counter.value, str(counter), str(counter.domain)) == (7, "c", "d")


def test_a_task_that_was_not_started_is_not_timed():
    profiler.Task(profiler.Domain("d"), "t").stop()
    assert times() == {}


def test_unknown_options_states_and_scopes_are_refused():
    with pytest.raises(MXNetError, match="Cannot find argument 'foo'"):
        profiler.set_config(foo=1)
    with pytest.raises(KeyError, match="foo"):
        profiler.set_state("foo")
    with pytest.raises(MXNetError, match="Invalid Input: 'foo'"):
        profiler.Marker(profiler.Domain("d"), "m").mark("foo")


def test_the_oldest_names_warn():
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_state("run")
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_state("stop")
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_config("all", "profile.json")
