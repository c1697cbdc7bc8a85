"""A page that shows a graph: what each node gives, where it is stored, what falls back to dense."""

from .page import Page, page

__all__ = ["Page", "page"]
