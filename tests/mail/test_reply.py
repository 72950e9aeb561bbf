"""Replies by real mail programs: exactly the intended commands are read."""

from email.message import EmailMessage
from html import escape

import pytest

from pbem.domain import reply_commands
from pbem.domain.reply_commands import Slip
from pbem.mail.read.auto_replies import automation_sign
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import parse_reply
from tests.mail.corpus import Sample, offering, same, samples, understood
from tests.mail.foreign_headers import LABELS, lines_of

DOMAIN = "play.example.org"
OUTSIDE, INSIDE = samples("outside"), samples("inside")


def named(sample: Sample) -> str:
    return sample.name


def intended(sample: Sample) -> tuple[str, ...]:
    """The lines that the server may read as commands, without a program's text."""
    stored = parse(sanitise(sample.raw, "somebody@example.net"))
    if automation_sign(stored, DOMAIN, f"games@{DOMAIN}") is not None:
        return ()
    return understood(sample.message, sample.legal)


def test_there_are_sixty_replies_and_a_third_are_from_outside() -> None:
    assert len(OUTSIDE) + len(INSIDE) >= 60
    assert len(OUTSIDE) * 3 >= len(OUTSIDE) + len(INSIDE)


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_is_read_as_intended(sample: Sample) -> None:
    read_as = intended(sample)
    assert same(read_as, sample.commands), f"{read_as} was read, {sample.commands} was meant"


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_reads_the_same_after_storage(sample: Sample) -> None:
    stored = parse(sanitise(sample.raw, "somebody@example.net"))
    assert parse_reply(stored).lines == parse_reply(sample.message).lines


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_only_legal_commands_of_a_reply_could_be_played(sample: Sample) -> None:
    decision = offering(sample.legal)
    read_as = [reply_commands.read(line, decision) for line in parse_reply(sample.message).lines]
    moves = [command.choice for command in read_as if isinstance(command, reply_commands.Move)]
    assert all(choice in decision for choice in moves)
    assert len(moves) + sum(isinstance(command, Slip) for command in read_as) <= len(sample.commands)


def written(rich: str, plain: str = "") -> tuple[str, ...]:
    """The lines that are read of an email with this HTML, and the same text without it if given."""
    email = EmailMessage()
    if plain:
        email.set_content(plain)
        email.add_alternative(rich, subtype="html")
    else:
        email.set_content(rich, subtype="html")
    return parse_reply(parse(sanitise(email.as_bytes(), "ann@example.net"))).lines


STRUCK = {
    "an element": "<p><s>bid 7</s></p>",
    "an old element": "<p><STRIKE>bid 7</STRIKE></p>",
    "a deletion": "<p><del>bid 7</del></p>",
    "a style": '<p style="color:red; Text-Decoration: Line-Through">bid 7</p>',
    "the longer property": '<p><span style="text-decoration-line:line-through">bid 7</span></p>',
    "a class": "<style>/* x */ .x1 { text-decoration: line-through }</style><p class='b x1'>bid 7</p>",
    "a class of an element": "<style>p.a, span.gone{text-decoration:underline LINE-THROUGH}</style><span class=gone>bid 7</span>",
    "an id": "<style>#old{text-decoration-line:line-through}</style><p id=old>bid 7</p>",
    "an element of a sheet": "<style>@media screen { i{color:red} em{text-decoration:line-through} }</style><em>bid 7</em>",
    "an element within another": "<style>div > p i{text-decoration:line-through}</style><div><p><i>bid 7</i></div>",
    "an element by its attribute": "<style>p[title=x]{text-decoration:line-through}</style><p title=x>bid 7</p>",
    "everything in an element": "<style>.a *{text-decoration:line-through}</style><div class=a><p>bid 7</p></div>",
}


@pytest.mark.parametrize("how", STRUCK)
def test_struck_text_is_not_read_whatever_strikes_it(how: str) -> None:
    assert "bid 7" not in written(f"<html><body>{STRUCK[how]}<b>bid 8</b></body></html>")
    assert "bid 7" not in written(f"<html><body>{STRUCK[how]}</body></html>", "bid 7\n")


@pytest.mark.parametrize("language", LABELS)
def test_a_quote_below_headers_of_any_language_in_html_is_not_read(language: str) -> None:
    headers = [escape(line).split(": ", 1) for line in lines_of(language, "Ann <ann@example.net>", "Games")]
    boxes = (
        "<hr><div>" + "<br>".join(f"<b>{label}:</b> {value}" for label, value in headers) + "</div>",
        "<div style='border-top:solid #E1E1E1 1.0pt'><p>"
        + "<br>\n".join(f"<b><span>{label}:</span></b><span> {value}</span>" for label, value in headers)
        + "</p></div>",
        "<table>" + "".join(f"<tr><td>{label}:</td><td>{value}</td></tr>" for label, value in headers) + "</table>",
    )
    for box in boxes:
        assert written(f"<html><body><p>bid 5</p>{box}<p>bid 1</p></body></html>") == ("bid 5",), box


def test_text_beside_a_stroke_is_read() -> None:
    assert written("<p><s>bid 7</s> bid 8</p><p>pass</p>", "bid 7 bid 8\n\npass\n") == ("bid 8", "pass")
    assert written("<style>.x{text-decoration:line-through}</style><p>bid 8</p>", "bid 8\n") == ("bid 8",)
