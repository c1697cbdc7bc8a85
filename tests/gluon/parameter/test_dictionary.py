"""ParameterDict: getting and merging, saving and loading; texts recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.gluon import Constant, Parameter, ParameterDict


def one(name="w", shape=(2,), **kwargs):
    """A dictionary with the parameter p_w."""
    params = ParameterDict("p_")
    params.get(name, shape=shape, **kwargs)
    return params


def test_get_puts_the_prefix_in_front_and_returns_the_same_parameter():
    params = ParameterDict("p_")
    assert params.get("w").name == "p_w"
    assert params.get("w") is params["p_w"]


def test_get_fills_in_unknown_dimensions():
    params = one(shape=(2, 0))
    assert params.get("w", shape=(0, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("attribute", "desired", "stored"),
    [
        ("shape", (3,), "(2,)"),
        ("shape", (2, 3), "(2,)"),
        ("dtype", "float16", "<class 'numpy.float32'>"),
        ("lr_mult", 2, "1.0"),
    ],
)
def test_get_refuses_what_contradicts(attribute, desired, stored):
    with pytest.raises(AssertionError) as caught:
        one().get("w", **{attribute: desired})
    assert (
        "Cannot retrieve Parameter 'p_w' because desired attribute does not match with stored for "
        f"attribute '{attribute}': desired '{desired}' vs stored '{stored}'."
    ) in str(caught.value)


def test_get_takes_a_dtype_under_another_name():
    params = one(dtype="float32")
    assert params.get("w", dtype=np.float32) is params["p_w"]


def test_get_sets_what_was_not_said_before():
    assert one().get("w", init="ones").init == "ones"


def test_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError):
        ParameterDict("p_").get("w", foo=1)


def test_shared_dictionary_gives_its_parameters():
    first = one()
    second = ParameterDict("p_", first)
    assert second.get("w", shape=(2,)) is first["p_w"]
    assert list(second) == ["p_w"]
    second.get("v")
    assert list(first) == ["p_w"]


def test_constants_are_compared_by_value():
    params = ParameterDict("p_")
    constant = params.get_constant("c", [1, 2])
    assert isinstance(constant, Constant)
    assert params.get_constant("c", np.array([1.0, 2.0])) is constant
    assert params.get_constant("c") is constant
    with pytest.raises(AssertionError, match="already exists"):
        params.get_constant("c", [1, 3])


def test_constant_without_value_is_a_key_error():
    with pytest.raises(KeyError, match="No constant named 'p_c'"):
        ParameterDict("p_").get_constant("c")


def test_parameter_is_no_constant():
    with pytest.raises(AssertionError, match="'p_w' already exists but it is not a constant"):
        one().get_constant("w", [1])


def test_update_refuses_another_parameter_of_the_same_name():
    params = one()
    params.update(params)
    with pytest.raises(AssertionError, match="different Parameters with the same name 'p_w'"):
        params.update({"p_w": Parameter("p_w")})


def test_repr_lists_the_parameters():
    text = "p_ (\n  Parameter p_w (shape=(2,), dtype=<class 'numpy.float32'>)\n)"
    assert repr(one()) == text
    assert repr(ParameterDict()) == "(\n\n)"


def test_empty_dictionary_counts_as_true():
    assert ParameterDict()


def test_missing_key_is_a_key_error():
    with pytest.raises(KeyError):
        one()["x"]


def test_setattr_reaches_all():
    params = one()
    params.get("v", shape=(1,))
    params.setattr("grad_req", "null")
    assert [p.grad_req for p in params.values()] == ["null", "null"]


def test_initialize_uses_own_initializers_first():
    params = one(init="ones")
    params.get("v", shape=(2,))
    params.initialize("zeros", ctx=[mx.cpu(1)])
    assert params["p_w"].data().asnumpy().tolist() == [1, 1]
    assert params["p_v"].data().asnumpy().tolist() == [0, 0]
    assert params.list_ctx() == [mx.cpu(1)]
    params.reset_ctx(mx.cpu(0))
    assert params.list_ctx() == [mx.cpu(0)]


def test_load_dict_takes_arrays_by_full_name():
    params = one()
    params.load_dict({"aux:p_w": nd.array([1, 2])})
    assert params["p_w"].data().asnumpy().tolist() == [1, 2]


def test_load_dict_names_what_is_missing():
    with pytest.raises(AssertionError, match="Parameter 'p_w' is missing in param_dict"):
        one().load_dict({})


def test_load_dict_names_what_is_too_much():
    arrays = {"p_w": nd.ones(2), "z": nd.ones(2)}
    with pytest.raises(AssertionError, match="'z' loaded from param_dict is not present"):
        one().load_dict(arrays)
    params = one()
    params.load_dict(arrays, ignore_extra=True)
    assert params["p_w"].data().shape == (2,)


def test_load_dict_refuses_another_shape():
    with pytest.raises(AssertionError, match=r"expected \(2,\) vs saved \(3,\)"):
        one().load_dict({"p_w": nd.ones(3)})


def test_load_dict_refuses_another_dtype_unless_told_to_cast():
    arrays = {"p_w": nd.ones(2, dtype="float64")}
    with pytest.raises(AssertionError, match="Set cast_dtype=True"):
        one().load_dict(arrays)
    current, saved = one(), one()
    current.load_dict(arrays, cast_dtype=True)
    saved.load_dict(arrays, cast_dtype=True, dtype_source="saved")
    assert current["p_w"].data().dtype == np.float32
    assert saved["p_w"].data().dtype == np.float64


def test_failed_load_changes_nothing():
    params = one()
    params.get("v", shape=(2,))
    params.initialize("zeros")
    with pytest.raises(AssertionError):
        params.load_dict({"p_w": nd.ones(2), "p_v": nd.ones(3)})
    assert params["p_w"].data().asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize("saved", ["default", "row_sparse"])
def test_load_dict_converts_storage(stype, saved):
    params = one(shape=(2, 1), stype=stype)
    params.load_dict({"p_w": nd.ones((2, 1)).tostype(saved)})
    assert params["p_w"]._data[0].stype == stype
    assert params["p_w"]._data[0].asnumpy().tolist() == [[1], [1]]


def test_saved_file_loads_under_another_prefix(tmp_path):
    file = str(tmp_path / "w.params")
    params = one()
    params.initialize("ones")
    params.save(file, strip_prefix="p_")
    assert list(nd.load(file)) == ["w"]
    other = ParameterDict("q_")
    other.get("w", shape=(2,))
    other.load(file, restore_prefix="q_")
    assert other["q_w"].data().asnumpy().tolist() == [1, 1]


def test_save_refuses_to_strip_what_is_not_there(tmp_path):
    params = one()
    params.initialize("ones")
    with pytest.raises(ValueError, match="Prefix 'q_' is to be striped before saving"):
        params.save(str(tmp_path / "w.params"), strip_prefix="q_")


def test_load_refuses_a_prefix_the_names_do_not_have(tmp_path):
    with pytest.raises(AssertionError, match="restore_prefix is 'q_' but Parameters name 'p_w'"):
        one().load(str(tmp_path / "none"), restore_prefix="q_")


def test_load_by_full_name_names_file_and_what_it_has(tmp_path):
    file = str(tmp_path / "w.params")
    nd.save(file, {"u_w": nd.ones(2)})
    with pytest.raises(
        AssertionError, match=r"'p_w' is missing in file: .*contains parameters: 'u_w'"
    ):
        one().load(file)


def test_arrays_without_names_cannot_be_loaded(tmp_path):
    file = str(tmp_path / "list.params")
    nd.save(file, [nd.ones(2)])
    with pytest.raises(ValueError, match="arrays without names"):
        one().load(file)
