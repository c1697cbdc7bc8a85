"""What is timed, and how it is shown."""

import json

import pytest

from minigluon import autograd, gluon, nd, profiler, sym
from minigluon.base import MXNetError
from minigluon.core.state import state
from minigluon.profiler import timing


@pytest.fixture(autouse=True)
def forgotten():
    """Nothing timed before and after."""
    forget()
    yield
    profiler.stop()
    forget()


def forget():
    timing.records.clear()
    timing.told = 0


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
    domain = profiler.Domain("d")
    with profiler.Event("whole"), domain.new_frame("step"):
        profiler.Marker(domain, "here").mark("global")
        domain.new_counter("seen", 5)
    profiler.dump()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [(e["cat"], e["name"], e["ph"]) for e in events] == [
        ("d,instant_marker", "here", "i"),
        ("d", "seen", "C"),
        ("d,frame", "step", "X"),
        ("event", "whole", "X"),
    ]
    assert events[0]["s"] == "g"
    assert events[1]["args"] == {"seen": 5}
    assert events[3]["ts"] <= events[2]["ts"] <= events[0]["ts"]
    assert all(e["dur"] >= 0 for e in events[2:])
    profiler.set_config(filename="profile.json")


def bound(width=3):
    """An executor of a small classifier."""
    score = sym.FullyConnected(sym.var("data"), num_hidden=width, name="fc")
    return sym.SoftmaxOutput(score, name="softmax").simple_bind(None, data=(2, 3))


def test_every_kernel_of_a_graph_is_timed_and_the_graph_as_a_whole():
    executor = bound()
    profiler.start()
    executor.forward(is_train=True)
    executor.backward()
    executor.forward(is_train=True)
    profiler.stop()
    found = times()
    assert found["graph"]["forward"]["Count"] == 2
    assert found["graph"]["backward"]["Count"] == 1
    assert found["operator"]["FullyConnected"]["Count"] == 2
    assert found["operator"]["_fully_connected_weight_grad"]["Count"] == 1
    whole = found["graph"]["forward"]["Total"]
    assert found["operator"]["FullyConnected"]["Total"] <= whole


def test_every_step_of_a_trainer_is_timed_compiled_or_not():
    net = gluon.nn.Dense(2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    profiler.start()
    for _ in range(5):
        with autograd.record():
            loss = net(nd.ones((4, 3))).sum()
        loss.backward()
        trainer.step(4)
    profiler.stop()
    counts = {name: row["Count"] for name, row in times()["operator"].items()}
    assert "checked" not in counts
    one_by_one = counts.get("sgd_mom_update", 0) / 2  # of two parameters
    assert counts.get("compiled(SGD.update)", 0) + one_by_one == 5


def test_results_are_the_same_while_timing_and_afterwards():
    executor = bound()
    for array in executor.arg_arrays:
        array[:] = 0.5
    before = executor.forward()[0].asnumpy().copy()
    profiler.start()
    during = executor.forward()[0].asnumpy().copy()
    profiler.stop()
    after = executor.forward()[0].asnumpy()
    assert (before == during).all()
    assert (before == after).all()


@pytest.mark.slow
def test_compiled_parts_are_called_after_their_operators(monkeypatch):
    monkeypatch.setenv("MINIGLUON_FUSE", "always")
    block = gluon.nn.HybridLambda(lambda F, x: F.sigmoid(F.exp(x) + F.square(x)))
    block.hybridize()
    x = nd.ones((64, 64))
    wanted = block(x).asnumpy()
    profiler.start()
    found = block(x).asnumpy()
    profiler.stop()
    assert (found == wanted).all()
    names = set(times()["operator"])
    assert any(n.startswith("compiled(") and "exp" in n and "sigmoid" in n for n in names)


def test_off_nothing_stands_between_an_operator_and_its_kernel():
    before = state.quietly
    profiler.start()
    assert state.quietly is not before
    profiler.stop()
    assert state.quietly is before


def test_counters_count():
    counter = profiler.Domain("d").new_counter("c", 2)
    counter += 3
    counter -= 1
    counter.increment()
    counter.decrement(2)
    assert counter.value == 3
    counter.set_value(7)
    assert (counter.value, str(counter), str(counter.domain)) == (7, "c", "d")
    row = json.loads(profiler.dumps(format="json"))["Counter"]["d"]["c"]
    assert (row["Count"], row["Total"], row["Min"], row["Max"]) == (6, 7, 2, 7)
    assert "Min Value" in profiler.dumps()


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


def test_a_table_that_is_reset_begins_anew_and_the_trace_keeps_all(tmp_path):
    profiler.set_config(filename=str(tmp_path / "trace.json"))
    profiler.set_state("run")
    nd.relu(nd.array([1]))
    profiler.dumps(reset=True)
    nd.tanh(nd.array([1]))
    assert set(times()["operator"]) == {"tanh"}
    profiler.dump()
    names = {
        event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    }
    assert {"relu", "tanh"} <= names
