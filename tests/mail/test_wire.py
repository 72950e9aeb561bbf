"""Serialised emails: they parse back as intended, with any names."""

from dataclasses import replace
from datetime import UTC, datetime
from email.header import decode_header, make_header
from email.parser import BytesParser
from email.policy import compat32, default
from email.utils import parseaddr

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import Fault
from pbem.mail.wire import LINE, LONGEST_NAME, Email, NamedAddress, one_line, serialise

INTENDED = ["From", "To", "Subject", "Date", "Message-ID", "List-Id", "MIME-Version", "Content-Type"]
INTENDED += ["Content-Transfer-Encoding"]

EMAIL = Email(
    sender=NamedAddress("Auction games", "games@play.example.org"),
    to=NamedAddress("Ann", "ann@example.org"),
    subject="Sun Bid, turn 3: what do you bid?",
    date=datetime(2026, 11, 21, 12, tzinfo=UTC),
    message_id="<m1.abc@play.example.org>",
    plain={"List-Id": "<abc.games.play.example.org>"},
    text="Ann: what do you bid?\n",
)

NASTY = [
    "Ann\r\nBcc: mallory@example.com",
    "Ann\nBcc: mallory@example.com\n\nbody",
    "=?utf-8?q?a=0aBcc:_mallory@example.com?=",
    "=?=?utf-8?q?a=0aBcc:_x@y?=",
    "Ann\x00\x0b\x0c\x1b[31m",
    "Ann\u2028Bcc: mallory@example.com\u2029",
    "\u202eAnn\u202c \u2066x\u2069",
    '"Ann" <mallory@example.com>',
    "Ann, mallory@example.com",
    "Zoë Ångström-Пётр 名前 🦊",
    "x" * 10_000,
    '(Ann \\ " ; : < > @ ,',
    "\ud800",
    "",
]


def read(written):
    return BytesParser(policy=default).parsebytes(written)


def check(email):
    written = serialise(email)
    message = read(written)
    assert list(message) == INTENDED
    assert [address.addr_spec for address in message["to"].addresses] == ["ann@example.org"]
    assert [address.addr_spec for address in message["from"].addresses] == ["games@play.example.org"]
    assert written.isascii()
    assert written.replace(b"\r\n", b"").count(b"\n") == written.replace(b"\r\n", b"").count(b"\r") == 0
    return message


@pytest.mark.parametrize("name", NASTY)
def test_no_name_and_no_title_injects_a_header(name):
    message = check(replace(EMAIL, to=NamedAddress(name, "ann@example.org"), subject=f"Turn 1: {name}"))
    assert "mallory" not in str(message["bcc"])
    assert len(str(message["subject"])) <= 200


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_makes_an_email_with_exactly_the_intended_headers(name, subject):
    message = check(replace(EMAIL, to=NamedAddress(name, "ann@example.org"), subject=subject))
    assert message["subject"] == one_line(subject)


WORDS = [
    "bid",
    "for",
    "3:",
    "Ångström’s",
    "–",
    "“ask”",
    "Nobody…",
    "(Templari),",
    "名前",
    "coins",
    "\\",
    '"',
    "a=b?",
    "x" * 90,
]


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_no_blank_between_words_is_lost(subject):
    email = replace(EMAIL, to=NamedAddress(subject, "ann@example.org"), subject=subject)
    assert check(email)["subject"] == one_line(subject)
    # The older parser, because the newer one puts a blank between the encoded words of a name (RFC 2047 says none).
    written = parseaddr(BytesParser(policy=compat32).parsebytes(serialise(email))["to"].replace("\r\n", ""))[0]
    assert str(make_header(decode_header(written))) == one_line(subject, LONGEST_NAME)


def test_a_name_is_read_unchanged():
    message = check(replace(EMAIL, to=NamedAddress("Zoë Müller, 名前", "ann@example.org"), subject="Zoë, 名前: ☀"))
    assert message["to"].addresses[0].display_name == "Zoë Müller, 名前"
    assert message["subject"] == "Zoë, 名前: ☀"


def test_long_headers_for_programs_are_unchanged():
    longest = f"<{'a' * 120}@{'b' * 60}.example>"
    plain = {
        "References": " ".join(f"<{i}{'a' * 60}@play.example.org>" for i in range(10)),
        "In-Reply-To": longest,
        "List-Unsubscribe": f"<https://{'host' * 12}.example/u/{'0' * 33}>",
        "List-Id": longest,
        "Feedback-ID": "g12:turn:play:" + "pbem" * 30,
        "Reply-To": f"r+{'7' * 33}@{'d' * 60}.example",
    }
    written = serialise(replace(EMAIL, plain=plain))
    head = written.split(b"\r\n\r\n")[0]
    assert b"=?" not in head
    for name, value in plain.items():
        assert " ".join(str(read(written)[name]).split()) == value


def test_a_header_for_programs_with_other_characters_is_refused():
    for value in ("<ä@example.org>", "<a@example.org>\r\nBcc: x@example.com", "a" * 901):
        with pytest.raises(Fault):
            serialise(replace(EMAIL, plain={"References": value}))


@pytest.mark.parametrize(
    "address", ["a@b.example, c@d.example", "a@b.example>", "", "a\r\nBcc: x@y.example", "ä@b.example"]
)
def test_anything_but_exactly_one_address_is_refused(address):
    with pytest.raises(Fault):
        serialise(replace(EMAIL, to=NamedAddress("Ann", address)))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=2000))
def test_any_body_is_read_unchanged_from_short_lines(text):
    written = serialise(replace(EMAIL, text=text))
    body = written.split(b"\r\n\r\n", 1)[1]
    assert max(map(len, body.split(b"\r\n"))) <= LINE
    assert read(written).get_content().replace("\r\n", "\n").rstrip("\n") == text.rstrip("\n")


def test_a_token_is_never_broken_in_two():
    token = "0m" + "a2" * 15 + "1"
    for before in range(80):
        line = f"{'é' * (before // 3)}{'-' * before}/{token}/bid-7 é"
        assert token.encode() in serialise(replace(EMAIL, text=f"{line}\n"))


def test_a_token_is_never_broken_in_two_in_html_either():
    token = "0u" + "z7" * 15 + "1"
    for before in range(80):
        line = (
            f'<p style="margin:0">{"é" * (before // 3)}{"-" * before}<a href="https://x.example/u/{token}">Stop</a></p>'
        )
        assert token.encode() in serialise(replace(EMAIL, html=f"<html>{line}</html>\n"))


BOTH = replace(EMAIL, html='<html lang="en"><p>Ann: what do you bid? =?é</p></html>\n')


def test_an_email_with_html_has_the_text_first_and_the_html_second():
    message = read(serialise(BOTH))
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert [part.get_content().replace("\r\n", "\n") for part in message.iter_parts()] == [BOTH.text, BOTH.html]
    assert message.defects == []


def test_the_same_email_has_the_same_bytes_and_another_email_another_boundary():
    assert serialise(BOTH) == serialise(BOTH)
    other = replace(BOTH, message_id="<m2.abc@play.example.org>")
    assert read(serialise(other)).get_boundary() != read(serialise(BOTH)).get_boundary()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=2000), st.data())
def test_any_html_is_read_unchanged_from_short_lines(html, data):
    boundary = read(serialise(BOTH)).get_boundary()
    at = data.draw(st.integers(0, len(html)))
    html = f"<p>{html[:at]}\n--{boundary}--\n{html[at:]}"
    written = serialise(replace(BOTH, html=html))
    assert max(map(len, written.split(b"\r\n"))) <= LINE + 2
    text, again = read(written).iter_parts()
    assert text.get_content().rstrip() == BOTH.text.rstrip()
    assert again.get_content().replace("\r\n", "\n").rstrip("\n") == html.rstrip("\n")


def test_dots_and_blanks_at_the_ends_of_lines_survive():
    text = ".\n..\nFrom here\n end \n\t\n" + "x" * 75 + ".\n.\n"
    body = serialise(replace(EMAIL, text=text)).split(b"\r\n\r\n", 1)[1]
    assert read(serialise(replace(EMAIL, text=text))).get_content().replace("\r\n", "\n") == text
    assert b"\r\n.\r\n" not in b"\r\n" + body
    assert b"\r\nFrom " not in b"\r\n" + body
    assert not any(line.endswith((b" ", b"\t")) for line in body.split(b"\r\n"))


def test_an_email_that_programs_would_cut_off_is_refused():
    with pytest.raises(Fault, match="too large"):
        serialise(replace(EMAIL, text="a line\n" * 10_000))
    with pytest.raises(Fault, match=r"its HTML has 35,867 bytes"):
        serialise(replace(EMAIL, html="<p>" * 11_955 + "é"))


@pytest.mark.parametrize("sun", ["", "☀ "])
@pytest.mark.parametrize("length", range(55, 140, 3))
def test_a_subject_of_any_length_begins_on_its_first_line_and_is_read_unchanged(length, sun):
    subject = sun + ("What's your secret bid for the Harvest? " * 4)[:length].strip()
    written = serialise(replace(EMAIL, subject=subject))
    assert read(written)["Subject"] == subject
    first = next(line for line in written.split(b"\r\n") if line.startswith(b"Subject:"))
    assert len(first) > len("Subject: ")


@pytest.mark.parametrize("name", ["Subject", "reply-to"])
def test_a_repeated_header_is_refused(name):
    with pytest.raises(Fault):
        serialise(replace(EMAIL, plain={"Reply-To": "<r@play.example.org>", name: "<other@play.example.org>"}))


def test_an_email_has_the_bytes_that_the_standard_library_writes():
    written = serialise(replace(EMAIL, html="<p>Ann: what do you bid?</p>\n<p>Zoë bid 7.</p>\n"))
    message = BytesParser(policy=compat32.clone(linesep="\r\n")).parsebytes(written)
    assert message.as_bytes() == written
