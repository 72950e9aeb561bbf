"""Mail programs that reply to our emails: each puts a reply and the quoted email together in its own way.

Every program is a function of the reply's lines, the quoted email, and a source of randomness for differences between users.
It returns the whole message. `PROGRAMS` lists them.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from html import escape
from random import Random

from tests.mail.foreign_headers import LABELS
from tests.mail.sink import ReceivedEmail

Program = Callable[[Sequence[str], ReceivedEmail, Random], EmailMessage]

ADDRESS = "r+aaaaaaaayzjpesrykolaiojwqlj3ffold@play.example.org"

INTRODUCTIONS = (
    f"On Sat, Nov 21, 2026 at 9:14 AM Auction games by mail <{ADDRESS}> wrote:",
    "On 21/11/2026 09:14, Auction games by mail wrote:",
    f"Am Sa., 21. Nov. 2026 um 09:14 Uhr schrieb Auction games by mail <{ADDRESS}>:",
    "Am 21.11.26 um 09:14 schrieb Auction games by mail:",
    f"Le sam. 21 nov. 2026 à 09:14, Auction games by mail <{ADDRESS}> a écrit :",
    f"El sáb, 21 nov 2026 a las 9:14, Auction games by mail (<{ADDRESS}>) escribió:",
    f"Em sáb., 21 de nov. de 2026 às 09:14, Auction games by mail <{ADDRESS}> escreveu:",
    f"2026年11月21日(土) 9:14 Auction games by mail <{ADDRESS}>:",
    f"2026/11/21 9:14、Auction games by mail <{ADDRESS}>のメール:",
    f"Il giorno sab 21 nov 2026 alle ore 09:14 Auction games by mail <{ADDRESS}> ha scritto:",
    f"Op za 21 nov 2026 om 09:14 schreef Auction games by mail <{ADDRESS}>:",
)
HEADERS = (
    ("From", "Sent", "To", "Subject"),
    ("Von", "Gesendet", "An", "Betreff"),
    ("De\u00a0", "Envoyé\u00a0", "À\u00a0", "Objet\u00a0"),
    ("De", "Enviado el", "Para", "Asunto"),
    ("De", "Enviado", "Para", "Assunto"),
    ("差出人", "送信日時", "宛先", "件名"),
    *(labels for labels, _date in LABELS.values()),
)
SIGNATURES = (
    "",
    "-- \nAnna Berg\nChess Club North\npass",
    "Sent from my iPhone",
    "Von meinem iPhone gesendet",
    "Envoyé de mon iPhone",
    "Enviado desde mi iPhone",
    "iPhoneから送信",
    "Get Outlook for Android<https://aka.ms/x>",
    "Mit freundlichen Grüßen\nAnna Berg",
    "This e-mail is confidential. If you are not the intended recipient of it, please\nhold it back and tell the sender.",
)


def _plain(text: str, **parameters: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Anna <anna@example.net>", ADDRESS, "Re: your turn"
    message.set_content(text)
    for name, value in parameters.items():
        message.set_param(name, value)
    return message


def _rich(html: str) -> EmailMessage:
    message = _plain("")
    message.set_content(f"<html><body>{html}</body></html>", subtype="html")
    return message


def _marked(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _introduction(chance: Random) -> str:
    sentence = chance.choice(INTRODUCTIONS)
    return textwrap.fill(sentence, chance.choice((60, 76, 300)), break_long_words=False, break_on_hyphens=False)


def _headers(chance: Random) -> str:
    values = ("Auction games by mail", "Saturday, 21 November 2026 09:14", "Anna", "Friday (Sun Bid), turn 14")
    return "\n".join(f"{name}: {value}" for name, value in zip(chance.choice(HEADERS), values, strict=True))


def _signed(answer: Sequence[str], chance: Random) -> str:
    return "\n".join(answer) + "\n\n" + chance.choice(SIGNATURES) + "\n"


def _paragraphs(answer: Sequence[str]) -> str:
    return "".join(f"<div>{escape(line)}</div>" for line in answer)


def on_top(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Gmail, Apple Mail: the reply, an introduction, the marked quote."""
    return _plain(f"{_signed(answer, chance)}\n{_introduction(chance)}\n\n{_marked(original.text)}\n")


def below(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Thunderbird, mutt: an introduction, the marked quote, the reply."""
    return _plain(f"{_introduction(chance)}\n{_marked(original.text)}\n\n{_signed(answer, chance)}")


def within(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """The reply between two parts of the quote."""
    lines = _marked(original.text).splitlines()
    cut = chance.randrange(1, len(lines))
    pieces = [*lines[:cut], "", *answer, "", *lines[cut:]]
    return _plain(f"{_introduction(chance)}\n" + "\n".join(pieces) + "\n")


def flowed(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Thunderbird with format=flowed: long lines are broken at blanks, in quotes too."""
    width = chance.choice((50, 66, 72))
    quoted: list[str] = []
    for line in original.text.splitlines():
        pieces = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
        quoted += [f"> {piece} " for piece in pieces[:-1]] + [f"> {pieces[-1]}"]
    # A blank at the end of a line means that it continues, so no such program leaves one at the end of a paragraph.
    own = _signed([line.rstrip() for line in answer], chance)
    text = f"{_introduction(chance)}\n" + "\n".join(quoted) + f"\n\n{own}"
    return _plain(text, format="flowed")


def rewrapped(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """A program that breaks quoted lines and marks only the first part of each."""
    width = chance.randrange(50, 76)
    quoted = []
    for line in original.text.splitlines():
        quoted += textwrap.wrap(f"> {line}", width, break_long_words=False, break_on_hyphens=False) or [">"]
    return _plain(f"{_signed(answer, chance)}\n{_introduction(chance)}\n" + "\n".join(quoted) + "\n")


def unmarked(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Outlook: headers, and then our email unchanged."""
    rule = chance.choice(("", "_" * 32 + "\n", "-----Original Message-----\n", "-------- Mensaje original --------\n"))
    return _plain(f"{_signed(answer, chance)}\n{rule}{_headers(chance)}\n\n{original.text}\n")


def indented(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Yahoo: an introduction, and then our email, indented."""
    return _plain(
        f"{_signed(answer, chance)}\n    {_introduction(chance)}\n\n{textwrap.indent(original.text, '   ')}\n"
    )


def bare(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """Our email below the reply, with nothing in between."""
    return _plain(f"{_signed(answer, chance)}\n{original.text}\n")


def gmail_html(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """HTML only, with the quote in Gmail's element."""
    return _rich(
        f'<div dir="ltr">{_paragraphs(answer)}</div><br><div class="gmail_quote"><div class="gmail_attr">'
        f'{escape(_introduction(chance))}<br></div><blockquote class="gmail_quote">{original.html}</blockquote></div>'
    )


def apple_html(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """HTML only, by Apple Mail, sometimes with the reply below."""
    quote = f'<blockquote type="cite"><div>{escape(_introduction(chance))}</div>{original.html}</blockquote>'
    parts = [_paragraphs(answer), quote]
    return _rich("<br>".join(parts if chance.random() < 0.5 else parts[::-1]))


def outlook_html(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """HTML only, by Outlook: headers in a box, then our email unchanged."""
    box = chance.choice(('<div id="divRplyFwdMsg">', '<div style="border-top:solid #E1E1E1 1.0pt">'))
    headers = "<br>".join(f"<b>{escape(line)}</b>" for line in _headers(chance).splitlines())
    return _rich(f"{_paragraphs(answer)}<br><hr>{box}{headers}</div>{original.html}")


def bare_html(answer: Sequence[str], original: ReceivedEmail, chance: Random) -> EmailMessage:
    """HTML only, with our email below the reply and nothing in between."""
    return _rich(f"{_paragraphs(answer)}<br>{original.html}")


PROGRAMS: Mapping[str, Program] = {
    program.__name__: program
    for program in (
        on_top,
        below,
        within,
        flowed,
        rewrapped,
        unmarked,
        indented,
        bare,
        gmail_html,
        apple_html,
        outlook_html,
        bare_html,
    )
}
