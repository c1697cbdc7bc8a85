"""Errors under the names of ``mx.error``."""

from minigluon import error
from minigluon.base import MXNetError


def test_classes_register_by_their_name_or_by_one_that_is_given():
    class Odd(MXNetError):
        pass

    assert error.register(Odd) is Odd
    assert error.register("Even", Odd) is Odd
    assert error.registered["Odd"] is error.registered["Even"] is Odd


def test_internal_errors_are_errors_of_the_library():
    assert issubclass(error.InternalError, error.MXNetError)
