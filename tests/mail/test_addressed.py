"""What is kept of a mail that came in: its headers and its words, and never a token, an attachment or more than is good."""

import base64
import zlib
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbem.domain.errors import BadInput
from pbem.mail.read import addressed as read_addressed
from pbem.mail.read.addressed import (
    DEEPEST,
    MOST_BOUNDARIES,
    MOST_HEADER_LINES,
    MOST_PARTS,
    addressed,
    fit_to_keep,
    read,
)
from pbem.mail.read.automatic import sign_of_a_program
from pbem.mail.read.reply import reply_of
from pbem.mail.read.reports import report_of
from pbem.mail.read.sender import is_vouched_for, sender_of
from pbem.tokens import Purpose
from tests.mail import reported

HOST = "play.example.org"
TOKEN = "abcdefghijklmnopqrstuvwxyz2345672"
LINK = f"https://{HOST}/m/{TOKEN}/bid-7"


def words(kept: bytes) -> list[str]:
    """The texts of a mail that was kept."""
    parts = [part for part in read(kept).walk() if part.get_content_maintype() == "text"]
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
def test_an_address_of_ours_is_known_however_it_came_back(recipient):
    assert addressed(recipient, HOST) == read_addressed.Addressed(Purpose.REPLY, TOKEN)


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
def test_anything_else_is_none_of_ours(recipient):
    assert addressed(recipient, HOST) is None or recipient.endswith("\n")


# What is kept


def test_words_are_kept_whatever_they_were_wrapped_in():
    mail = EmailMessage(policy=SMTP)
    mail["From"] = "Änn <ann@example.net>"
    mail.set_content("biete 7 – größer\r\n", cte="base64", charset="utf-8")
    mail.add_alternative("<p>biete 7</p>", subtype="html", charset="iso-8859-1", cte="quoted-printable")
    kept = fit_to_keep(mail.as_bytes(), "ann@example.net")
    assert words(kept) == ["biete 7 – größer\n", "<p>biete 7</p>\n"]
    assert kept.startswith(b"Return-Path: <ann@example.net>\nFrom:")


@pytest.mark.parametrize(
    ("charset", "text"), [("iso-2022-jp", "七"), ("windows-1252", "“7”"), ("iso-8859-1", "“7”"), ("utf-16", "7")]
)
def test_words_in_every_encoding_are_kept(charset, text):
    written = text.encode("windows-1252" if charset == "iso-8859-1" else charset)
    raw = (
        f"Content-Type: text/plain; charset={charset}; format=flowed; delsp=yes\nContent-Transfer-Encoding: base64\n\n"
    )
    kept = fit_to_keep(raw.encode() + base64.encodebytes(written), "")
    assert words(kept) == [text]
    assert (read(kept).get_param("format"), read(kept).get_param("delsp")) == ("flowed", "yes")


@pytest.mark.parametrize("charset", ["no-such-thing", "rot13", "base64", "utf-7\0", '"', "idna", "x" * 1000])
def test_words_in_an_encoding_that_is_none_lose_letters_and_nothing_else(charset):
    raw = f"Content-Type: text/plain; charset={charset}\n\nbid 7 \xff\n".encode("latin-1")
    assert words(fit_to_keep(raw, ""))[0].startswith("bid 7 ")


def test_no_token_is_kept_wherever_in_a_mail_it_stands():
    mail = EmailMessage(policy=SMTP)
    mail["To"] = f"r+{TOKEN}@{HOST}"
    mail["References"] = f"<{TOKEN}@{HOST}>"
    mail["Subject"] = f"Re: {TOKEN.upper()}"
    mail.set_content(f"> {LINK}\r\n" * 3, cte="base64")
    mail.add_alternative(f'<a href="{LINK}">x</a>', subtype="html", cte="quoted-printable")
    mail.add_attachment(f"{LINK}".encode(), "text", "x-other", filename=f"{TOKEN}.txt")
    wrapped = "https%3A%2F%2Fplay.example.org%2Fm%2F" + TOKEN + "%2Fbid-7"
    raw = mail.as_bytes().replace(b"\r\n\r\n", f"\r\n\r\n{LINK} preamble {wrapped}\r\n".encode(), 1)
    for each in (raw, raw.replace(f"b+{TOKEN}".encode(), b"")):
        kept = fit_to_keep(each, f"b+{TOKEN}@{HOST}").lower()
        assert TOKEN.encode() not in kept
        assert base64.b64encode(TOKEN.encode())[:20].lower() not in kept
        assert b"/m/***/bid-7" in kept


def test_a_token_that_quoting_broke_in_two_is_not_kept():
    broken = TOKEN[:10] + "=\r\n" + TOKEN[10:]
    raw = f"Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n> {broken}\r\n".encode()
    assert words(fit_to_keep(raw, "")) == ["> ***\n"]


def test_the_name_of_a_mail_stays_what_it_is_though_it_looks_like_a_token():
    name = f"<CA{TOKEN.upper()}@mail.example.net>"
    raw = f"Message-ID: {name}\r\nReferences: <{TOKEN}@{HOST}>\r\n\r\nbid 7\r\n".encode()
    kept = read(fit_to_keep(raw, "", read_addressed.name_of(raw)))
    assert (kept["Message-ID"], kept["References"]) == (name, f"<***@{HOST}>")


def test_attachments_are_not_kept_and_their_names_are():
    mail = EmailMessage(policy=SMTP)
    mail.set_content("bid 7")
    bomb = zlib.compress(b"0" * 5_000_000)
    mail.add_attachment(bomb, "application", "zip", filename="bomb.zip")
    mail.add_attachment(b"\x89PNG" + b"x" * 100_000, "image", "png", filename="me.png")
    inner = EmailMessage(policy=SMTP)
    inner.set_content("somebody else's words", subtype="html")
    mail.add_attachment(inner)
    kept = fit_to_keep(mail.as_bytes(), "ann@example.net")
    assert len(kept) < 2000
    assert b"bomb.zip" in kept
    assert words(kept) == ["bid 7\n"]
    assert b"somebody else" not in kept


def test_a_second_look_at_what_was_kept_changes_nothing():
    mail = EmailMessage(policy=SMTP)
    mail.set_content("größer 7\nFrom here on\n.\n")
    mail.add_alternative("<p>7</p>", subtype="html")
    kept = fit_to_keep(mail.as_bytes(), "ann@example.net")
    assert fit_to_keep(kept, "ann@example.net") == kept


@pytest.mark.parametrize("envelope_from", ["a\nBcc: b@example.org", "x" * 400, "a\0b"])
def test_an_envelope_sender_that_is_none_makes_no_header(envelope_from):
    assert fit_to_keep(b"Subject: x\n\nbid 7\n", envelope_from).startswith(b"Return-Path: <unreadable>\nSubject: x\n")


@pytest.mark.parametrize("raw", [b"", b"\n", b"\r\n\r\n", b"\0" * 1000, b"\xff" * 1000, b": :\n :\n", b"From \n\nx"])
def test_what_is_hardly_a_mail_is_kept_as_one(raw):
    assert read(fit_to_keep(raw, "")) is not None


# More than is good


def nested(kind: str, deep: int) -> bytes:
    if kind == "mail":
        return b"Content-Type: message/rfc822\n\n" * deep + b"bid 7\n"
    opened = (f"Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}\n" for number in range(deep))
    return "".join(opened).encode() + b"\nbid 7\n"


TOO_MUCH = {
    "lines of headers": b"X: y\n" * (MOST_HEADER_LINES + 2) + b"\nbid 7\n",
    "lines in one header": b"X: y\n" + b" y\n" * (MOST_HEADER_LINES + 1) + b"\nbid 7\n",
    "boundaries": nested("parts", MOST_BOUNDARIES + 1),
    "parts in parts": nested("parts", DEEPEST + 2),
    "parts": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nbid 7\n" * (MOST_PARTS + 1) + b"--b--\n",
    "fields of a report": b"Content-Type: message/delivery-status\n\n" + b"a: b\n\n" * (MOST_PARTS + 1),
    # The standard library takes minutes over each of these.
    "parameters": b"Content-Type: text/plain; " + b"a=b; " * 100_000 + b"\n\nbid 7\n",
    "parameters in lines": b"Content-Type: text/plain;\n" + b" a=b;\n" * 900 + b"\nbid 7\n",
    "parameters of a part": b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: x; "
    + b"a*1=b; " * 1000,
    "mails in mails": nested("mail", 30_000),
}


@pytest.mark.parametrize("what", [what for what in TOO_MUCH if what != "mails in mails"])
def test_more_than_people_write_is_refused(what):
    with pytest.raises(BadInput, match="mail"):
        fit_to_keep(TOO_MUCH[what], "")


def test_mails_in_mails_end_nobodys_patience():
    try:
        kept = fit_to_keep(TOO_MUCH["mails in mails"], "")
    except BadInput:
        return
    assert len(kept) < 1000


def test_a_text_without_an_end_is_cut():
    assert len(fit_to_keep(b"Subject: x\n\n" + b"bid 7\n" * 200_000, "")) < read_addressed.LONGEST_TEXT + 1000


# Known again


def test_a_mail_is_known_again_by_its_name_and_its_recipient():
    one = b"Message-ID: <x@example.net>\r\nReceived: by a\r\n\r\nbid 7\r\n"
    again = b"Received: by b\r\nmessage-id:\r\n <x@example.net>\r\n\r\nbid 7\r\n"
    assert read_addressed.fingerprint(one, "r1") == read_addressed.fingerprint(again, "r1")
    assert read_addressed.fingerprint(one, "r1") != read_addressed.fingerprint(one, "r2")
    assert read_addressed.fingerprint(one, "r1") != read_addressed.fingerprint(one.replace(b"x@", b"y@"), "r1")


@pytest.mark.parametrize(
    "name", [b"", b"Message-ID: \n", b"Message-ID: nonsense\n", b"Message-ID: <" + b"x" * 999 + b"@y>\n"]
)
def test_a_mail_without_a_proper_name_is_known_by_its_bytes(name):
    assert read_addressed.fingerprint(name + b"\nbid 7\n", "r1") == read_addressed.fingerprint(
        name + b"\nbid 7\n", "r1"
    )
    assert read_addressed.fingerprint(name + b"\nbid 7\n", "r1") != read_addressed.fingerprint(
        name + b"\nbid 8\n", "r1"
    )


def test_replies_say_the_same_after_they_were_kept():
    files = sorted((Path(__file__).parent / "replies").rglob("*.eml"))
    assert len(files) > 60
    for file in files:
        raw = file.read_bytes()
        assert reply_of(read(fit_to_keep(raw, "ann@example.net"))).lines == reply_of(read(raw)).lines, file.name


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
def test_whatever_is_broken_is_kept_and_can_be_read(raw):
    kept = fit_to_keep(raw, "ann@example.net")
    assert reply_of(read(kept)) is not None
    assert fit_to_keep(kept, "ann@example.net") == kept


SEEDS = [
    *(file.read_bytes() for file in sorted((Path(__file__).parent / "replies").rglob("*.eml"))[::5]),
    reported.failure("5.1.1", "smtp; 550 no such user"),
    reported.complaint(),
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
def test_no_mail_breaks_whoever_reads_it(raw, blows):
    for place, length, splinter in blows:
        raw = raw[: place % len(raw)] + splinter + raw[place % len(raw) + length :] or b"\n"
    # To be refused in words is no break.
    with suppress(BadInput):
        kept = read(fit_to_keep(raw, "ann@example.net", read_addressed.name_of(raw)))
        sign_of_a_program(kept, HOST, f"games@{HOST}")
        report_of(kept)
        reply_of(kept)
        is_vouched_for(kept, sender_of(kept) or "ann@example.net", HOST)
