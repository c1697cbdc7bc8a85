"""What all tests share: hypothesis profiles and the folders of recorded and real data."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=20, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def folder_named_by(variable):
    """The folder an environment variable names; skips the test where it is not set."""
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def golden_folder():
    """Files written by real MXNet versions."""
    return folder_named_by("MINIGLUON_GOLDEN")


@pytest.fixture(scope="session")
def data_folder():
    """Published data sets that are too large to keep with the project."""
    return folder_named_by("MINIGLUON_DATA")
