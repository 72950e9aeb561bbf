"""The pieces of a reply: its lines, and its messages of several lines. Each line is read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.decisions import Decision
from engine.tell import say
from pbem.domain import reply_commands
from pbem.domain.reply_commands import Command, Slip, Word, WordCommand

MOST_LINES: Final = 200
"""Lines of one reply that are read."""

_LONGEST_QUOTED: Final = 60
"""Characters of a line that a refusal quotes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of a reply, or a message of several, with what its first line means at every table."""

    lines: tuple[str, ...]
    word: WordCommand | Slip | None

    def read(self, decision: Decision | None) -> Command | None:
        """The meaning of the piece, given the open decision, if any. None if it is prose."""
        if len(self.lines) == 1:
            return self.word or reply_commands.read_in_game(self.lines[0], decision)
        return read_message(self.lines, decision)


def pieces(lines: Sequence[str]) -> list[Piece]:
    """The pieces of the lines that are read: without a message that may end only below them."""
    read, found = lines[:MOST_LINES], list[Piece]()
    words = [reply_commands.read_word(line) for line in read]
    at = 0
    while at < len(read):
        count = _length(read[at:], words[at:])
        if not count and len(lines) > len(read):
            break
        count = count or 1
        found.append(Piece(tuple(read[at : at + count]), words[at]))
        at += count
    return found


def _length(lines: Sequence[str], words: Sequence[Command | None]) -> int:
    """The number of lines, from the first, that are one piece; 0 for a message that no line ends."""
    if not _takes_text(words[0]):
        return 1
    for count, (line, word) in enumerate(zip(lines[1:], words[1:], strict=True), 2):
        if reply_commands.ends_message(line):
            return count
        if _takes_text(word):
            return 1
    return 0


def _takes_text(word: Command | None) -> bool:
    """Whether a line begins a text, for the table or for oneself."""
    return isinstance(word, WordCommand) and word.word in (Word.TALK, Word.NOTE)


def read_message(lines: Sequence[str], decision: Decision | None) -> Command | None:
    """The meaning of a message of several lines, its `end` included.

    It is a slip if a line in it is a command: a choice that is to stay secret might be told to the table.
    """
    for line in lines[1:-1]:
        command = reply_commands.read(line, decision)
        if command is not None and not (isinstance(command, Slip) and command.doubtful):
            why = say("“{line}” looks like a command. Write it below “end”.", line=command.text[:_LONGEST_QUOTED])
            # The text of a note is private: a receipt quotes nothing of it.
            return Slip(Word.NOTE if reply_commands.begins_note(lines[0]) else lines[0], why)
    return reply_commands.read(" ".join(lines[:-1]), decision)
