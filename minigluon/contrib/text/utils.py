"""Counting the tokens of a text."""

from __future__ import annotations

import re
from collections import Counter


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Counter | None = None,
) -> Counter:
    """How often each token stands in a text; delimiters are regular expressions.

    ``counter_to_update`` is counted on, and returned.

    Examples
    --------
    >>> count_tokens_from_str(" Life is great! \\n life is good. \\n", to_lower=True)["life"]
    2
    """
    tokens = filter(None, re.split(f"{token_delim}|{seq_delim}", source_str))
    if to_lower:
        tokens = (token.lower() for token in tokens)
    if counter_to_update is None:
        return Counter(tokens)
    counter_to_update.update(tokens)
    return counter_to_update
