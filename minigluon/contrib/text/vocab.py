"""Vocabularies: the number of each token, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from ...base import ArgumentError, four_lines


class Vocabulary:
    """Numbers for tokens: 0 for an unknown one, then the reserved ones, then by frequency.

    Parameters
    ----------
    counter : how often each token was seen (`utils.count_tokens_from_str`); tokens of one frequency
        are sorted.
    most_freq_count : as many tokens of the counter at most.
    min_freq : only tokens seen so often.
    unknown_token : what stands for tokens that are not here.
    reserved_tokens : tokens that are here whatever was counted, such as ``<pad>``.

    Examples
    --------
    >>> words = Vocabulary(Counter("b b a c c c".split()), min_freq=2)
    >>> words.idx_to_token, words.to_indices(["c", "a"])
    (['<unk>', 'c', 'b'], [1, 0])
    """

    def __init__(
        self,
        counter: Counter | None = None,
        most_freq_count: int | None = None,
        min_freq: int = 1,
        unknown_token: Hashable = "<unk>",
        reserved_tokens: Sequence[Hashable] | None = None,
    ):
        if min_freq < 1:
            raise ArgumentError("`min_freq` must be set to a positive value.")
        reserved = list(reserved_tokens or ())
        if unknown_token in reserved:
            raise ArgumentError("`reserved_token` cannot contain `unknown_token`.")
        if len(set(reserved)) != len(reserved):
            raise ArgumentError("`reserved_tokens` cannot contain duplicate reserved tokens.")
        if counter is not None and not isinstance(counter, Counter):
            raise ArgumentError("`counter` must be an instance of collections.Counter.")
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else reserved
        self._idx_to_token: list[Any] = [unknown_token, *reserved]
        present = set(self._idx_to_token)
        by_name = sorted((counter or Counter()).items(), key=lambda pair: pair[0])
        by_frequency = sorted(by_name, key=lambda pair: pair[1], reverse=True)
        new = [t for t, count in by_frequency if count >= min_freq and t not in present]
        self._idx_to_token += new[:most_freq_count]
        self._token_to_idx = {token: k for k, token in enumerate(self._idx_to_token)}

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> dict[Any, int]:
        """The number of each token."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[Any]:
        """The tokens in the order of their numbers."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Hashable:
        """What stands for tokens that are not here."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[Any] | None:
        """The reserved tokens."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """The number of a token, or those of a list of tokens; 0 for unknown ones."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, 0) for token in tokens]
        return self._token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """The token of a number, or those of a list; ``ValueError`` for a number without one."""
        if isinstance(indices, list):
            return [self._token(index) for index in indices]
        return self._token(indices)

    def _token(self, index: Any) -> Any:
        if not isinstance(index, int) or not 0 <= index < len(self._idx_to_token):
            raise ArgumentError(
                four_lines(
                    f"Token index {index} in the provided `indices` is invalid.",
                    repr(index),
                    f"an integer from 0 to {len(self._idx_to_token) - 1}",
                    "see len(vocabulary)",
                )
            )
        return self._idx_to_token[index]
