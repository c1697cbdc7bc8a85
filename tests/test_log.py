"""Loggers with MXNet's line format."""

import logging

import pytest

from minigluon import log


@pytest.fixture
def name(request):
    """A logger of this test's own, closed after it."""
    yield request.node.name
    logger = logging.getLogger(request.node.name)
    for handler in logger.handlers[:]:
        handler.close()
        logger.removeHandler(handler)


def test_lines_say_level_time_process_and_place(name, capsys):
    logger = log.get_logger(name, level=log.INFO)
    logger.propagate = False
    logger.info("hello %d", 3)
    head, _, message = capsys.readouterr().err.partition("] ")
    letter_and_day, _, process, place = head.split(" ")
    assert letter_and_day[0] == "I"
    assert process.isdecimal()
    assert place.startswith("test_log.py:test_lines_say_level_time_process_and_place:")
    assert message == "hello 3\n"


def test_files_get_bare_messages(name, tmp_path):
    # as MXNet 1.9.1 writes them
    logger = log.get_logger(name, str(tmp_path / "log.txt"), level=log.DEBUG)
    logger.debug("hello")
    assert (tmp_path / "log.txt").read_text() == "hello\n"


def test_asking_again_sets_the_level_and_adds_no_handler(name):
    log.get_logger(name)
    logger = log.get_logger(name, level=log.ERROR)
    assert (len(logger.handlers), logger.level) == (1, logging.ERROR)


def test_without_a_name_it_is_the_root_logger():
    assert log.get_logger() is logging.getLogger()


def test_the_old_spelling_warns(name):
    with pytest.warns(DeprecationWarning, match="get_logger"):
        log.getLogger(name)
