"""Vectors of words, read from files such as those of GloVe and fastText."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ... import ndarray as nd
from ... import registry
from ...base import ArgumentError, MXNetError, four_lines
from .vocab import Vocabulary

_ROOT = str(Path("~", ".mxnet", "embeddings").expanduser())


class UnknownEmbedding(MXNetError, KeyError):
    """A kind of embedding, or a file of it, that is not known."""

    __str__ = Exception.__str__


class _TokenEmbedding(Vocabulary):
    """Tokens with numbers, and a vector for each.

    Subclasses call ``super().__init__(**kwargs)`` with the arguments of `Vocabulary` and then
    ``_load_embedding``; those that are registered can be made by `create`.
    """

    #: the names of files that are published
    pretrained_file_name_sha1: dict[str, str] = {}

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self._vectors: Any = None

    @classmethod
    def _published_file(cls, root: str, name: str) -> str:
        """The path of a published file, which has to be there: nothing is downloaded."""
        kind = cls.__name__.lower()
        path = Path(root, kind, name)
        if path.is_file():
            return str(path)
        known = ", ".join(cls.pretrained_file_name_sha1)
        raise UnknownEmbedding(
            four_lines(
                f"{cls.__name__}: the file {name} is not there.",
                str(path),
                f"a file in {path.parent}, such as {known}",
                "download it from the project that made it, and unpack it there",
            )
        )

    def _load_embedding(
        self,
        pretrained_file_path: str,
        elem_delim: str,
        init_unknown_vec: Callable[..., Any],
        encoding: str = "utf8",
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Read a file of lines ``token value value ...``.

        Of a token that comes twice the first vector counts. A line of one value is a header.
        """
        path = Path(pretrained_file_path).expanduser()
        if not path.is_file():
            raise ArgumentError(
                four_lines(
                    "`pretrained_file_path` must be a valid path to the pre-trained token "
                    "embedding file.",
                    str(path),
                    "a file",
                    "check the path",
                )
            )
        logging.info("Loading pre-trained token embedding vectors from %s", path)
        vectors = _read(path, elem_delim, encoding)
        if not vectors:
            raise ArgumentError(
                four_lines(
                    f"{path}: there is no vector in this file.",
                    "no line of a token and two or more values",
                    f"lines such as the{elem_delim}0.1{elem_delim}0.2",
                    "check elem_delim",
                )
            )
        width = len(next(iter(vectors.values())))
        unknown = vectors.pop(self._unknown_token, None)
        if vocabulary is None:
            new = [token for token in vectors if token not in self._token_to_idx]
            self._idx_to_token += new
            self._token_to_idx = {token: k for k, token in enumerate(self._idx_to_token)}
        else:
            self._take(vocabulary)
        table = np.empty((len(self), width), np.float32)
        table[:] = init_unknown_vec(shape=width).asnumpy() if unknown is None else unknown
        for k, token in enumerate(self._idx_to_token[1:], 1):
            if token in vectors:
                table[k] = vectors[token]
        self._vectors = nd.array(table)

    def _take(self, vocabulary: Vocabulary) -> None:
        """Have the tokens of a vocabulary."""
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = vocabulary.reserved_tokens
        self._idx_to_token = vocabulary.idx_to_token[:]
        self._token_to_idx = dict(vocabulary.token_to_idx)

    @property
    def vec_len(self) -> int:
        """How many values a vector has."""
        return int(self._vectors.shape[1])

    @property
    def idx_to_vec(self) -> nd.NDArray:
        """The vectors in the order of their tokens' numbers, (tokens, vec_len)."""
        return self._vectors

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> nd.NDArray:
        """The vector of a token, or the vectors of a list of tokens.

        Unknown ones get the first vector; with ``lower_case_backup`` that of the token in small
        letters, if there is one.
        """
        several = isinstance(tokens, list)
        numbers = []
        for token in tokens if several else [tokens]:
            backup = self._token_to_idx.get(token.lower(), 0) if lower_case_backup else 0
            numbers.append(self._token_to_idx.get(token, backup))
        vectors = self._vectors.asnumpy()[np.array(numbers, np.int64)]
        return nd.array(vectors if several else vectors[0])

    def update_token_vectors(self, tokens: Any, new_vectors: nd.NDArray) -> None:
        """Give tokens other vectors: a token and (vec_len,), or a list and (tokens, vec_len).

        Raises ``ValueError`` for a token that is not here, and changes nothing then.
        """
        several = isinstance(tokens, list) and len(tokens) != 1
        tokens = tokens if isinstance(tokens, list) else [tokens]
        if not isinstance(new_vectors, nd.NDArray) or new_vectors.ndim not in (
            (2,) if several else (1, 2)
        ):
            raise ArgumentError(
                "`new_vectors` must be a 2-D NDArray if `tokens` is a list of multiple strings."
                if several
                else "`new_vectors` must be a 1-D or 2-D NDArray if `tokens` is a singleton."
            )
        vectors = new_vectors.asnumpy().reshape((-1, new_vectors.shape[-1]))
        if vectors.shape != (len(tokens), self.vec_len):
            raise ArgumentError(
                four_lines(
                    "The length of new_vectors must be equal to the number of tokens and the width "
                    "of new_vectors must be equal to the dimension of embeddings of the glossary.",
                    str(new_vectors.shape),
                    str((len(tokens), self.vec_len)),
                    "pass a vector for each token",
                )
            )
        for token in tokens:
            if token not in self._token_to_idx:
                raise ArgumentError(
                    f"Token {token} is unknown. To update the embedding vector for an unknown "
                    "token, please specify it explicitly as the `unknown_token` "
                    f"{self._unknown_token} in `tokens`. This is to avoid unintended updates."
                )
        rows = np.array([self._token_to_idx[token] for token in tokens], np.int64)
        table = self._vectors.asnumpy().copy()
        table[rows] = vectors
        self._vectors[:] = table


def _read(path: Path, delimiter: str, encoding: str) -> dict[Any, np.ndarray]:
    """The vectors of a file by token."""
    vectors: dict[Any, np.ndarray] = {}
    width = None
    with path.open(encoding=encoding) as file:
        for number, line in enumerate(file, 1):
            token, *texts = line.rstrip().split(delimiter)
            if not texts:
                continue
            try:
                values = np.array(texts, np.float64).astype(np.float32)
            except ValueError as error:
                raise ArgumentError(
                    four_lines(
                        f"{path}, line {number}: not a number.",
                        f"{line.strip()[:60]!r}",
                        f"a token and numbers, {delimiter!r} between them",
                        "check elem_delim",
                    )
                ) from error
            if len(values) == 1:
                warnings.warn(
                    f"At line {number} of the pre-trained text embedding file: token {token} with "
                    f"1-dimensional vector {values.tolist()} is likely a header and is skipped.",
                    stacklevel=4,
                )
            elif token in vectors:
                warnings.warn(
                    f"At line {number} of the pre-trained token embedding file: the embedding "
                    f"vector for token {token} has been loaded and a duplicate embedding for the "
                    "same token is seen and skipped.",
                    stacklevel=4,
                )
            elif len(values) != (width or len(values)):
                raise ArgumentError(
                    f"At line {number} of the pre-trained token embedding file: the dimension of "
                    f"token {token} is {len(values)} but the dimension of previous tokens is "
                    f"{width}. Dimensions of all the tokens must be the same."
                )
            else:
                width = len(values)
                vectors[token] = values
    return vectors


register = registry.get_register_func(_TokenEmbedding, "token embedding")
_create = registry.get_create_func(_TokenEmbedding, "token embedding")


def create(embedding_name: str, **kwargs: Any) -> _TokenEmbedding:
    """An embedding of a registered kind, such as ``glove`` or ``fasttext``.

    Examples
    --------
    >>> create("glove", pretrained_file_name="glove.6B.50d.txt")  # doctest: +SKIP
    """
    made: _TokenEmbedding = _create(embedding_name, **kwargs)
    return made


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """The names of published files: of one kind, or of all kinds in a dict."""
    kinds = registry.get_registry(_TokenEmbedding)
    if embedding_name is None:
        return {
            name: list(cls.pretrained_file_name_sha1)
            for name, cls in kinds.items()
            if cls.pretrained_file_name_sha1
        }
    if embedding_name not in kinds:
        raise UnknownEmbedding(
            f"Cannot find `embedding_name` {embedding_name}. Use "
            "`get_pretrained_file_names(embedding_name=None).keys()` to get all the valid "
            "embedding names."
        )
    return list(kinds[embedding_name].pretrained_file_name_sha1)


@register
class GloVe(_TokenEmbedding):
    """The vectors of the GloVe project (Pennington et al., 2014).

    Parameters
    ----------
    pretrained_file_name : a file in ``embedding_root/glove``; nothing is downloaded.
    embedding_root : a folder.
    init_unknown_vec : makes the vector of unknown tokens, if the file has none.
    vocabulary : take its tokens only.
    kwargs : arguments of `Vocabulary`.
    """

    pretrained_file_name_sha1 = dict.fromkeys(
        ("glove.42B.300d.txt", *(f"glove.6B.{n}d.txt" for n in (50, 100, 200, 300)),
         "glove.840B.300d.txt", *(f"glove.twitter.27B.{n}d.txt" for n in (25, 50, 100, 200))),
        "",
    )  # fmt: skip

    def __init__(
        self,
        pretrained_file_name: str = "glove.840B.300d.txt",
        embedding_root: str = _ROOT,
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ):
        path = self._published_file(embedding_root, pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(path, " ", init_unknown_vec, vocabulary=vocabulary)


@register
class FastText(_TokenEmbedding):
    """The vectors of the fastText project (Bojanowski et al., 2017).

    Parameters
    ----------
    pretrained_file_name : a file in ``embedding_root/fasttext``; nothing is downloaded.
    embedding_root : a folder.
    init_unknown_vec : makes the vector of unknown tokens, if the file has none.
    vocabulary : take its tokens only.
    kwargs : arguments of `Vocabulary`.
    """

    pretrained_file_name_sha1 = dict.fromkeys(
        ("crawl-300d-2M.vec", "wiki.simple.vec", *(f"wiki.{language}.vec" for language in
         ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"))),
        "",
    )  # fmt: skip

    def __init__(
        self,
        pretrained_file_name: str = "wiki.simple.vec",
        embedding_root: str = _ROOT,
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ):
        path = self._published_file(embedding_root, pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(path, " ", init_unknown_vec, vocabulary=vocabulary)


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a file of one's own, with a token and its values on each line.

    Parameters
    ----------
    pretrained_file_path : the file.
    elem_delim : what stands between them.
    encoding : of the file.
    init_unknown_vec : makes the vector of unknown tokens, if the file has none.
    vocabulary : take its tokens only.
    kwargs : arguments of `Vocabulary`.
    """

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._load_embedding(
            pretrained_file_path, elem_delim, init_unknown_vec, encoding, vocabulary
        )


class CompositeEmbedding(_TokenEmbedding):
    """The vectors of several embeddings side by side, for the tokens of a vocabulary.

    Parameters
    ----------
    vocabulary : whose tokens.
    token_embeddings : an embedding, or a list of them.
    """

    def __init__(self, vocabulary: Vocabulary, token_embeddings: Any):
        parts = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        if not isinstance(vocabulary, Vocabulary):
            raise ArgumentError(
                "The argument `vocabulary` must be an instance of mxnet.contrib.text.vocab."
                f"Vocabulary.\n  received  {type(vocabulary).__name__}\n"
                "  expected  a Vocabulary\n  fix       make one of a Counter of tokens"
            )
        if not all(isinstance(part, _TokenEmbedding) for part in parts):
            raise ArgumentError(
                "The argument `token_embeddings` must be an instance or a list of instances of "
                "token embeddings, whose vectors are put side by side."
            )
        super().__init__()
        self._take(vocabulary)
        tokens = self._idx_to_token
        vectors = [part.get_vecs_by_tokens(tokens) for part in parts]
        self._vectors = nd.concat(*vectors, dim=1) if len(vectors) > 1 else vectors[0]
