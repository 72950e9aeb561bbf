"""Character sets of email: those of mail programs are read, and no other name in an email reaches a codec."""

import base64
import codecs
import encodings.aliases
from contextlib import suppress

import pytest

from pbem.domain.errors import BadInput
from pbem.mail.read import charsets
from pbem.mail.read.auto_replies import automation_sign, subject
from pbem.mail.read.delivery_reports import read_report
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import parse_reply
from pbem.mail.read.sender_check import is_authenticated, sender_of

HOST = "play.example.org"
TRAP = "no-such-charset"
WORD = f"=?{TRAP}?q?a=41?="


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("US-ASCII", "bid 7"),
        ("utf8", "größer"),
        ("ISO-8859-1", "größer"),
        ("latin1", "größer"),
        ("windows-1252", "“größer”"),
        ("iso-8859-15", "7 €"),
        ("Windows-1251", "ставка"),
        ("KOI8-R", "ставка"),
        ("windows-874", "ไทย"),
        ("GB2312", "出价"),
        ("gb18030", "出价"),
        ("Big5", "出價"),
        ("Shift_JIS", "七"),
        ("Windows-31J", "①"),
        ("iso-2022-jp", "七"),
        ("euc-kr", "입찰"),
        ("ks_c_5601-1987", "입찰"),
        ("iso-8859-8-i", "שלום"),
        ("macintosh", "größer"),
    ],
)
def test_the_character_sets_of_mail_programs_are_read_in_texts_and_headers(label, text):
    codec = charsets.codec_of(label)
    written = text.encode(codec)
    encoded = base64.b64encode(written).decode()
    raw = (
        f"Subject: =?{label}?B?{encoded}?= 7\nFrom: =?{label}?B?{encoded}?= <ann@example.net>\n"
        f"Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: base64\n\n{encoded}\n"
    )
    stored = parse(sanitise(raw.encode(), "ann@example.net"))
    assert parse_reply(stored).lines == (text,)
    assert subject(stored) == f"{text} 7"
    assert sender_of(stored) == "ann@example.net"


@pytest.mark.parametrize(
    "codec", ["punycode", "idna", "utf_7", "zlib_codec", "hex_codec", "uu_codec", "bz2_codec", "rot_13"]
)
def test_codecs_that_no_mail_program_writes_are_not_asked(codec):
    names = [codec, *(alias for alias, of in encodings.aliases.aliases.items() if of == codec)]
    assert [charsets.codec_of(name) for name in names] == [None] * len(names)


NAMED = {
    "a text": f"Content-Type: text/plain; charset={TRAP}\n\nbid \xff\n",
    "a text as base64": f"Content-Type: text/plain; charset={TRAP}\nContent-Transfer-Encoding: base64\n\nYmlk\n",
    "a text's parameter": f"Content-Type: text/plain; charset*={TRAP}''utf-8; format*={TRAP}''flowed\n\nbid 7\n",
    "a part": f"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset={TRAP}\n\n\xff\n--b--\n",
    "a page": f'Content-Type: text/html\n\n<meta charset="{TRAP}"><?xml encoding="{TRAP}"?><p>bid 7\xff\n',
    "a file name": f"Content-Disposition: inline; filename*={TRAP}''a.txt; filename={WORD}\n\nbid 7\n",
    "the subject": f"Subject: {WORD}\n\nbid 7\n",
    "the subject, in a language": f"Subject: =?{TRAP}*en?q?a=41?=\n\nbid 7\n",
    "the sender": f"From: {WORD} <ann@example.net>\n\nbid 7\n",
    "a quoted sender": f'From: "{WORD}" ({WORD}) <ann@example.net>\n\nbid 7\n',
    "our server's word": f"Authentication-Results: {HOST}; dmarc=pass header.from={WORD}\n\nbid 7\n",
    "other headers": f"Precedence: {WORD}\nList-Id: {WORD}\nMessage-ID: <{WORD}@x>\nReturn-Path: {WORD}\n\nbid 7\n",
    "a report": "Content-Type: message/delivery-status\n\nX: y\n\n"
    f"Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; {WORD}\n\n",
    "an attached email": f"Content-Type: message/rfc822\n\nContent-Type: text/plain; charset={TRAP}\n\n\xff\n",
}


@pytest.fixture
def asked():
    """The names that Python's codecs are asked for."""
    names = []

    def note(name):
        names.append(name)

    codecs.register(note)
    yield names
    codecs.unregister(note)


@pytest.mark.parametrize("place", NAMED)
def test_no_name_in_an_email_reaches_a_codec(place, asked):
    raw = NAMED[place].encode("latin-1")
    with suppress(BadInput):
        sanitised = sanitise(raw, "ann@example.net")
        # What was stored before could still hold any name.
        for stored in (sanitised, raw):
            email = parse(stored)
            automation_sign(email, HOST, f"games@{HOST}")
            is_authenticated(email, sender_of(email) or "ann@example.net", HOST)
            parse_reply(email)
            read_report(sanitised)
    assert asked == []


def test_a_subject_keeps_its_unencoded_letters_and_only_its_beginning():
    assert (
        charsets.header_text("Größe \\u0041 =?utf-8?q?gr=C3=B6=C3=9Fer?=\n =?utf-8?q?_7?= x")
        == "Größe \\u0041 größer 7 x"
    )
    assert charsets.header_text("=?utf-8?b?a?= x") == "=?utf-8?b?a?= x"
    assert len(charsets.header_text("=?utf-8?q?a?= " * 100_000)) <= charsets.LONGEST_HEADER_TEXT


def test_a_sender_keeps_the_address_whatever_the_name_is_encoded_in():
    assert sender_of(parse(b"From: =?punycode?q?a-b?= <ann@example.net>\n\n")) == "ann@example.net"
