"""Text to learn a language from: WikiText, read from local files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .... import ndarray as nd
from ....base import ArgumentError, four_lines
from ....contrib.text.vocab import Vocabulary
from ...data.dataset import Dataset
from ...data.vision.datasets import default_root

__all__ = ["WikiText2", "WikiText103"]

EOS_TOKEN = "<eos>"
"""What stands at the end of every line."""


class _WikiText(Dataset):
    """Sequences of words as numbers, and the same one word later."""

    _namespace = ""
    _files = {
        "train": "wiki.train.tokens",
        "validation": "wiki.valid.tokens",
        "test": "wiki.test.tokens",
    }

    def __init__(
        self,
        root: str | None = None,
        segment: str = "train",
        vocab: Vocabulary | None = None,
        seq_len: int = 35,
    ):
        if segment not in self._files:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: there is no segment {segment!r}.",
                    f"segment={segment!r}",
                    f"one of {list(self._files)}",
                    "pass segment='train'",
                )
            )
        folder = default_root(self._namespace) if root is None else root
        self._root = str(Path(folder).expanduser())
        self._segment, self._seq_len = segment, seq_len
        words = _words(self._file().read_text(encoding="utf8"))
        self._counter = Counter(word for word in words if word != EOS_TOKEN)
        if vocab is None:
            vocab = Vocabulary(self._counter, reserved_tokens=[EOS_TOKEN])
        self._vocab = vocab
        numbers = np.array(vocab.to_indices(words), dtype=np.int32)
        rows = (len(numbers) - 1) // seq_len
        self._data = nd.array(numbers[: rows * seq_len].reshape(rows, seq_len), dtype="int32")
        later = numbers[1 : rows * seq_len + 1].reshape(rows, seq_len)
        self._label = nd.array(later, dtype="int32")

    def _file(self) -> Path:
        path = Path(self._root) / self._files[self._segment]
        if path.is_file():
            return path
        raise FileNotFoundError(
            four_lines(
                f"{type(self).__name__}: {path.name} not found, and nothing is downloaded.",
                f"root={self._root!r}",
                f"{path.name} in that folder",
                f"get {self._namespace}-v1.zip, unpack it there, or pass root=folder",
            )
        )

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and their numbers."""
        return self._vocab

    @property
    def frequencies(self) -> Counter:
        """How often each word occurs."""
        return self._counter

    def __getitem__(self, idx: Any) -> tuple[Any, Any]:
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return len(self._label)


def _words(text: str) -> list[str]:
    lines = [line.split() for line in text.splitlines()]
    return [word for line in lines if line for word in [*line, EOS_TOKEN]]


class WikiText2(_WikiText):
    """Two million words of Wikipedia (Merity et al., 2016) as sequences of numbers.

    An element is a sequence, and the sequence that begins one word later.

    Parameters
    ----------
    root : folder with ``wiki.train.tokens``, ``wiki.valid.tokens`` and ``wiki.test.tokens``.
    segment : ``"train"``, ``"validation"`` or ``"test"``.
    vocab : the vocabulary of the training segment, for the other ones.
    seq_len : words in a sequence.
    """

    _namespace = "wikitext-2"


class WikiText103(_WikiText):
    """A hundred million words of Wikipedia, otherwise as ``WikiText2``."""

    _namespace = "wikitext-103"
