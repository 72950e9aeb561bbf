"""The messages of `tests/mail/replies`, each with the choices its writer had and the intended ones."""

import json
from collections import defaultdict
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from engine import grammar
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Thing
from engine.tell import say
from pbem.domain import reply_commands
from pbem.mail.read.reply import parse_reply

FOLDER = Path(__file__).parent / "replies"
ANY_NUMBER = "up to N"


@dataclass(frozen=True)
class Sample:
    """A message, with its choices."""

    name: str
    raw: bytes
    message: EmailMessage
    legal: tuple[str, ...]
    commands: tuple[str, ...]


def samples(folder: str) -> list[Sample]:
    """All messages of a folder, in order."""
    return [_sample(path) for path in sorted((FOLDER / folder).glob("*.eml"))]


def offering(legal: tuple[str, ...]) -> Decision:
    """A decision with exactly these choices: a number if all are numbers, else one of a few things."""
    blanks = defaultdict(list)
    for each in legal:
        if each != ANY_NUMBER:
            verb, _, rest = each.partition(" ")
            blanks[verb].append(rest)
    acts = tuple(_act(verb, rests, raising=ANY_NUMBER in legal) for verb, rests in blanks.items())
    idle = next((act for act in acts if not act.blanks), None)
    default = Choice(idle.verb) if idle is not None else next(acts[0].choices())
    return Decision(0, say("What now?"), acts, default)


def understood(message: EmailMessage, legal: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a message that are commands or slips for these choices, in the writer's words."""
    decision = offering(legal)
    read = (reply_commands.read(line, decision) for line in parse_reply(message).lines)
    return tuple(command.text for command in read if command is not None)


def same(read: tuple[str, ...], intended: tuple[str, ...]) -> bool:
    """Whether these are the same commands, apart from case and punctuation around words."""
    return [grammar.words_of(each) for each in read] == [grammar.words_of(each) for each in intended]


def _sample(path: Path) -> Sample:
    known = json.loads(path.with_suffix(".json").read_text())
    raw = path.read_bytes()
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return Sample(path.stem, raw, message, tuple(known["legal"]), tuple(known["commands"]))


def _act(verb: str, rests: list[str], *, raising: bool) -> Act:
    if rests == [""]:
        return Act(verb)
    if all(rest.isdigit() for rest in rests):
        numbers = [int(rest) for rest in rests]
        return Act(verb, (Amount("coins", min(numbers), max(numbers), raising=raising),))
    return Act(verb, (OneOf("thing", tuple(Thing(rest, rest) for rest in rests)),))
