"""A damaged file ends in a value or in one clear error: no crash, no code run, no room wasted.

10,000 files of each format under the profile ``nightly``; the same few every time otherwise.
"""

import pytest
from hypothesis import settings

from damage import FORMATS, run

NIGHTLY = settings.default.max_examples >= 1000
COUNT, SEED = (10_000, None) if NIGHTLY else (200, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_give_values_or_errors_that_name_them(name, tmp_path):
    values = run(name, COUNT, SEED, tmp_path)
    assert 0 < values < COUNT  # some damage does no harm, most does


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_take_no_more_room_than_whole_ones(name, tmp_path):
    run(name, COUNT // 5, 1, tmp_path, traced=True)
