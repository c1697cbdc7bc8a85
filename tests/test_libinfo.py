"""What the library says of itself."""

import importlib.metadata

import pytest

import minigluon
from minigluon import libinfo
from minigluon.__main__ import version


def test_the_version_is_that_of_the_mxnet_whose_api_it_is():
    assert minigluon.__version__ == libinfo.__version__ == "1.9.1"


def test_the_command_prints_both_versions():
    assert version() == f"minigluon {minigluon.__release__} (the API of MXNet 1.9.1)"


def test_the_distribution_has_the_version_of_the_release():
    try:
        installed = importlib.metadata.version("minigluon")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("minigluon is not installed")
    assert installed == minigluon.__release__


@pytest.mark.parametrize("find", [libinfo.find_lib_path, libinfo.find_include_path])
def test_there_is_no_compiled_library_to_find(find):
    with pytest.raises(RuntimeError, match="Cannot find the MXNet library"):
        find()
