"""Splitting batches over contexts, clipping gradients, and small things the other modules share."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, MXNetError, four_lines
from ..util import is_np_array, is_np_shape

__all__ = [
    "HookHandle",
    "check_sha1",
    "clip_global_norm",
    "download",
    "is_np_array",
    "is_np_shape",
    "replace_file",
    "shape_is_known",
    "split_and_load",
    "split_data",
]


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list:
    """``data`` cut into ``num_slice`` pieces along ``batch_axis``, as equal as possible.

    Raises ``ValueError`` if the pieces cannot be equal, unless ``even_split=False``: then the
    first pieces are longer by one.

    Examples
    --------
    >>> [piece.shape for piece in split_data(np.zeros((5, 2)), 2, even_split=False)]
    [(3, 2), (2, 2)]
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ArgumentError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along "
            f"axis {batch_axis}. Use a batch size that's multiple of {num_slice} or set "
            "even_split=False to allow uneven partitioning of data.\n"
            f"  received  {size} rows along axis {batch_axis}, num_slice={num_slice}\n"
            f"  expected  a multiple of {num_slice} along axis {batch_axis}\n"
            "  fix       pass even_split=False, or drop the incomplete batch"
        )
    if num_slice == 1:
        return [data]
    short, longer = divmod(size, num_slice)
    pieces, begin = [], 0
    for k in range(num_slice):
        end = begin + short + (k < longer)
        pieces.append(_cut(data, batch_axis, begin, end))
        begin = end
    return pieces


def _cut(data: Any, axis: int, begin: int, end: int) -> Any:
    """``data[begin:end]`` along ``axis``."""
    if axis == 0:
        return data[begin:end]
    if isinstance(data, np.ndarray):
        return data[(slice(None),) * axis + (slice(begin, end),)]
    return nd.slice_axis(data, axis=axis, begin=begin, end=end)


def split_and_load(data: Any, ctx_list: list, batch_axis: int = 0, even_split: bool = True) -> list:
    """One piece of ``data`` on each context of ``ctx_list``, for data-parallel training.

    Examples
    --------
    >>> from minigluon import cpu
    >>> [piece.shape for piece in split_and_load(nd.ones((4, 2)), [cpu(0), cpu(1)])]
    [(2, 2), (2, 2)]
    """
    if not isinstance(data, nd.NDArray):
        data = nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    pieces = split_data(data, len(ctx_list), batch_axis, even_split)
    return [piece.as_in_context(ctx) for piece, ctx in zip(pieces, ctx_list, strict=True)]


def clip_global_norm(arrays: list, max_norm: float, check_isfinite: bool = True) -> Any:
    """Scale ``arrays`` in place to a joint 2-norm of at most ``max_norm``; the norm before.

    The norm is summed in float64. With ``check_isfinite`` it is a number and a warning tells of
    nan or inf; without, it is an array of one element and nothing is checked.

    Examples
    --------
    >>> gradients = [nd.array([3.0]), nd.array([4.0])]
    >>> clip_global_norm(gradients, 1.0)
    5.0
    """
    if len(arrays) == 0:
        raise ArgumentError(
            "clip_global_norm: there is nothing to clip.\n  received  no arrays\n"
            "  expected  a list with at least one array\n  fix       pass the gradients to clip"
        )
    total = 0.0
    for array in arrays:
        values = (array if array.stype == "default" else array.data).asnumpy()
        flat = values.reshape(-1).astype(np.float64, copy=False)
        total += float(flat @ flat)
    norm = float(np.sqrt(total))
    if check_isfinite and not np.isfinite(norm):
        warnings.warn(
            "nan or inf is detected. Clipping results will be undefined.",
            UserWarning,
            stacklevel=2,
        )
    scale = max_norm / (norm + 1e-8)
    if not scale >= 1.0:  # nan scales too, as in MXNet
        for array in arrays:
            if array.stype == "default":
                array *= scale
            else:
                (array * scale).copyto(array)
    if check_isfinite:
        return norm
    return nd.array([norm], ctx=arrays[0].context)


def check_sha1(filename: str | Path, sha1_hash: str) -> bool:
    """Whether the SHA-1 of the file is ``sha1_hash`` (its beginning is enough)."""
    digest = hashlib.sha1()
    with Path(filename).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    whole = digest.hexdigest()
    return bool(sha1_hash) and whole.startswith(sha1_hash[:40])


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """The name of the file that ``url`` was saved to; a file that is there already is kept.

    A file of the url's name in ``downloads`` below ``MXNET_HOME`` (or ``~/.mxnet``) is copied, so
    that programs run where there is no network.

    Parameters
    ----------
    path : file or folder to save to; the current folder if not given.
    sha1_hash : what the file must have; another file is fetched again.
    retries : how often to try again after a failure.

    Raises
    ------
    DownloadError : an ``OSError``, which says where to put the file.
    """
    target = _target(url, path)
    if not overwrite and target.exists() and (not sha1_hash or check_sha1(target, sha1_hash)):
        return str(target)
    target.resolve().parent.mkdir(parents=True, exist_ok=True)
    local = mxnet_home() / "downloads" / url.split("/")[-1]
    if local.is_file() and (not sha1_hash or check_sha1(local, sha1_hash)):
        shutil.copyfile(local, target)
        return str(target)
    while True:
        try:
            _fetch(url, target, sha1_hash, verify_ssl)
        except OSError as error:  # noqa: PERF203 - this loop waits for a network
            retries -= 1
            if retries < 0:
                raise DownloadError(
                    four_lines(
                        f"download: {local.name} could not be fetched: {error}",
                        url,
                        f"the file as {target}, or as {local}",
                        "get the file by other means, and put it in one of these places",
                    )
                ) from error
        else:
            return str(target)


class DownloadError(MXNetError, OSError):
    """A file could not be fetched."""


def mxnet_home() -> Path:
    """The folder for files of MXNet programs: what ``MXNET_HOME`` names, or ``~/.mxnet``."""
    return Path(os.environ.get("MXNET_HOME") or "~/.mxnet").expanduser()


def _target(url: str, path: str | None) -> Path:
    last = url.split("/")[-1]
    if path is not None:
        given = Path(path).expanduser()
        return given / last if given.is_dir() else given
    if not last:
        raise ArgumentError(
            f"download: Can't construct file-name from this URL.\n  received  url={url!r}\n"
            "  expected  a URL that ends in a file name\n  fix       pass path='file name'"
        )
    return Path(last)


def _fetch(url: str, target: Path, sha1_hash: str | None, verify_ssl: bool) -> None:
    """Download to a temporary name beside ``target`` and move it there when it is complete."""
    import ssl
    import urllib.request

    context = None if verify_ssl else ssl._create_unverified_context()
    part = Path(f"{target}.{uuid.uuid4()}")
    try:
        with (
            urllib.request.urlopen(url, timeout=60, context=context) as source,
            part.open("wb") as file,
        ):
            shutil.copyfileobj(source, file)
        if sha1_hash and not check_sha1(part, sha1_hash):
            raise OSError(f"{url}: the content does not have the SHA-1 {sha1_hash}")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def replace_file(src: str, dst: str) -> None:
    """Move ``src`` over ``dst`` in one step."""
    Path(src).replace(dst)


def shape_is_known(shape: tuple | None) -> bool:
    """Whether every dimension of a shape is there: no None, no 0, not the empty shape.

    Examples
    --------
    >>> shape_is_known((2, 3)), shape_is_known((0, 3)), shape_is_known(None)
    (True, False, False)
    """
    if not shape:
        return False
    for size in shape:
        if size < -1:
            raise ArgumentError(
                f"shape dimension size cannot be less than -1, while received {size}\n"
                f"  received  shape {shape}\n  expected  positive sizes, 0 or -1 for unknown ones\n"
                "  fix       write 0 for what is to be inferred"
            )
    return all(size > 0 for size in shape)


class HookHandle:
    """What registering a hook returns: ``detach`` or the end of a ``with`` block removes it."""

    def __init__(self):
        self._hooks: Any = None

    def attach(self, hooks_dict: dict, hook: Any) -> None:
        """Put ``hook`` among ``hooks_dict``; a handle can be attached once."""
        if self._hooks is not None:
            raise ArgumentError(
                "The same handle cannot be attached twice.\n  received  an attached HookHandle\n"
                "  expected  a new one\n  fix       make a HookHandle for every hook"
            )
        self._hooks = weakref.ref(hooks_dict)
        hooks_dict[id(self)] = hook

    def detach(self) -> None:
        """Remove the hook; nothing happens if it is gone already."""
        hooks = self._hooks and self._hooks()
        if hooks is not None:
            hooks.pop(id(self), None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()


def require_sizes(block: Any, least: int = 1, **sizes: Any) -> None:
    """Sizes of a layer are whole numbers, and not too small.

    Examples
    --------
    >>> require_sizes("Dense", units=-1)
    Traceback (most recent call last):
    minigluon.base.ArgumentError: Dense: units is no possible size.
      received  units=-1
      expected  a whole number of at least 1
      fix       pass such a number
    """
    for name, value in sizes.items():
        if not isinstance(value, int | np.integer) or value < least:
            kind = block if isinstance(block, str) else type(block).__name__
            raise ArgumentError(
                four_lines(
                    f"{kind}: {name} is no possible size.",
                    f"{name}={value!r}",
                    f"a whole number of at least {least}",
                    "pass such a number",
                )
            )


def _indent(text: str, spaces: int) -> str:
    """``text`` with all its lines but the first moved right."""
    return text.replace("\n", "\n" + " " * spaces)


def _brief_print_list(names: Any, limit: int = 7) -> str:
    """Quoted names; from a long list the first and the last ones only."""
    names = list(names)
    if len(names) <= limit:
        return ", ".join(f"'{name}'" for name in names)
    first, last = names[: limit // 2], names[-(limit - limit // 2) :]
    return f"{_brief_print_list(first)}, ..., {_brief_print_list(last)}"
