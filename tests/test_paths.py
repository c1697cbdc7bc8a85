"""Every module path of MXNet 1.9.1 leads to the same names; what is not there stands in a table."""

import gzip
import importlib
import json
import re
from pathlib import Path

import pytest

import minigluon
from minigluon import _alias, _paths

#: module path -> the public names that MXNet 1.9.1 has there
RECORDED = json.loads(
    gzip.decompress((Path(__file__).parent / "data" / "module_paths.json.gz").read_bytes())
)

#: what is not here, and why: (module path, name) as patterns
ABSENT = {
    r"(ndarray|symbol)\._internal": (
        r"_backward\w*|_sg_\w*|_npi?_\w*|_npx_\w*|_contrib_(quanti|backward|intgemm|dgl|tvm|calib)\w*"
        r"|_contrib_(re|de)quantize|_?CachedOp\w*|_CrossDeviceCopy|_Custom\w*|_N\w+|_cv\w+|_\w*_backward"
        r"|_CuDNN\w*|_FusedOp\w*|_TensorRT|_imdecode|_contrib_edge_id|_zeros_without_dtype|\w+Base"
        r"|_imperative_invoke|_set_\w+_class|_symbol_creator",
        "operators of MXNet's own machinery, gradients of operators, int8 operators",
    ),
    r"(ndarray|symbol|contrib)\.(contrib|ndarray|symbol)": (
        r"backward_\w+|\w*quanti\w+|dgl_\w+|calibrate_entropy|edge_id",
        "gradients of operators, int8 operators, operators of the Deep Graph Library",
    ),
    r"base": (
        r"MXCallbackList|add_fileline_to_docstring|build_param_doc|c2pyerror|c_\w+|check_call"
        r"|classproperty|ctypes2\w+|get_last_ffi_error|mx_float_p|register_error"
        r"|with_metaclass",
        "helpers for talking to a C library",
    ),
    r"ndarray(\.ndarray|\.sparse)?": (
        r"_new_empty_handle|_ndarray_cls|get_\w+|indexing_key\w+|check_boolean\w+|DL\w+|imdecode"
        r"|_DTYPE_\w+|_GRAD_REQ_MAP",
        "helpers for talking to a C library; imdecode is mx.image.imdecode",
    ),
    r"(ndarray|symbol)\.op": ("CachedOp", "hybridised blocks do without"),
    r"(ndarray|symbol)_doc": (r"\w+", "examples for the documentation of MXNet"),
    r"gluon\.data\.dataloader": (
        r"ConnectionWrapper|DataLoaderV1|Queue|SimpleQueue|\w+_v1|re\w+_ndarray",
        "how MXNet hands arrays from process to process",
    ),
    r"util": (r"wrap_np_\w+", "mx.np arrays"),
    r"optimizer(\.optimizer)?": ("NDabs", "mx.nd.abs under another name"),
    r"gluon\.model_zoo\.vision\.inception": ("make_aux", "a helper"),
    r"libinfo": ("find_conf_path", "there is no build"),
    r"test_utils": (r"download_model|get_im2rec_path", "downloads, and a tool of MXNet's source"),
    r"kvstore\.kvstore_server": ("KVStoreServer", "a parameter server"),
    r"contrib\.amp\.amp": ("convert_bucketing_module", "convert the symbols of the buckets"),
}


def is_absent(path, name):
    return any(
        re.fullmatch(where, path) and re.fullmatch(names, name)
        for where, (names, _) in ABSENT.items()
    )


@pytest.mark.parametrize("path", RECORDED)
def test_the_path_leads_to_the_names_mxnet_has_there(path):
    wanted = [name for name in RECORDED[path] if not is_absent(path, name)]
    if not wanted:
        pytest.skip("nothing of it is here")
    module = importlib.import_module(_alias.real_name(path))
    assert [name for name in wanted if not hasattr(module, name)] == []


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("optimizer.optimizer.SGD", "optimizer.SGD"),
        ("io.io.DataIter", "io.DataIter"),
        ("ndarray.ndarray.array", "ndarray.array"),
        ("ndarray.utils.save", "ndarray.save"),
        ("symbol.symbol.Variable", "symbol.Variable"),
        ("kvstore.kvstore.KVStore", "kvstore.KVStore"),
        ("kvstore.base.create", "kvstore.create"),
        ("gluon.nn.basic_layers.BatchNorm", "gluon.nn.BatchNorm"),
        ("gluon.nn.conv_layers.MaxPool2D", "gluon.nn.MaxPool2D"),
        ("module.base_module.BaseModule", "module.BaseModule"),
        ("image.image.imdecode", "image.imdecode"),
        ("rnn.rnn_cell.LSTMCell", "rnn.LSTMCell"),
        ("misc.FactorScheduler", "lr_scheduler.FactorScheduler"),
    ],
)
def test_old_paths_lead_to_the_same_objects(path, same):
    def found(dotted):
        module, _, name = dotted.rpartition(".")
        return getattr(importlib.import_module(f"minigluon.{module}"), name)

    assert found(path) is found(same)


def test_old_modules_are_attributes_without_an_import():
    assert minigluon.optimizer.optimizer.SGD is minigluon.optimizer.SGD
    assert minigluon.io.io.NDArrayIter is minigluon.io.NDArrayIter
    assert minigluon.nd.ndarray.NDArray is minigluon.nd.NDArray


@pytest.mark.parametrize("path", ["optimizer.optimizer", "ndarray.ndarray", "symbol.symbol"])
def test_names_that_are_nowhere_are_attribute_errors(path):
    module = importlib.import_module(f"minigluon.{path}")
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        module.nothing_of_the_kind  # noqa: B018


@pytest.mark.parametrize("package", _paths.OLD_MODULES)
def test_packages_of_the_table_answer_for_their_old_modules(package):
    importlib.import_module(f"minigluon.{package}")
    for name in _paths.OLD_MODULES[package]:
        importlib.import_module(f"minigluon.{package}.{name}")


@pytest.mark.parametrize(
    "ask", [lambda: minigluon.library.load("lib.so"), lambda: minigluon.rtc.CudaModule("code")]
)
def test_what_needs_compiled_mxnet_code_is_refused_in_words(ask):
    with pytest.raises(minigluon.MXNetError, match="fix"):
        ask()


@pytest.mark.parametrize(
    "path",
    [
        "gluon.block._flatten",
        "gluon.data.dataloader._MultiWorkerIter",
        "image.image._get_interp_method",
        "metric.ndarray",
    ],
)
def test_private_names_that_well_known_libraries_take_are_there(path):
    module, _, name = path.rpartition(".")
    assert hasattr(importlib.import_module(f"minigluon.{module}"), name)
