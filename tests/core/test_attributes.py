import numpy as np
import pytest

from minigluon import nd
from minigluon.base import AttributeValueError, attribute_to_string
from minigluon.core.attributes import attribute_type


@pytest.mark.parametrize(
    ("annotation", "given", "meant"),
    [
        ("int", 3, 3),
        ("int", "3", 3),
        ("int", np.int64(3), 3),
        ("float", 2, 2.0),
        ("float", "1e-05", 1e-5),
        ("float", np.float32(0.5), 0.5),
        ("float", "inf", float("inf")),
        ("float", nd.array([1.5]), 1.5),
        ("Scalar", 2, 2),
        ("Scalar", "2", 2),
        ("Scalar", "2.5", 2.5),
        ("Scalar", True, 1),
        ("Scalar", "True", 1),
        ("Scalar", np.float64(2.5), 2.5),
        ("bool", "True", True),
        ("bool", "0", False),
        ("bool", 1, True),
        ("bool", np.bool_(True), True),
        ("str", "relu", "relu"),
        ("Shape", 2, (2,)),
        ("Shape", (2, 3), (2, 3)),
        ("Shape", [2, 3], (2, 3)),
        ("Shape", "(2, 3)", (2, 3)),
        ("Shape", "[2, 3]", (2, 3)),
        ("Shape", "(2L, 3L)", (2, 3)),
        ("Shape", "()", ()),
        ("Shape", (None, 2), (None, 2)),
        ("Floats", "(0.5, 1)", (0.5, 1.0)),
        ("Floats", 2, (2.0,)),
        ("DType", "float16", np.dtype("float16")),
        ("DType", np.int64, np.dtype("int64")),
        ("int | None", "None", None),
        ("int | None", None, None),
        ("Literal['clip', 'wrap']", "wrap", "wrap"),
    ],
)
def test_values_and_their_text_are_read_alike(annotation, given, meant):
    assert attribute_type(annotation).read("f", "x", given) == meant


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        ("int", 2.0),
        ("int", "two"),
        ("int", None),
        ("float", "two"),
        ("float", None),
        ("bool", "maybe"),
        ("bool", 0.5),
        ("Shape", "(2, x)"),
        ("Shape", (2.5,)),
        ("DType", "float7"),
        ("Literal['clip', 'wrap']", "raise"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_operator_and_attribute(annotation, given):
    with pytest.raises(AttributeValueError, match="f: attribute x is not valid") as caught:
        attribute_type(annotation).read("f", "x", given)
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["received", "expected", "fix"]


def test_a_wrong_word_is_answered_with_all_right_ones():
    with pytest.raises(ValueError, match=r"valid values are: \{'relu', 'sigmoid', 'softrelu'"):
        nd.Activation(nd.ones((1,)), act_type="foo")


def test_a_long_wrong_value_is_shortened():
    with pytest.raises(AttributeValueError) as caught:
        attribute_type("int").read("f", "x", "9" * 1000 + "x")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (2.0, "2.0"),
        (1e-5, "1e-05"),
        (1e20, "1e+20"),
        (True, "True"),
        (None, "None"),
        ((1,), "(1,)"),
        ((1, None), "(1, None)"),
        ([1, 2], "[1, 2]"),
        ((np.int64(3), np.int64(4)), "(3, 4)"),
        (np.float32(1.5), "1.5"),
        (np.float16, "float16"),
        (np.dtype("float16"), "float16"),
        ("word", "word"),
    ],
)
def test_the_text_of_an_attribute_is_mxnets(value, text):
    assert attribute_to_string(value) == text
