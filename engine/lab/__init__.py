"""The lab: bots play many games, and a report says what a designer wants to know.

Who wins from which seat, how long games last, how close they end, who comes back, what winners choose, and what
each option changes. Every figure has an interval, and the same seed gives the same report.

`games` plays one game and records it, `figures` counts, `sections` makes the tables and charts of the report, and
`report` writes them as Markdown and as a page. `python -m engine lab` runs it in several processes.
"""

from engine.lab.games import Experiment, Record, play, variants
from engine.lab.report import as_markdown, as_page
from engine.lab.sections import Section, sections

__all__ = ["Experiment", "Record", "Section", "as_markdown", "as_page", "play", "sections", "variants"]
