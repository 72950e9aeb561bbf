"""Messages to the table, in replies as mail programs write them: no signature is ever told, and nothing of a quote."""

from email import message_from_string, policy
from email.message import EmailMessage
from typing import Final

import pytest

from pbem.domain import reply_pieces
from pbem.domain.reply_commands import Word, WordCommand
from pbem.mail.read.reply import parse_reply

QUOTED: Final = """> Ann, it's your turn in Friday (Sun Bid).
>
> --- Please reply above this line ---
> [pbem g7k2 t14]
>
> - Ben: Good luck!
> end
"""
INTRODUCTION: Final = "On Sat, 21 Nov 2026 at 09:14, Auction games <r+aaaa@play.example.org> wrote:"

SIGNATURES: Final = {
    "none": "",
    "a name": "\n\nAnn",
    "a name below the message": "\nAnn",
    "a name and a telephone number": "\n\nAnn Smith\n+49 30 1234567\nann@example.net",
    "a mark": "\n\n-- \nAnn Smith\nHead of Sales\nSmith & Sons\n12 High Street",
    "a mark without its blank": "\n\n--\nAnn Smith",
    "iPhone": "\n\nSent from my iPhone",
    "Outlook on a phone": "\n\nGet Outlook for Android<https://aka.ms/AAb9ysg>",
    "K-9": "\n\n-- \nSent from my Android device with K-9 Mail. Please excuse my brevity.",
    "a company": "\n\nKind regards,\n\nAnn Smith | Senior Buyer\nT 020 7946 0000 | M 07700 900000",
    "a disclaimer": "\n\nThis email is confidential. If you are not its intended reader, please delete it\nand tell the sender.",
    "a wish": "\n\nCheers,\nAnn",
}

MESSAGES: Final = {
    "talk Well played, Ben!": "Well played, Ben!",
    "talk Well played, Ben!\nThat was close.\nend": "Well played, Ben! That was close.",
    "talk\nWell played, Ben!\n\nThat was close.\n\nEnd": "Well played, Ben! That was close.",
    "talk Well played, Ben! I had not seen that coming at all, I was so sure\nof it\nend": (
        "Well played, Ben! I had not seen that coming at all, I was so sure of it"
    ),
    "talk I had hoped to win the whole pool with the Bard, but it is now over\nend": (
        "I had hoped to win the whole pool with the Bard, but it is now over"
    ),
}
UNENDED: Final = "talk Well played, Ben!\nThat was close."


def on_top(text: str) -> EmailMessage:
    """Gmail and Apple Mail."""
    return plain(f"{text}\n\n{INTRODUCTION}\n\n{QUOTED}")


def below(text: str) -> EmailMessage:
    """Thunderbird and K-9, with the reply below the quote."""
    return plain(f"{INTRODUCTION}\n{QUOTED}\n{text}\n")


def outlook(text: str) -> EmailMessage:
    """Outlook: headers, and our email without marks."""
    unmarked = QUOTED.replace("> ", "").replace(">", "")
    headers = "From: Auction games\nSent: Saturday, 21 November 2026 09:14\nTo: Ann\nSubject: Friday, turn 14"
    return plain(f"{text}\n\n{'_' * 32}\n{headers}\n\n{unmarked}")


def gmail_html(text: str) -> EmailMessage:
    """HTML only, each line an element of its own."""
    lines = "".join(
        f"<div>{line or '<br>'}</div>" for line in text.replace("&", "&amp;").replace("<h", "&lt;h").split("\n")
    )
    quote = f'<div class="gmail_quote"><div class="gmail_attr">{INTRODUCTION}</div><blockquote>talk no<br>end</blockquote></div>'
    return plain(f'<html><body><div dir="ltr">{lines}</div>{quote}</body></html>', "html")


def plain(text: str, subtype: str = "plain") -> EmailMessage:
    head = f"From: ann@example.net\nSubject: Re: Friday\nContent-Type: text/{subtype}; charset=utf-8\n\n"
    message = message_from_string(head + text, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


PROGRAMS: Final = (on_top, below, outlook, gmail_html)


def messages_in(message: EmailMessage) -> list[str]:
    """Everything in a reply that would be told to the table."""
    found = list[str]()
    for piece in reply_pieces.pieces(parse_reply(message).lines):
        command = piece.read(None)
        if isinstance(command, WordCommand) and command.word is Word.TALK:
            found.append(command.rest)
    return found


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_message_is_told_without_the_signature_below_it(program, signature):
    for written, message in MESSAGES.items():
        assert messages_in(program(written + SIGNATURES[signature])) == [message]


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_message_without_an_end_is_its_line(program, signature):
    assert messages_in(program(UNENDED + SIGNATURES[signature])) == ["Well played, Ben!"]
