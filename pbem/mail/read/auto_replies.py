"""Email written by programs: auto-replies, away notices, mailing lists, reports, and emails in a loop.

An answer to one of these is how two programs begin to write to each other without end, and a move in one is nobody's. Each
sign is a row of a table. In doubt, an email counts as a program's.
"""

import re
from collections.abc import Callable
from email.message import Message
from typing import Final

from pbem.mail.read.charsets import header_text

MOST_RECEIVED: Final = 30
"""More mail servers than this mean a loop."""

_BULK: Final = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
_ROBOTS: Final = frozenset({"mailer-daemon", "postmaster", "mail-daemon", "listserv", "majordomo"})

# The beginnings of away notices in common languages. A person's reply begins with our own subject.
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
"""A test for a sign, given the email, the domain of our addresses and the sender of our emails."""

SIGNS: Final[tuple[tuple[str, Sign], ...]] = (
    ("no return address", lambda message, _domain, _sender: _return_path(message) == ""),
    ("Auto-Submitted", lambda message, _domain, _sender: _word(message, "Auto-Submitted") not in ("", "no")),
    ("X-Autoreply", lambda message, _domain, _sender: _word(message, "X-Autoreply") not in ("", "no")),
    ("X-Autorespond", lambda message, _domain, _sender: "X-Autorespond" in message),
    ("X-Autoresponder", lambda message, _domain, _sender: "X-Autoresponder" in message),
    ("X-Auto-Reply-From", lambda message, _domain, _sender: "X-Auto-Reply-From" in message),
    ("X-Mail-Autoreply", lambda message, _domain, _sender: "X-Mail-Autoreply" in message),
    ("X-Vacation", lambda message, _domain, _sender: "X-Vacation" in message),
    ("X-Failed-Recipients", lambda message, _domain, _sender: "X-Failed-Recipients" in message),
    ("Precedence", lambda message, _domain, _sender: _word(message, "Precedence") in _BULK),
    ("X-Precedence", lambda message, _domain, _sender: _word(message, "X-Precedence") in _BULK),
    ("List-Id", lambda message, domain, _sender: "List-Id" in message and not _our_list(message, domain)),
    ("a report", lambda message, _domain, _sender: message.get_content_type() in ("multipart/report", "text/calendar")),
    ("the sender of a mail server", lambda message, _domain, _sender: bool(_local_parts(message) & _ROBOTS)),
    ("our own sender", lambda message, _domain, sender: sender.lower() in _addresses(message)),
    ("our own address", lambda message, domain, _sender: _has_a_token(message, domain)),
    ("a server like us", lambda message, _domain, _sender: ":pbem:" in _text(message, "Feedback-ID")),
    ("too many stations", lambda message, _domain, _sender: len(message.get_all("Received", [])) > MOST_RECEIVED),
    ("an away notice", lambda message, _domain, _sender: subject(message).casefold().startswith(_AWAY)),
)


def automation_sign(message: Message, domain: str, sender: str) -> str | None:
    """The sign that a program wrote an email; None if there is none."""
    return next((name for name, shows in SIGNS if shows(message, domain, sender)), None)


def is_auto_reply(message: Message) -> bool:
    """Whether an email is an away notice or an automatic confirmation."""
    answers = ("Auto-Submitted", "X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Mail-Autoreply", "X-Vacation")
    values = {_word(message, name) for name in answers} - {"", "no"}
    return bool(values) or _word(message, "Precedence") in _BULK or subject(message).casefold().startswith(_AWAY)


def is_by_a_mail_server(message: Message) -> bool:
    """Whether an email is a mail server's report, in whatever form."""
    return "X-Failed-Recipients" in message or bool(_local_parts(message) & _ROBOTS)


def subject(message: Message) -> str:
    """The subject as a person reads it."""
    return header_text(_text(message, "Subject"))


def _text(message: Message, name: str) -> str:
    """The first header of this name as one line; unencoded letters are taken for UTF-8."""
    text = next((str(value) for each, value in message.raw_items() if each.lower() == name.lower()), "")
    return " ".join(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split())


def _word(message: Message, name: str) -> str:
    """The first word of a header, without parameters and comments."""
    return re.split(r"[;(\s]", _text(message, name), maxsplit=1)[0].lower()


def _return_path(message: Message) -> str:
    return _text(message, "Return-Path").strip("<> ")


def _our_list(message: Message, domain: str) -> bool:
    """Whether the list is one of our tables: some programs copy that header into their user's reply."""
    return all(str(name).rstrip("> ").lower().endswith(f".{domain.lower()}") for name in message.get_all("List-Id", []))


def _addresses(message: Message) -> set[str]:
    """Anything that could be the address in a sender of an email, read generously."""
    text = [_return_path(message), *(str(each) for each in message.get_all("From", []))]
    return {address.strip().lower() for text in text for address in (*_ANGLES.findall(text), text)}


def _local_parts(message: Message) -> set[str]:
    return {address.partition("@")[0] for address in _addresses(message)}


def _has_a_token(message: Message, domain: str) -> bool:
    """Whether an email claims to come from one of our addresses with a token; people may have others at our domain."""
    pattern = re.compile(rf"[a-z]\+\S*@{re.escape(domain.lower())}")
    return any(pattern.fullmatch(address) for address in _addresses(message))
