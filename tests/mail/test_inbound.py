"""The stored form of an inbound email: headers and text, but no token, no attachment and nothing too long."""

import base64
import re
import zlib
from contextlib import suppress
from datetime import date
from email.charset import QP, Charset
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput
from pbem.mail.read import inbound
from pbem.mail.read.auto_replies import automation_sign
from pbem.mail.read.delivery_reports import parse_report, read_report
from pbem.mail.read.inbound import (
    DEEPEST,
    MOST_BOUNDARIES,
    MOST_HEADER_BYTES,
    MOST_HEADER_LINES,
    MOST_LINES,
    MOST_PARTS,
    parse,
    parse_recipient,
    sanitise,
)
from pbem.mail.read.reply import parse_reply
from pbem.mail.read.sender_check import is_authenticated, sender_of
from pbem.redaction import hide_tokens
from pbem.tokens import SECRET_BYTES, Keyring, Purpose
from tests.mail import report_samples

HOST = "play.example.org"


RING = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
ROW, NONCE = 9, 77
TOKEN = RING.make(Purpose.MOVE, ROW, NONCE)
LINK = f"https://{HOST}/m/{TOKEN}/bid-7"


def sanitised(raw: bytes, envelope_from: str = "") -> bytes:
    """The stored form of an email, without tokens."""
    return hide_tokens(sanitise(raw, envelope_from), RING, {ROW: NONCE})


def words(stored: bytes) -> list[str]:
    """The texts of a stored email."""
    parts = [part for part in parse(stored).walk() if part.get_content_maintype() == "text"]
    written = [part.get_payload(decode=True) for part in parts]
    return [text.decode() for text in written if isinstance(text, bytes) and text]


# Addresses


@pytest.mark.parametrize(
    "recipient",
    [
        f"r+{TOKEN}@{HOST}",
        f"<r+{TOKEN}@{HOST}>",
        f"R+{TOKEN.upper()}@{HOST.upper()}",
        f"r+{TOKEN}@{HOST}.",
        f" r+{TOKEN}@{HOST} ",
    ],
)
def test_our_address_is_recognised_in_any_spelling(recipient):
    assert parse_recipient(recipient, HOST) == inbound.Recipient(Purpose.REPLY, TOKEN)


@pytest.mark.parametrize(
    "recipient",
    [
        "",
        "<>",
        f"games@{HOST}",
        f"r+{TOKEN}@evil.example",
        f"r+{TOKEN}@{HOST}.evil.example",
        f"r+{TOKEN}@x{HOST}",
        f"r+{TOKEN}a@{HOST}",
        f"r+{TOKEN[:-1]}@{HOST}",
        f"r+{TOKEN[:-1]}1@{HOST}",
        f"x+{TOKEN}@{HOST}",
        f"r+{TOKEN}@{HOST}\n",
        f"r+{TOKEN}@{HOST}, b+{TOKEN}@{HOST}",
        f"r+{TOKEN}",
        "r+" + "a" * 100_000,
    ],
)
def test_any_other_address_is_not_ours(recipient):
    assert parse_recipient(recipient, HOST) is None or recipient.endswith("\n")


# What is kept


def test_text_is_stored_from_any_structure():
    email = EmailMessage(policy=SMTP)
    email["From"] = "Änn <ann@example.net>"
    email.set_content("biete 7 – größer\r\n", cte="base64", charset="utf-8")
    email.add_alternative("<p>biete 7</p>", subtype="html", charset="iso-8859-1", cte="quoted-printable")
    stored = sanitise(email.as_bytes(), "ann@example.net")
    assert words(stored) == ["biete 7 – größer\n", "<p>biete 7</p>\n"]
    assert stored.startswith(b"Return-Path: <ann@example.net>\nFrom:")


@pytest.mark.parametrize(
    ("charset", "text"), [("iso-2022-jp", "七"), ("windows-1252", "“7”"), ("iso-8859-1", "“7”"), ("utf-16", "7")]
)
def test_text_in_any_encoding_is_stored(charset, text):
    written = text.encode("windows-1252" if charset == "iso-8859-1" else charset)
    raw = (
        f"Content-Type: text/plain; charset={charset}; format=flowed; delsp=yes\nContent-Transfer-Encoding: base64\n\n"
    )
    stored = sanitise(raw.encode() + base64.encodebytes(written), "")
    assert words(stored) == [text]
    assert (parse(stored).get_param("format"), parse(stored).get_param("delsp")) == ("flowed", "yes")


@pytest.mark.parametrize("charset", ["no-such-thing", "rot13", "base64", "utf-7\0", '"', "idna", "x" * 1000])
def test_text_in_an_unknown_encoding_only_loses_letters(charset):
    raw = f"Content-Type: text/plain; charset={charset}\n\nbid 7 \xff\n".encode("latin-1")
    assert words(sanitise(raw, ""))[0].startswith("bid 7 ")


def test_no_token_is_stored_from_anywhere_in_an_email():
    email = EmailMessage(policy=SMTP)
    email["To"] = f"r+{TOKEN}@{HOST}"
    email["References"] = f"<{TOKEN}@{HOST}>"
    email["Subject"] = f"Re: {TOKEN.upper()}"
    email.set_content(f"> {LINK}\r\n" * 3, cte="base64")
    email.add_alternative(f'<a href="{LINK}">x</a>', subtype="html", cte="quoted-printable")
    email.add_attachment(f"{LINK}".encode(), "text", "x-other", filename=f"{TOKEN}.txt")
    wrapped = "https%3A%2F%2Fplay.example.org%2Fm%2F" + TOKEN + "%2Fbid-7"
    raw = email.as_bytes().replace(b"\r\n\r\n", f"\r\n\r\n{LINK} preamble {wrapped}\r\n".encode(), 1)
    for each in (raw, raw.replace(f"b+{TOKEN}".encode(), b"")):
        stored = sanitised(each, f"b+{TOKEN}@{HOST}").lower()
        assert TOKEN.encode() not in stored
        assert base64.b64encode(TOKEN.encode())[:20].lower() not in stored
        assert b"/m/***/bid-7" in stored


def test_a_token_broken_in_two_by_quoting_is_not_stored():
    broken = TOKEN[:10] + "=\r\n" + TOKEN[10:]
    raw = f"Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n> {broken}\r\n".encode()
    assert words(sanitised(raw)) == ["> ***\n"]


def test_a_message_id_is_stored_even_if_it_looks_like_a_token():
    name = f"<CA{'A' * 33}@mail.example.net>"
    raw = f"Message-ID: {name}\r\nReferences: <{TOKEN}@{HOST}>\r\n\r\nbid 7\r\n".encode()
    stored = parse(sanitised(raw))
    assert (stored["Message-ID"], stored["References"]) == (name, f"<***@{HOST}>")


@pytest.mark.parametrize(
    "text",
    [
        "Rechtsschutzversicherungsgesellschaften",
        "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAARGH",
        "a" * 33,
        TOKEN[:20],
        TOKEN[:-14] + "aaaaaaaaaaaaaa",
    ],
)
def test_no_word_is_hidden_that_is_no_token(text):
    raw = f"Subject: Re: {text}\r\n\r\ntalk {text}\r\n".encode()
    assert sanitised(raw) == sanitise(raw, "")
    assert parse_reply(parse(sanitised(raw))).subject == f"Re: {text}"
    assert parse_reply(parse(sanitised(raw))).lines == (f"talk {text}",)


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("subject", ["Re: “Bid!”, turn 4: the choice is yours", "Bid!" * 30])
def test_an_encoded_subject_is_stored_whole(subject, charset):
    subject = subject.encode(charset, "ignore").decode(charset)
    raw = b"Subject: " + Header(subject, charset).encode().encode() + b"\r\n\r\nbid 7\r\n"
    assert parse_reply(parse(sanitised(raw))).subject == subject


@pytest.mark.parametrize("long", [0, 20, 24, 33, 50])
@pytest.mark.parametrize("written", [str.upper, str.lower, lambda token: f"%{ord(token[0]):x}{token[1:]}"])
def test_a_token_in_an_encoded_subject_is_not_stored(long, written):
    subject = f"{'ü' * long}{written(TOKEN)}"
    quoted = Charset("utf-8")
    quoted.header_encoding = QP
    for encoded in (Header(subject, "utf-8").encode(), Header(subject, quoted).encode()):
        stored = sanitised(f"Subject: {encoded}\r\n\r\nbid 7\r\n".encode())
        assert TOKEN[1:] not in unquote(parse_reply(parse(stored)).subject).lower()


def test_a_token_cut_short_or_broken_is_not_stored():
    for piece in (TOKEN[:24], TOKEN[:30], f"x{TOKEN}x", f"{TOKEN}{TOKEN}"):
        assert words(sanitised(f"\r\n{piece}\r\n".encode()))[0].strip("x\n") in ("***", "******")


def test_many_words_that_look_like_tokens_are_stored_in_time():
    texts = ["a" * 250_000, "".join(RING.keys[0].id + f"aaaaaa{a}{b}" for a in "abcdefgh" for b in "abcdefgh") * 400]
    assert all(sanitised(b"X: y\r\n\r\n" + text.encode()) is not None for text in texts)


def test_only_the_names_of_attachments_are_stored():
    email = EmailMessage(policy=SMTP)
    email.set_content("bid 7")
    bomb = zlib.compress(b"0" * 5_000_000)
    email.add_attachment(bomb, "application", "zip", filename="bomb.zip")
    email.add_attachment(b"\x89PNG" + b"x" * 100_000, "image", "png", filename="me.png")
    inner = EmailMessage(policy=SMTP)
    inner.set_content("somebody else's words", subtype="html")
    email.add_attachment(inner)
    stored = sanitise(email.as_bytes(), "ann@example.net")
    assert len(stored) < 2000
    assert b"bomb.zip" in stored
    assert words(stored) == ["bid 7\n"]
    assert b"someone else" not in stored


def test_sanitising_twice_changes_nothing():
    email = EmailMessage(policy=SMTP)
    email.set_content("größer 7\nFrom here on\n.\n")
    email.add_alternative("<p>7</p>", subtype="html")
    stored = sanitise(email.as_bytes(), "ann@example.net")
    assert sanitise(stored, "ann@example.net") == stored


@pytest.mark.parametrize("envelope_from", ["a\nBcc: b@example.org", "x" * 400, "a\0b"])
def test_an_invalid_envelope_sender_cannot_add_a_header(envelope_from):
    assert sanitise(b"Subject: x\n\nbid 7\n", envelope_from).startswith(b"Return-Path: <unreadable>\nSubject: x\n")


@pytest.mark.parametrize("raw", [b"", b"\n", b"\r\n\r\n", b"\0" * 1000, b"\xff" * 1000, b": :\n :\n", b"From \n\nx"])
def test_a_barely_valid_email_is_stored(raw):
    assert parse(sanitise(raw, "")) is not None


# More than is good


def nested(kind: str, deep: int) -> bytes:
    if kind == "mail":
        return b"Content-Type: message/rfc822\n\n" * deep + b"bid 7\n"
    opened = (f"Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}\n" for number in range(deep))
    return "".join(opened).encode() + b"\nbid 7\n"


TOO_MUCH = {
    "lines": b"X: y\n" * (MOST_HEADER_LINES + 2) + b"\nbid 7\n",
    "lines in one header": b"X: y\n" + b" y\n" * (MOST_HEADER_LINES + 1) + b"\nbid 7\n",
    "bytes of headers": b"X: " + b"y" * MOST_HEADER_BYTES + b"\n\nbid 7\n",
    "bytes of a folded header": b"X: y" + b" " * MOST_HEADER_BYTES + b"y\n\nbid 7\n",
    "boundaries": nested("parts", MOST_BOUNDARIES + 1),
    "parts in parts": nested("parts", DEEPEST + 2),
    "parts": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nbid 7\n" * (MOST_PARTS + 1) + b"--b--\n",
    "fields of a report": b"Content-Type: message/delivery-status\n\n" + b"a: b\n\n" * (MOST_PARTS + 1),
    # The standard library takes minutes over each of these.
    "parameters": b"Content-Type: text/plain; " + b"a=b; " * 100_000 + b"\n\nbid 7\n",
    "parameters in lines": b"Content-Type: text/plain;\n" + b" a=b;\n" * 900 + b"\nbid 7\n",
    "parameters of a part": b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: x; "
    + b"a*1=b; " * 1000,
    "parts that begin after a CR": b"Content-Type: multipart/mixed; boundary=b\n\n"
    + b"--b\r\n\r\nbid 7\r\n" * (MOST_PARTS + 1),
    "mails in mails": nested("mail", 30_000),
}


TOO_MANY_HEADERS = {"lines", "lines in one header", "bytes of headers", "bytes of a folded header", "parameters"}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_an_email_with_too_many_headers_is_refused_and_one_with_too_many_parts_is_stored_without_them(what):
    raw = b"Subject: Re: Bid\nAuto-Submitted: no\n" + TOO_MUCH[what]
    if what in TOO_MANY_HEADERS:
        with pytest.raises(BadInput, match="header lines"):
            sanitise(raw, "")
        return
    stored = parse(sanitise(raw, "ann@example.net"))
    assert (stored["Return-Path"], stored["Subject"]) == ("<ann@example.net>", "Re: Bid")
    assert len(stored.as_bytes()) < 4000
    assert parse_reply(stored).lines == ()
    assert parse_report(stored).kind == "other"


def test_a_reply_with_many_pictures_is_read():
    """Some programs begin each boundary with that word."""
    boundary = "Boundary_(ID_8yNMzKqL0)"
    picture = f"--{boundary}\r\nContent-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n"
    text = f"--{boundary}\r\nContent-Type: text/plain\r\n\r\nbid 7\r\n{picture * 40}--{boundary}--\r\n"
    raw = f'Subject: x\r\nContent-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n{text}'.encode()
    assert parse_reply(parse(sanitise(raw, ""))).lines == ("bid 7",)


@pytest.mark.parametrize("written", [b"boundary \n =b", b"BOUNDARY*0*=b", b"boundary=b"])
def test_the_boundaries_of_an_email_are_counted_however_they_are_written(written):
    part = b"--b\nContent-Type: multipart/mixed;\n " + written + b"\n\n"
    raw = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * MOST_BOUNDARIES + b"--b\n\nbid 7\n"
    assert words(sanitise(raw, "")) == []


def test_an_endless_text_is_cut():
    assert len(sanitise(b"Subject: x\n\n" + b"bid 7\n" * 200_000, "")) < inbound.LONGEST_TEXT + 1000


def test_lines_beyond_those_of_an_email_are_not_parsed():
    parts = b"--b\n\nbid 7\n--b\nContent-Type: image/png\n\n" + b"x\n" * MOST_LINES + b"--b\n\nbid 8\n--b--\n"
    assert words(sanitise(b"Content-Type: multipart/mixed; boundary=b\n\n" + parts, "")) == ["bid 7"]


LARGEST = 2**20
"""Bytes of the largest email that is read."""


@pytest.mark.parametrize(
    "raw",
    [
        # Each of these took from seconds to hours. What takes so long again ends the run by its limit for what hangs.
        b"Content-Type: text/plain; charset=punycode\n\n" + b"99" * (LARGEST // 2),
        b"X: a" + b" " * LARGEST + b"b\n\nbid 7\n",
        b"Content-Type: message/delivery-status\n\nX: a" + b" " * LARGEST + b"b\n\nAction: failed\n\n",
        b"Message-ID: <" + b"a@" * (LARGEST // 2) + b"\n\nbid 7\n",
        b"Subject: " + b"=?utf-8?q?a?= " * (LARGEST // 14) + b"\n\nbid 7\n",
    ],
    ids=["punycode", "blanks in a header", "blanks in a report", "at signs in a Message-ID", "words in a subject"],
)
def test_the_largest_email_is_read_or_refused_at_once(raw):
    with suppress(BadInput):
        stored = sanitise(raw, "ann@example.net")
        automation_sign(parse(stored), HOST, f"games@{HOST}")
        read_report(stored)
        parse_reply(parse(stored))


# The headers are those that a mail server sees


def headers_for_a_mail_server(raw):
    """Names and values of the headers, with blanks squeezed: a line ends at LF, its header at the next that begins one."""
    found = []
    for number, line in enumerate(raw.split(b"\n")):
        line = line.rstrip(b"\r").replace(b"\r", b" ")
        name = line.partition(b":")[0].rstrip(b" \t")
        if found and line[:1] in (b" ", b"\t"):
            found[-1][1] += b" " + line
        elif b":" in line and name and all(33 <= each <= 126 for each in name):
            found.append([name, line.partition(b":")[2]])
        elif number or not line.startswith(b"From "):
            break
    return [(name, b" ".join(re.split(rb"[ \t]+", value.strip(b" \t")))) for name, value in found]


def headers_for_us(raw):
    stored = parse(sanitise(raw, "ann@example.net"))
    names = [(name, str(value)) for name, value in stored.raw_items() if name != "Return-Path"]
    return [
        (name.encode(), b" ".join(re.split(rb"[ \t\n]+", value.encode("utf-8", "surrogateescape").strip(b" \t\n"))))
        for name, value in names
    ]


def without_structure(headers):
    """All headers but those about the structure of an email, which are ours when it is stored."""
    return [
        (name, value) for name, value in headers if not name.lower().startswith((b"content-", b"mime-", b"return-"))
    ]


HIDDEN_SENDERS = {
    "a CR": b"Subject: Re: x\rFrom: ann@example.net\r\r\nFrom: eve@example.net\r\n",
    "two CRs": b"Subject: Re: x\r\rFrom: ann@example.net\r\n",
    "a CR before a line end": b"From: ann@example.net\r\r\nFrom: eve@example.net\r\n",
    "a blank after a name": b"From: ann@example.net\r\nX \t: y\r\nFrom\t: eve@example.net\r\n",
    "a name of nothing": b"From: eve@example.net\r\n: x\r\nFrom: ann@example.net\r\n",
    "a name with a NUL": b"From: eve@example.net\r\nX\0: y\r\nFrom: ann@example.net\r\n",
    "a form feed": b"Subject: x\x0cFrom: ann@example.net\r\nFrom: eve@example.net\r\n",
    "a vertical tab": b"From: eve@example.net\x0b\r\nX: \x0bFrom: ann@example.net\r\n",
    "separators": b"From: eve@example.net\x1c\x1dFrom: ann@example.net\x1e\r\n",
    "a next line": b"Subject: x\xc2\x85From: ann@example.net\r\nFrom: eve@example.net\r\n",
    "a line separator": b"Subject: x\xe2\x80\xa8From: ann@example.net\r\nFrom: eve@example.net\r\n",
    "line ends of both kinds": b"Subject: x\nFrom: ann@example.net\r\nFrom: eve@example.net\n\r\nFrom: x\n",
    "an empty line with a blank": b"Subject: x\r\n \r\nFrom: eve@example.net\r\n",
    "a fold at the beginning": b" From: ann@example.net\r\nFrom: eve@example.net\r\n",
}


@pytest.mark.parametrize("how", HIDDEN_SENDERS)
def test_no_header_hides_in_another(how):
    raw = HIDDEN_SENDERS[how] + b"Message-ID: <1@example.net>\r\n\r\nbid 7\r\n"
    assert without_structure(headers_for_us(raw)) == without_structure(headers_for_a_mail_server(raw))
    assert sender_of(parse(sanitise(raw, ""))) in (None, *({"eve@example.net"} if b": eve" in raw else set()))


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *(b"From: a@b", b"From", b":", b" ", b"\t", b"X: y", b"Subject", b"\r\n", b"\n", b"\r", b"\r\r\n"),
                    *(b"\0", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff", b"From "),
                ]
            ),
            st.binary(max_size=2),
        ),
        max_size=20,
    )
)
def test_we_see_the_headers_that_a_mail_server_sees(pieces):
    raw = b"".join(pieces)
    assert without_structure(headers_for_us(raw)) == without_structure(headers_for_a_mail_server(raw))


# Known again


def test_an_email_is_recognised_by_message_id_and_recipient():
    one = b"Message-ID: <x@example.net>\r\nReceived: by a\r\n\r\nbid 7\r\n"
    again = b"Received: by b\r\nmessage-id:\r\n <x@example.net>\r\n\r\nbid 7\r\n"
    assert inbound.fingerprint(one, "r1") == inbound.fingerprint(again, "r1")
    assert inbound.fingerprint(one, "r1") != inbound.fingerprint(one, "r2")
    assert inbound.fingerprint(one, "r1") != inbound.fingerprint(one.replace(b"x@", b"y@"), "r1")


@pytest.mark.parametrize(
    "name", [b"", b"Message-ID: \n", b"Message-ID: nonsense\n", b"Message-ID: <" + b"x" * 999 + b"@y>\n"]
)
def test_an_email_without_a_message_id_is_recognised_by_its_bytes(name):
    assert inbound.fingerprint(name + b"\nbid 7\n", "r1") == inbound.fingerprint(name + b"\nbid 7\n", "r1")
    assert inbound.fingerprint(name + b"\nbid 7\n", "r1") != inbound.fingerprint(name + b"\nbid 8\n", "r1")


def test_replies_read_the_same_after_storage():
    files = sorted((Path(__file__).parent / "replies").rglob("*.eml"))
    assert len(files) > 60
    for file in files:
        raw = file.read_bytes()
        assert parse_reply(parse(sanitise(raw, "ann@example.net"))).lines == parse_reply(parse(raw)).lines, file.name


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: text/plain\xff; format=flowed\n\nbid 7\n",
        b"Subject: x\rSubject: y\n\nbid 7\n",
        b"From: a\x0b\nX: y\n\nbid 7\n",
        b"Content-Type: text/html\n\n<p>bid 7&#1;&#0;\x01\x08</p>\n",
        b"Content-Type: text/plain; charset*0=x; charset*1=y\n\nbid 7\n",
        b"Content-Transfer-Encoding: x-uuencode\n\nbegin 666 x\n\xff\xff\n",
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\nbid 7\n",
        b'Content-Type: te"xt/pl\nain\n\nbid 7\n',
    ],
)
def test_a_broken_email_is_stored_and_can_be_parsed(raw):
    stored = sanitise(raw, "ann@example.net")
    assert parse_reply(parse(stored)) is not None
    assert sanitise(stored, "ann@example.net") == stored


SEEDS = [
    *(file.read_bytes() for file in sorted((Path(__file__).parent / "replies").rglob("*.eml"))[::5]),
    report_samples.failure("5.1.1", "smtp; 550 no such user"),
    report_samples.complaint(),
]
SPLINTERS = [
    *(b"\n", b"\r", b"\r\n\r\n", b"\0", b"\xff", b"=", b"--", b";", b'"', b"<", b"&#1;", b"=?utf-8?b?", b"*0*=utf-8''"),
    *(b"Content-Type: ", b"multipart/mixed; boundary=", b"message/rfc822", b"message/delivery-status", b"From: "),
    *(b"charset=", b"utf-16", b"idna", b"punycode", b"Content-Transfer-Encoding: ", b"base64", b"x-uuencode"),
]


@given(
    raw=st.sampled_from(SEEDS),
    blows=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40), st.sampled_from(SPLINTERS)), max_size=40),
)
def test_no_email_breaks_the_parser(raw, blows):
    for place, length, splinter in blows:
        raw = raw[: place % len(raw)] + splinter + raw[place % len(raw) + length :] or b"\n"
    # To be refused in words is no break.
    with suppress(BadInput):
        stored = parse(sanitise(raw, "ann@example.net"))
        automation_sign(stored, HOST, f"games@{HOST}")
        parse_report(stored)
        parse_reply(stored)
        is_authenticated(stored, sender_of(stored) or "ann@example.net", HOST)
