"""Replies by real mail programs: exactly the intended commands are read."""

from dataclasses import replace
from email.message import EmailMessage
from html import escape

import pytest

from pbem.domain import reply_commands
from pbem.domain.reply_commands import Slip
from pbem.mail.read.auto_replies import automation_sign
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import Nothing, Reply, parse_reply
from tests.mail.corpus import Sample, offering, same, samples, understood
from tests.mail.foreign_headers import LABELS, lines_of

DOMAIN = "play.example.org"
CLEAR = Reply(("bid 7",))
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


def read(rich: str, plain: str = "") -> Reply:
    """The reply in an email with this HTML, and the same text without it if given."""
    email = EmailMessage()
    if plain:
        email.set_content(plain)
        email.add_alternative(rich, subtype="html")
    else:
        email.set_content(rich, subtype="html")
    return parse_reply(parse(sanitise(email.as_bytes(), "ann@example.net")))


def written(rich: str, plain: str = "") -> tuple[str, ...]:
    """The lines of such a reply."""
    return read(rich, plain).lines


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
    "a rule after an import": "<style>@import url(x);.x{text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a rule among comments": "<style><!-- /* { */ .x/**/{ text-decoration:/* ; */line-through } --></style><p class=x>bid 7</p>",
    "a rule after a string": "<style>b::after{content:'}{'} .x{text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a rule after a rule within": "<style>.x{&:hover{color:red} text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a class in other letters": "<style>.x{text-decoration:line-through}</style><p class=X>bid 7</p>",
    "an escaped style": "<p style='text-decoration:line\\-through'>bid 7</p>",
    "a style of numbers": "<p style='text-decoration:\\6c ine-through'>bid 7</p>",
    "an escaped rule": "<style>.x{text-decoration:line\\2d through}</style><p class=x>bid 7</p>",
    "an entity": "<p style='text-decoration:line&#45;through'>bid 7</p>",
    "a stroke of Word": "<p style='text-line-through:double'>bid 7</p>",
    "a second sheet": "<style>.a{color:red}</style><style>.x{text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a sheet in the body": "<p class=x>bid 7</p><style>.x{text-decoration:line-through}</style>",
    "an element by its attribute": "<style>p[title=x]{text-decoration:line-through}</style><p title=x>bid 7</p>",
    "everything in an element": "<style>.a *{text-decoration:line-through}</style><div class=a><p>bid 7</p></div>",
}


@pytest.mark.parametrize("how", STRUCK)
def test_struck_text_is_not_read_whatever_strikes_it(how: str) -> None:
    assert written(f"<html><body>{STRUCK[how]}<b>bid 8</b></body></html>") == ("bid 8",)
    reply = read(f"<html><body>{STRUCK[how]}</body></html>", "bid 7\n")
    assert reply.lines == () or not reply.is_clear


def with_part(maintype: str, subtype: str, *, alternative: bool, name: str | None = None) -> Reply:
    """The reply in an email with a line of text and another part, as it's stored."""
    email = EmailMessage()
    email.set_content("bid 7\n")
    if alternative:
        email.add_alternative(b"{\\rtf1 {\\strike bid 7}}", maintype=maintype, subtype=subtype)
    else:
        email.add_attachment(b"...", maintype=maintype, subtype=subtype, filename=name)
    return parse_reply(parse(sanitise(email.as_bytes(), "ann@example.net")))


@pytest.mark.parametrize("kind", ["text/enriched", "text/richtext", "text/rtf", "application/rtf"])
def test_text_whose_other_version_is_unreadable_is_asked_about(kind: str) -> None:
    maintype, _slash, subtype = kind.partition("/")
    assert with_part(maintype, subtype, alternative=True) == replace(CLEAR, is_clear=False)
    assert with_part(maintype, subtype, alternative=False, name="rules.rtf") == CLEAR


def test_text_that_outlook_has_formatted_for_itself_is_asked_about() -> None:
    assert with_part("application", "ms-tnef", alternative=False, name="winmail.dat") == replace(CLEAR, is_clear=False)
    assert with_part("application", "pdf", alternative=False, name="winmail.dat") == CLEAR


# Nobody can tell for certain what these strike out.
DOUBTFUL = {
    "a condition": "<style>p:not(.keep){text-decoration:line-through}</style><p>bid 7</p>",
    "nested conditions": "<style>:not(:is(b,body,html)){text-decoration:line-through}</style><p>bid 7</p>",
    "a choice": "<style>:is(.x,.y){text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a rule within a rule": "<style>div{.x{text-decoration:line-through}}</style><div><p class=x>bid 7</p></div>",
    "the parent of a rule": "<style>.x{color:red; &{text-decoration:line-through}}</style><p class=x>bid 7</p>",
    "a neighbour": "<style>hr + p{text-decoration:line-through}</style><hr><p>bid 7</p>",
    "a name of any kind": "<style>*|p{text-decoration:line-through}</style><p>bid 7</p>",
    "a variable": "<style>:root{--x:line-through} .x{text-decoration:var(--x)}</style><p class=x>bid 7</p>",
    "a bracket without an end": "<style>p:not(.b{text-decoration:line-through}</style><p>bid 7</p>",
    "a block without an end": "<style>.x{text-decoration:line-through</style><p class=x>bid 7</p>",
    "blocks beyond measure": "<style>"
    + "@media all{" * 30
    + ".x{text-decoration:line-through}</style><p class=x>bid 7</p>",
    "selectors beyond measure": "<style>"
    + ",".join(f".c{number}" for number in range(60))
    + ",.x{text-decoration:line-through}</style><p class=x>bid 7</p>",
    "a sheet for some programs": "<!--[if mso]><style>p{text-decoration:line-through}</style><![endif]--><p>bid 7</p>",
    "an escaped selector": "<style>.a\\:b{text-decoration:line-through}</style><p class='a:b'>bid 7</p>",
}


@pytest.mark.parametrize("how", DOUBTFUL)
@pytest.mark.parametrize("plain", ["", "bid 7\nbid 8\n"])
def test_text_that_may_be_struck_is_asked_about(how: str, plain: str) -> None:
    reply = read(f"<html><body>{DOUBTFUL[how]}<b>bid 8</b></body></html>", plain)
    assert not reply.is_clear
    assert reply.lines in (("bid 8",), ("bid 7", "bid 8"))


@pytest.mark.parametrize(
    "sheet",
    [
        "p:not(.x){text-decoration:underline}",
        ":is(.x){text-decoration:line-through}} p{color:red}",
        "@media print{.gone{text-decoration:line-through}}",
        "div.gone > p{text-decoration:line-through}",
        "a[title]:hover{text-decoration:line-through}",
        ".gone{text-decoration:line-through; .x{color:red}}",
        "/* p{text-decoration:line-through} */ p{color:red}",
        "<!-- .gone{text-decoration:line-through} -->",
        "@keyframes x{50%{text-decoration:line-through}} @font-face{src:url(a;b{c)}",
    ],
)
def test_a_rule_that_strikes_nothing_of_a_reply_changes_nothing(sheet: str) -> None:
    reply = read(f"<html><head><style>{sheet}</style></head><body><p>bid 7</p></body></html>", "bid 7\n")
    assert reply.lines == ("bid 7",)
    assert reply.is_clear or ":is" in sheet


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


@pytest.mark.parametrize(
    ("kind", "body", "nothing"),
    [
        ("text/plain", "", Nothing.EMPTY),
        ("text/plain", " \n\n", Nothing.EMPTY),
        ("text/plain", "> bid 7\n> pass\n", Nothing.QUOTED),
        ("text/plain", "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n", Nothing.ENCRYPTED),
        ("application/pkcs7-mime; smime-type=enveloped-data", "MIIB", Nothing.ENCRYPTED),
        (
            'multipart/encrypted; boundary="x"',
            "--x\nContent-Type: application/pgp-encrypted\n\n\n--x--\n",
            Nothing.ENCRYPTED,
        ),
        ("text/plain", "bid 7\n", None),
    ],
)
def test_an_email_without_a_line_of_its_writer_is_told_by_what_it_has_instead(kind, body, nothing):
    raw = f"From: ann@example.org\nSubject: x\nContent-Type: {kind}\n\n{body}".encode()
    assert parse_reply(parse(sanitise(raw, "ann@example.org"))).nothing is nothing
