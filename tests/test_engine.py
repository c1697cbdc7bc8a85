"""The bulk size, which is kept and has no effect."""

from minigluon import engine


def test_setting_the_bulk_size_returns_the_one_before():
    before = engine.set_bulk_size(15)
    assert engine.set_bulk_size(before) == 15


def test_the_bulk_size_holds_inside_the_block():
    before = engine.set_bulk_size(1)
    with engine.bulk(10):
        assert engine.set_bulk_size(10) == 10
    assert engine.set_bulk_size(before) == 1
