"""The doors for email: every reply and every report is read or refused, in steps that its length explains."""

from contextlib import suppress

import pytest
from hypothesis import example, given, strategies as st

from pbem.domain import reply_commands
from pbem.domain.errors import BadInput
from pbem.mail.read import inbound, style_sheets
from pbem.mail.read.auto_replies import automation_sign, is_auto_reply
from pbem.mail.read.delivery_reports import read_report
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import parse_reply
from pbem.mail.read.sender_check import is_authenticated, sender_of, verdicts
from tests.fuzz.door import Growing, examples, growing, must_be_linear, pieces
from tests.mail.test_inbound import SEEDS

HOST = "play.example.org"
LARGEST = 2**20
"""Bytes of the largest email that is read, if no setting says otherwise."""

SYNTAX = (
    *(
        "Content-Type: ",
        "text/plain",
        "text/html",
        "multipart/mixed; boundary=b",
        "message/rfc822",
        "message/delivery-status",
    ),
    *(
        "; charset=",
        "utf-16",
        "punycode",
        "x-unknown",
        "; format=flowed",
        "\n--b\n",
        "\n--b--\n",
        "\n\n",
        "\nX: ",
        ":\n",
    ),
    *("Content-Transfer-Encoding: ", "base64", "quoted-printable", "x-uuencode", "begin 666 x\n", "=\n", "=41", "QUJD"),
    *("Content-Disposition: ", "attachment; filename*=utf-8''", "*0*=", "=?utf-8?q?a?= ", "=?punycode?b?YQ==?="),
)
HEADERS = (
    *(
        "From",
        "To",
        "Subject",
        "Message-ID",
        "Authentication-Results",
        "Received",
        "Return-Path",
        "Auto-Submitted",
        "List-Id",
    ),
    *("Content-Type", "Content-Disposition", "Content-Transfer-Encoding", "Precedence", "Feedback-ID", "X-Any"),
)
VALUES = (
    *SYNTAX,
    "Ann <ann@example.net>",
    f"{HOST}; dmarc=pass header.from=example.net",
    "dkim=pass header.d=",
    " \n ",
)
LINES = (
    *(
        "> ",
        ">> ",
        "On Sat, 21 Nov 2026 Ann wrote:\n",
        "From: a\n",
        "Sent: b\n",
        "-----Original Message-----\n",
        "-- \n",
    ),
    *("[pbem x t7]", "Sent from my iPhone\n", "a" * 70 + "\n", " \n", "_" * 30, "--- your move ---"),
)
HTML = (
    *(
        "<p>",
        "</p>",
        "<div>",
        "<div class=gmail_quote>",
        "<blockquote>",
        "<table><tr><td>",
        "<br>",
        "<li>",
        "<ul>",
        "<b>",
    ),
    *(
        "<!--",
        "-->",
        "<style>",
        "<script>",
        "<a href='x'>",
        "<meta charset=punycode>",
        "<s>",
        "<pre>",
        "&nbsp;",
        "<svg>",
    ),
)
SHEETS = (
    *("p", ".x", "#y", "*", "&", ":not(", ":is(.a,.b)", "[a=b]", "@media all", "@import url(x);", "@keyframes k"),
    *(
        "{text-decoration:line-through}",
        "line-through",
        "line\\-through;",
        "{display:none}",
        "opacity:0",
        "transform:",
        "\\6c ",
        "/*",
        "*/",
        "<!--",
        "-->",
        "{",
        "}",
    ),
)
REPORTS = (
    *("Action: failed\n", "Status: 5.1.1\n", "Diagnostic-Code: smtp; 550 ", "Final-Recipient: rfc822; ", "\n\n", "\n"),
    *("<ann@example.net>:\n", "550 5.1.1 unknown user", "The following addresses had permanent fatal errors", "----- "),
    *("Hi. This is the qmail-send program", "Feedback-Type: abuse\n", "Reporting-MTA: dns; x\n", "a@b.example "),
)


def read(raw: bytes) -> None:
    """All that is done with an email before its commands are carried out."""
    # To be refused in our own words is no fault.
    with suppress(BadInput):
        inbound.bounce_tokens(raw)
        inbound.is_for(inbound.raw_headers(raw), f"r+{'a' * 33}@{HOST}", HOST)
        stored = sanitise(raw, "ann@example.net")
        email = parse(stored)
        automation_sign(email, HOST, f"games@{HOST}")
        is_auto_reply(email)
        address = sender_of(email)
        is_authenticated(email, address or "ann@example.net", HOST)
        verdicts(email, HOST)
        for line in parse_reply(email).lines:
            reply_commands.read(line, None)
        read_report(stored)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def in_header(name: str, value: Growing, length: int) -> bytes:
    return encoded(f"{name}: {value.at(length)}\n\nbid 7\n")


def as_text(kind: str, text: Growing, length: int) -> bytes:
    return encoded(f"Subject: Re\nContent-Type: {kind}\n\n{text.at(length)}")


def as_report(text: Growing, length: int) -> bytes:
    return encoded(
        f"Content-Type: multipart/report; boundary=b\n\n--b\n\n{text.at(length)}\n--b\n"
        f"Content-Type: message/delivery-status\n\nX: y\n\n{text.at(length)}\n--b--\n"
    )


TEXTS = st.sampled_from(["text/plain", "text/plain; format=flowed; delsp=yes", "text/plain; charset=utf-16"])


@examples
@given(whole=growing(*SYNTAX))
def test_an_email_of_any_bytes_is_read_in_steps_that_its_length_explains(whole):
    must_be_linear(lambda length: read(encoded(whole.at(length))))


@examples
@given(name=st.sampled_from(HEADERS), value=growing(*VALUES))
def test_a_header_is_read_in_steps_that_its_length_explains(name, value):
    must_be_linear(lambda length: read(in_header(name, value, length)))


@examples
@given(kind=TEXTS, text=growing(*LINES))
def test_a_reply_is_read_in_steps_that_its_length_explains(kind, text):
    must_be_linear(lambda length: read(as_text(kind, text, length)))


@examples
@given(text=growing(*HTML))
def test_html_is_read_in_steps_that_its_length_explains(text):
    must_be_linear(lambda length: read(as_text("text/html", text, length)))


@examples
@example(sheet=Growing("p", "{", "text-decoration:line-through"))
@example(sheet=Growing("", ".a ", "{text-decoration:line-through}"))
@example(sheet=Growing("", ".a,", "{text-decoration:line-through}"))
@example(sheet=Growing("", ":not(", ".a{text-decoration:line-through}"))
@given(sheet=growing(*SHEETS))
def test_a_style_sheet_is_read_in_steps_that_its_length_explains(sheet):
    must_be_linear(lambda length: style_sheets.withdrawn(sheet.at(length)))


@examples
@given(text=growing(*REPORTS))
def test_a_report_is_read_in_steps_that_its_length_explains(text):
    must_be_linear(lambda length: read(as_report(text, length)))


@examples
@given(seed=st.sampled_from(SEEDS), place=st.integers(0, 10_000), cut=st.integers(0, 40), blow=pieces(*SYNTAX, *VALUES))
def test_a_damaged_email_is_read_or_refused(seed, place, cut, blow):
    place %= len(seed)
    read(seed[:place] + encoded(blow) + seed[place + cut :])


@examples
@example(line=Growing("bid 7 ", "- ", "x"))
@example(line=Growing("", "please, ", "bid 7"))
@example(line=Growing("bid 7", " thanks", "!"))
@given(line=growing("please ", "thank you", "- ", " – ", "…", "talk ", ": ", ">", "\u0336"))
def test_a_line_of_a_reply_is_read_in_steps_that_its_length_explains(line):
    must_be_linear(lambda length: reply_commands.without_courtesy(reply_commands.bare(line.at(length))))


# At the largest size no steps are counted: what goes back and forth inside one of them hangs here, and is stopped. It gives
# no signal a chance meanwhile, so the whole process is.
IS_STOPPED = pytest.mark.timeout(method="thread")


BLANKS = Growing("a", " ", "b")


@pytest.mark.slow
@IS_STOPPED
@examples
@example(in_header("X-Any", BLANKS, 90_000))
@example(in_header("Message-ID", Growing("<", "a@", ""), 90_000))
@example(as_report(Growing("X: a", " ", "b\n\nAction: failed"), LARGEST // 2))
@example(as_text("text/plain", BLANKS, LARGEST))
@given(
    raw=st.one_of(
        growing(*SYNTAX).map(lambda whole: encoded(whole.at(LARGEST))),
        st.builds(in_header, st.sampled_from(HEADERS), growing(*VALUES), st.just(90_000)),
        st.builds(as_text, TEXTS, growing(*LINES), st.just(LARGEST)),
        st.builds(as_text, st.just("text/html"), growing(*HTML), st.just(LARGEST)),
        st.builds(as_report, growing(*REPORTS), st.just(LARGEST // 2)),
    )
)
def test_the_largest_emails_are_read_or_refused(raw):
    read(raw[:LARGEST])


@pytest.mark.slow
@IS_STOPPED
@examples
@example(sheet=Growing("a", "[", "{text-decoration:line-through}"))
@example(sheet=Growing("a", "(b", "{text-decoration:line-through}"))
@example(sheet=Growing("", '"a', "{text-decoration:line-through}"))
@example(sheet=Growing("", "\\2d ", "{text-decoration:line-through}"))
@example(sheet=Growing("", "/* ", "{text-decoration:line-through}"))
@example(sheet=Growing("", "a:b-", "{text-decoration:line-through}"))
@given(sheet=growing(*SHEETS))
def test_the_largest_style_sheets_are_read(sheet):
    style_sheets.withdrawn(sheet.at(300_000))


@IS_STOPPED
@pytest.mark.parametrize("piece", ["- ", "please ", "– please - ", "thank ", "!"])
@pytest.mark.parametrize("end", ["", "x", "please"])
def test_the_longest_lines_are_read(piece, end):
    reply_commands.without_courtesy("bid 7 " + piece * (LARGEST // len(piece)) + end)


@IS_STOPPED
@pytest.mark.parametrize("label", ["punycode", "idna", "utf-7", "unicode-escape", "zlib", "hex", "uu", "undefined"])
@pytest.mark.parametrize("digits", ["a", "99"])
def test_no_codec_is_asked_that_could_take_long(label, digits):
    read(
        encoded(
            f"Subject: =?{label}?q?{digits * 30_000}?=\nFrom: =?{label}?q?{digits * 400}?= <a@b.example>\n\nbid 7\n"
        )
    )
    read(encoded(f"Content-Type: text/plain; charset={label}\n\n{digits * (LARGEST // len(digits))}"))
