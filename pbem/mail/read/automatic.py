"""Whether a mail was written by a program: auto-replies, away notices, lists, reports, and mails that go in circles.

Answering one of these is how two programs begin to write to each other without end, and a move in one is nobody's. Each
sign is one line of a table. This module must never ask anybody, and when in doubt says that it was a program.
"""

import re
from collections.abc import Callable
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from typing import Final

MOST_RECEIVED: Final = 30
"""So many mail servers no mail passes that goes straight."""

_BULK: Final = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
_ROBOTS: Final = frozenset({"mailer-daemon", "postmaster", "mail-daemon", "listserv", "majordomo"})

# What away notices in the common languages begin with. A reply of a person begins with our own subject.
_AWAY: Final = (
    "auto reply", "auto-reply", "auto response", "auto-response", "auto:", "autoreply", "autoresponse", "automated reply",
    "automatic reply", "automatic response", "away from my mail", "away from the office", "i am away", "i am on holiday",
    "i am on vacation", "i'm away", "on holiday:", "on vacation:", "out of office", "out of the office", "out-of-office",
    "vacation message", "vacation notice", "vacation reply",
    "abwesend:", "abwesenheit", "automatische antwort", "nicht im büro", "urlaubsbedingt",
    "absence du bureau", "absent du bureau", "message d'absence", "notification d'absence", "réponse automatique",
    "ausente de la oficina", "fuera de la oficina", "fuera de oficina", "respuesta automática",
    "ausente do escritório", "fora do escritório", "mensagem de ausência", "resposta automática",
    "assente dall'ufficio", "fuori sede", "fuori ufficio", "risposta automatica",
    "afwezig", "automatisch antwoord", "niet op kantoor",
    "autosvar", "automatiskt svar", "automatisk svar", "odpowiedź automatyczna", "автоответ", "автоматический ответ",
    "不在通知", "自動応答", "自動返信", "自动回复", "自動回覆",
)  # fmt: skip

_ANGLES: Final = re.compile(r"<([^<>]*)>")

Sign = Callable[[Message, str, str], bool]
"""Whether a mail has a sign, given the domain of our addresses and the address that our mails come from."""

SIGNS: Final[tuple[tuple[str, Sign], ...]] = (
    ("no return address", lambda mail, _domain, _sender: _return_path(mail) == ""),
    ("Auto-Submitted", lambda mail, _domain, _sender: _word(mail, "Auto-Submitted") not in ("", "no")),
    ("X-Autoreply", lambda mail, _domain, _sender: _word(mail, "X-Autoreply") not in ("", "no")),
    ("X-Autorespond", lambda mail, _domain, _sender: "X-Autorespond" in mail),
    ("X-Autoresponder", lambda mail, _domain, _sender: "X-Autoresponder" in mail),
    ("X-Auto-Reply-From", lambda mail, _domain, _sender: "X-Auto-Reply-From" in mail),
    ("X-Mail-Autoreply", lambda mail, _domain, _sender: "X-Mail-Autoreply" in mail),
    ("X-Vacation", lambda mail, _domain, _sender: "X-Vacation" in mail),
    ("X-Failed-Recipients", lambda mail, _domain, _sender: "X-Failed-Recipients" in mail),
    ("Precedence", lambda mail, _domain, _sender: _word(mail, "Precedence") in _BULK),
    ("X-Precedence", lambda mail, _domain, _sender: _word(mail, "X-Precedence") in _BULK),
    ("List-Id", lambda mail, domain, _sender: "List-Id" in mail and not _our_list(mail, domain)),
    ("a report", lambda mail, _domain, _sender: mail.get_content_type() in ("multipart/report", "text/calendar")),
    ("the sender of a mail server", lambda mail, _domain, _sender: bool(_local_parts(mail) & _ROBOTS)),
    ("our own sender", lambda mail, _domain, sender: sender.lower() in _addresses(mail)),
    ("our own address", lambda mail, domain, _sender: _has_a_token(mail, domain)),
    ("a server like us", lambda mail, _domain, _sender: ":pbem:" in _text(mail, "Feedback-ID")),
    ("too many stations", lambda mail, _domain, _sender: len(mail.get_all("Received", [])) > MOST_RECEIVED),
    ("an away notice", lambda mail, _domain, _sender: subject(mail).casefold().startswith(_AWAY)),
)


def sign_of_a_program(mail: Message, domain: str, sender: str) -> str | None:
    """What shows that a program wrote a mail; None if nothing does."""
    return next((name for name, shows in SIGNS if shows(mail, domain, sender)), None)


def is_answer(mail: Message) -> bool:
    """Whether a program wrote a mail to say that somebody is away, or that theirs has come."""
    answers = ("Auto-Submitted", "X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Mail-Autoreply", "X-Vacation")
    said = {_word(mail, name) for name in answers} - {"", "no"}
    return bool(said) or _word(mail, "Precedence") in _BULK or subject(mail).casefold().startswith(_AWAY)


def subject(mail: Message) -> str:
    """The subject as a person reads it."""
    written = _text(mail, "Subject")
    try:
        return " ".join(str(make_header(decode_header(written))).split())
    except (LookupError, MessageError, ValueError):
        return written


def _text(mail: Message, name: str) -> str:
    """The first header of this name in one line; letters that are not encoded are taken for UTF-8."""
    written = next((str(value) for each, value in mail.raw_items() if each.lower() == name.lower()), "")
    return " ".join(written.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split())


def _word(mail: Message, name: str) -> str:
    """The first word of a header, without parameters and comments."""
    return re.split(r"[;(\s]", _text(mail, name), maxsplit=1)[0].lower()


def _return_path(mail: Message) -> str:
    return _text(mail, "Return-Path").strip("<> ")


def _our_list(mail: Message, domain: str) -> bool:
    """Whether the list is a table of ours: some programs copy that header into their user's answer."""
    return all(str(name).rstrip("> ").lower().endswith(f".{domain.lower()}") for name in mail.get_all("List-Id", []))


def _addresses(mail: Message) -> set[str]:
    """What could be the address in each sender of a mail, read generously."""
    written = [_return_path(mail), *(str(each) for each in mail.get_all("From", []))]
    return {address.strip().lower() for text in written for address in (*_ANGLES.findall(text), text)}


def _local_parts(mail: Message) -> set[str]:
    return {address.partition("@")[0] for address in _addresses(mail)}


def _has_a_token(mail: Message, domain: str) -> bool:
    """Whether a mail says that it comes from an address with a token; people may have others at our domain."""
    ours = re.compile(rf"[a-z]\+\S*@{re.escape(domain.lower())}")
    return any(ours.fullmatch(address) for address in _addresses(mail))
