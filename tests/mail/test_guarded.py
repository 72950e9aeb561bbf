"""Hostile email: what a library cannot read within its limits has no lines and reports nothing, and the next email is read."""

import pytest

from pbem.mail.read import guarded
from pbem.mail.read.delivery_reports import Report, ReportKind, read_report
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import Nothing, Reply, parse_reply
from pbem.mail.read.style_sheets import may_strike

HOSTILE_HTML = {
    "a style sheet of comments that never end": "<style>" + ("/* " * 20 + "\r\n") * 800 + "</style>talk hello",
    "blanks as wide as a book": '<div style="padding-left: 100000em">' * 10 + "a<br>" * 3900,
    "a number without end": '<div style="padding-left: ' + "9" * 400 + 'em">talk hi</div>',
    "a style within a style": '<div style="' + "style:" * 1500 + '">talk hi</div>',
    "tables in tables": "<table><tr><td>" * 8 + "<td>" + "a" * 20000 + "</td></tr><tr><td>x" * 3800,
}


def html(text: str) -> bytes:
    return sanitise(f"Subject: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{text}".encode(), "a@b.example")


@pytest.mark.parametrize("text", HOSTILE_HTML.values(), ids=HOSTILE_HTML)
def test_hostile_html_raises_nothing_and_the_next_reply_is_read(text: str) -> None:
    parse_reply(parse(html(text)))
    assert parse_reply(parse(html("<p>bid 7</p>"))).lines == ("bid 7",)


def test_the_steps_of_an_animation_strike_out_nothing() -> None:
    animated = "<style>@keyframes x{50%{text-decoration:line-through}}</style><p>bid 7</p>"
    assert parse_reply(parse(html(animated))).lines == ("bid 7",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "This Message was undeliverable due to the following reason:\n\n" + "<" * 2600,
        "Failed addresses follow:\n\n" + " " * 50000 + "\n" + " " * 20,
    ],
)
def test_a_report_that_no_parser_ends_with_is_not_understood(text: str) -> None:
    head = b"From: MAILER-DAEMON@x.example\r\nSubject: failure\r\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\n"
    assert read_report(sanitise(head + text.encode() + b"\n--q\n\nx\n--q--\n", "")) == Report(ReportKind.OTHER)
    assert guarded.failures_in(parse(head)) == (False, False)


@pytest.mark.parametrize("name", ["charset", "format", "boundary"])
def test_a_text_with_a_parameter_with_and_without_numbered_pieces_is_left_out(name: str) -> None:
    raw = f"Subject: x\nContent-Type: text/plain; {name}*=utf-8''a; {name}*1*=x\n\ntalk hi\n".encode()
    assert parse_reply(parse(sanitise(raw, "a@b.example"))) == Reply((), subject="x", nothing=Nothing.EMPTY)


def test_a_reference_with_more_digits_than_a_number_may_have_leaves_a_reply_readable() -> None:
    raw = (
        "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nbid 7\n--b\nContent-Type: text/html\n\n"
        f"<p>bid 7 &#{'9' * 5000};</p>\n--b--\n"
    )
    assert may_strike(f"&#{'9' * 5000};")
    assert parse_reply(parse(raw.encode())).lines[0].startswith("bid 7")
