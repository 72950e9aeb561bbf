"""The report as Markdown, and as one HTML file with its charts, which needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from engine.lab.sections import Chart, Section

_BAR, _GAP, _LABEL, _WIDTH = 18, 6, 110, 640
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 } th, td { text-align: left; padding: .25rem 1rem .25rem 0 }
th { border-bottom: 2px solid #888 } td { border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto } .bar { fill: #2f6f9f } .whisker, .line { stroke: #222; stroke-width: 2 }
.line { stroke-dasharray: 4 4 } text { font-size: 13px; fill: currentColor }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #181818 } .whisker, .line { stroke: #eee } .bar { fill: #5a9bd0 } }
"""


def as_markdown(title: str, about: str, sections: Iterable[Section]) -> str:
    """Return the report as Markdown. Charts are left out: their numbers are in the tables, or in the page."""
    return "\n".join([f"# {title}", "", about, *(line for section in sections for line in _markdown(section))]) + "\n"


def as_page(title: str, about: str, sections: Iterable[Section]) -> str:
    """Return the report as one HTML file."""
    body = "\n".join(line for section in sections for line in _html(section))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n<p>{escape(about)}</p>\n{body}\n"
        "</body>\n</html>\n"
    )


def _markdown(section: Section) -> Iterator[str]:
    yield from ("", f"## {section.title}", "", section.says, "")
    yield f"| {' | '.join(section.columns)} |"
    yield "|" + "---|" * len(section.columns)
    yield from (f"| {' | '.join(row)} |" for row in section.rows)


def _html(section: Section) -> Iterator[str]:
    yield f"<h2>{escape(section.title)}</h2>\n<p>{escape(section.says)}</p>\n<table>"
    yield f"<tr>{''.join(f'<th>{escape(column)}</th>' for column in section.columns)}</tr>"
    for row in section.rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</table>"
    for chart in section.charts:
        if chart.bars:
            yield from _svg(chart)


def _svg(chart: Chart) -> Iterator[str]:
    longest = max(max(bar.length, bar.high or 0, chart.line or 0) for bar in chart.bars) or 1
    scale = (_WIDTH - _LABEL - 80) / longest
    height = len(chart.bars) * (_BAR + _GAP) + _GAP
    yield f'<p>{escape(chart.title)}</p>\n<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">'
    yield f"<title>{escape(chart.title)}</title>"
    for number, bar in enumerate(chart.bars):
        top = _GAP + number * (_BAR + _GAP)
        middle, end = top + _BAR / 2, _LABEL + scale * bar.length
        yield f'<text x="{_LABEL - 8}" y="{middle + 4}" text-anchor="end">{escape(bar.label)}</text>'
        yield f'<rect class="bar" x="{_LABEL}" y="{top}" width="{scale * bar.length:.1f}" height="{_BAR}"/>'
        if bar.low is not None and bar.high is not None:
            low, end = _LABEL + scale * bar.low, _LABEL + scale * bar.high
            yield f'<line class="whisker" x1="{low:.1f}" y1="{middle}" x2="{end:.1f}" y2="{middle}"/>'
        yield f'<text x="{end + 6:.1f}" y="{middle + 4}">{_short(bar.length)}{escape(chart.unit)}</text>'
    if chart.line is not None:
        at = _LABEL + scale * chart.line
        yield f'<line class="line" x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{height}"/>'
    yield "</svg>"


def _short(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"
