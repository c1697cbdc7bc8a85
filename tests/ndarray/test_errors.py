"""What users did wrong with arrays is told in four lines, in a class of the library."""

import numpy as np
import pytest

from minigluon import nd
from minigluon.base import MXNetError

CSR = nd.array([[0, 1], [2, 0]]).tostype("csr")
ROWS = nd.array([[0, 1], [0, 0]]).tostype("row_sparse")


def assign(array, key, value):
    array[key] = value


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (TypeError, lambda: nd.ones(2) + "x"),
        (TypeError, lambda: nd.array(object())),
        (TypeError, lambda: nd.ones(2).copyto(3)),
        (TypeError, lambda: nd.save("x", 3)),
        (ValueError, lambda: nd.save("x", 3)),
        (TypeError, lambda: nd.load(3)),
        (TypeError, lambda: float(nd.ones(2))),
        (TypeError, lambda: [1, 2][nd.ones(1)]),
        (TypeError, lambda: nd.ones(2).reshape((2,), foo=1)),
        (TypeError, lambda: assign(nd.ones(2), 0, "x")),
        (ValueError, lambda: bool(nd.ones(2))),
        (ValueError, lambda: nd.ones(2).asscalar()),
        (ValueError, lambda: nd.ones(2).tostype("csr")),
        (ValueError, lambda: nd.ones(2)[::0]),
        (ValueError, lambda: nd.moveaxis(nd.ones((2, 2)), (0, 0), (0, 1))),
        (ValueError, lambda: nd.split_v2(nd.ones(3), 2)),
        (ValueError, lambda: nd.from_numpy(np.ones((2, 2), np.float32).T)),
        (AssertionError, lambda: nd.concatenate([])),
        (AssertionError, lambda: nd.ones((2, 3)).squeeze(axis=0, inplace=True)),
        (AssertionError, lambda: nd.ones(2).expand_dims(5, inplace=True)),
        (IndexError, lambda: nd.ones(2)[5]),
        (IndexError, lambda: CSR[5]),
        (ValueError, lambda: CSR[::2]),
        (ValueError, lambda: CSR[0, 0]),
        (ValueError, lambda: ROWS[0:1]),
        (ValueError, lambda: assign(CSR, slice(None), 1)),
        (TypeError, lambda: assign(CSR, 0, nd.ones((1, 2)))),
        (TypeError, lambda: CSR.copyto(ROWS)),
        (ValueError, lambda: nd.sparse.csr_matrix(ROWS)),
        (ValueError, lambda: nd.sparse.csr_matrix(([1], ([5], [0])), shape=(2, 2))),
        (ValueError, lambda: nd.sparse.array([1])),
    ],
)
def test_errors_name_what_came_what_was_expected_and_what_to_do(kind, wrong):
    with pytest.raises(kind) as caught:
        wrong()
    assert isinstance(caught.value, MXNetError)
    words = [line.split()[0] for line in str(caught.value).splitlines()[-3:]]
    assert words == ["received", "expected", "fix"]
