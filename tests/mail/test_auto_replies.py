"""Email written by programs is recognised by its signs, and email by people has none."""

from email.message import Message
from pathlib import Path

import pytest

from pbem.mail.read.auto_replies import MOST_RECEIVED, SIGNS, automation_sign, is_auto_reply
from pbem.mail.read.inbound import parse, sanitise

HOST = "play.example.org"
OUR_ADDRESS = f"games@{HOST}"
PERSON = {"From": "Ann <ann@example.org>", "To": f"r+x@{HOST}", "Subject": "Re: Sun Bid, turn 4: Bid?"}


def email(envelope_from: str = "ann@example.org", **headers: str) -> Message:
    given = {**PERSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"{name}: {value}" for name, value in given.items()]
    return parse(sanitise("\r\n".join([*lines, "", "bid 7", ""]).encode(), envelope_from))


# One email for each sign, without any other sign.
SHOWN = {
    "no return address": email(envelope_from=""),
    "Auto-Submitted": email(Auto_Submitted="auto-replied (vacation)"),
    "X-Autoreply": email(X_Autoreply="yes"),
    "X-Autorespond": email(X_Autorespond=""),
    "X-Autoresponder": email(X_Autoresponder="1"),
    "X-Auto-Reply-From": email(X_Auto_Reply_From="ann@example.org"),
    "X-Mail-Autoreply": email(X_Mail_Autoreply="x"),
    "X-Vacation": email(X_Vacation="on"),
    "X-Failed-Recipients": email(X_Failed_Recipients="ben@example.org"),
    "Precedence": email(Precedence="Bulk", X_Auto_Response_Suppress="All"),
    "X-Precedence": email(X_Precedence="auto_reply"),
    "List-Id": email(List_Id="Players <players.example.net>"),
    "a report": email(Content_Type="multipart/report; boundary=x; report-type=delivery-status"),
    "the sender of a mail server": email(From="Mail Delivery System <MAILER-DAEMON@example.org>"),
    "our own sender": email(From=f"Games <{OUR_ADDRESS.upper()}>"),
    "our own address": email(From=f"r+{'a' * 33}@{HOST}"),
    "a server like us": email(Feedback_ID="abc:turn:pbem:other.example"),
    "too many stations": email(Received="\r\nReceived: ".join(["from a by b"] * (MOST_RECEIVED + 1))),
    "an away notice": email(Subject="=?utf-8?q?R=C3=A9ponse_automatique_=3A_Sun_Bid?="),
}


@pytest.mark.parametrize("sign", [name for name, _ in SIGNS])
def test_each_sign_of_a_program_is_recognised(sign: str) -> None:
    assert automation_sign(SHOWN[sign], HOST, OUR_ADDRESS) == sign


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Auto_Submitted": "no"},
        {"Auto_Submitted": "No (a person)"},
        {"X_Autoreply": "no"},
        {"X_Auto_Response_Suppress": "All"},
        {"Precedence": "normal"},
        {"List_Id": f"Sun Bid <abc.games.{HOST}>"},
        {"From": f"organiser@{HOST}"},
        {"From": "postmaster.jones@example.org"},
        {"Received": "\r\nReceived: ".join(["from a by b"] * MOST_RECEIVED)},
        {"Subject": "Re: Out of office hours, turn 3: Bid?"},
        {"Subject": "vacation 2026-12-20 to 2027-01-03"},
        {"Subject": "=?utf-8?q?=ff=fe?="},
        {"Subject": "=?nonsense?q?x?="},
        {"Subject": "=?utf-8?b?a?="},
        {"Feedback_ID": "abc:news:somebody"},
    ],
)
def test_a_persons_email_has_no_sign(headers: dict[str, str]) -> None:
    assert automation_sign(email(**headers), HOST, OUR_ADDRESS) is None


@pytest.mark.parametrize(
    "subject",
    [
        "Automatic reply: Sun Bid, turn 4",
        "Out of Office Re: Sun Bid",
        "Abwesenheitsnotiz: Sun Bid",
        "Automatische Antwort: Sun Bid",
        "Respuesta automática: Sun Bid",
        "Resposta automática: Sun Bid",
        "Risposta automatica: Sun Bid",
        "Automatisch antwoord: Sun Bid",
        "自動応答: Sun Bid",
        "AUTO: Ann is away",
    ],
)
def test_away_notices_are_recognised_by_their_subjects(subject: str) -> None:
    away = email(Subject=subject)
    assert automation_sign(away, HOST, OUR_ADDRESS) == "an away notice"
    assert is_auto_reply(away)


def test_a_persons_reply_is_not_an_auto_reply() -> None:
    assert not is_auto_reply(email())


def test_the_away_notices_of_the_collection_are_recognised_and_no_others() -> None:
    folder = Path(__file__).parent / "replies" / "outside"
    seen = {
        file.name
        for file in folder.glob("*.eml")
        if automation_sign(parse(sanitise(file.read_bytes(), "ann@example.org")), HOST, OUR_ADDRESS)
    }
    assert {"40-exchange-en-vacation.eml", "41-sieve-de-vacation-quoting.eml"} == seen
