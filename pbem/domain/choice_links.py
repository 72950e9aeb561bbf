"""Choices as segments of URLs: `bid-7` for `bid 7`."""

from typing import Any

from engine import grammar
from engine.decisions import Choice


def choice_segment(choice: Choice) -> str:
    return "-".join(_words((choice.verb, *choice.values))).lower()


def text_segment(text: str) -> str:
    """A typed choice as one segment of a URL, comparable with `choice_segment`."""
    return "-".join(grammar.words_of(segment_text(text)))


def segment_text(segment: str) -> str:
    """A segment as text: `bid-7` as `bid 7`. Text is returned unchanged, so that `bid -1` never means `bid 1`."""
    return segment if " " in segment or "" in segment.split("-") else segment.replace("-", " ")


def _words(values: tuple[Any, ...]) -> list[str]:
    return [word for value in values for word in (_words(value) if isinstance(value, tuple) else [str(value)])]
