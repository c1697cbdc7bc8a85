"""Pictures from encoded bytes and back, for those who read files: `kernels.codec`."""

from __future__ import annotations

from ..kernels.codec import as_read, decode, encode, opened, pillow

__all__ = ["as_read", "decode", "encode", "opened", "pillow"]
