"""Names and attributes of scopes."""

import threading

import pytest

from minigluon.attribute import AttrScope
from minigluon.name import NameManager, Prefix


def test_names_are_counted_for_each_hint():
    names = NameManager()
    assert [names.get(None, hint) for hint in ("fc", "fc", "relu", "fc")] == [
        "fc0",
        "fc1",
        "relu0",
        "fc2",
    ]


def test_an_empty_name_counts_as_none():
    assert NameManager().get("", "fc") == "fc0"


def test_prefix_stands_before_given_and_made_names():
    names = Prefix("p_")
    assert (names.get("q", "exp"), names.get(None, "exp")) == ("p_q", "p_exp0")


def test_the_innermost_block_is_current_until_it_ends():
    outer = NameManager.current
    with Prefix("a_") as first:
        with NameManager() as second:
            assert NameManager.current is Prefix.current is second
        assert NameManager.current is first
    assert NameManager.current is outer


def test_another_thread_starts_with_scopes_of_its_own():
    seen = []
    with Prefix("a_"), AttrScope(group="1"):
        thread = threading.Thread(
            target=lambda: seen.append((type(NameManager.current), AttrScope.current.get(None)))
        )
        thread.start()
        thread.join()
    assert seen == [(NameManager, {})]


def test_inner_attributes_add_to_outer_ones_and_win():
    with AttrScope(a="1", b="1"), AttrScope(b="2"):
        assert AttrScope.current.get({"c": "3"}) == {"a": "1", "b": "2", "c": "3"}


def test_a_scope_forgets_what_surrounded_it():
    scope = AttrScope(a="1")
    with AttrScope(b="2"), scope:
        pass
    with scope:
        assert AttrScope.current.get(None) == {"a": "1"}


def test_current_can_be_assigned():
    before = AttrScope.current
    AttrScope.current = AttrScope(a="1")
    try:
        assert AttrScope.current.get(None) == {"a": "1"}
    finally:
        AttrScope.current = before


def test_attributes_are_strings():
    with pytest.raises(ValueError, match="group"):
        AttrScope(group=4)
