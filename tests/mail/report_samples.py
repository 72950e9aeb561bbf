"""Reports as mail servers and providers write them, about an email to ann@example.net."""

from typing import Final

READER: Final = "ann@example.net"


def failure(status: str, diagnosis: str, *, action: str = "failed", quoted: str = "", others: str = "") -> bytes:
    """A report in the form of RFC 3464. `others` is the result for another recipient."""
    lines = [
        "From: MAILER-DAEMON@mx.example.net (Mail Delivery System)",
        "To: b+***@play.example.org",
        "Subject: Undelivered Mail Returned to Sender",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
        "",
        "This is a MIME-encapsulated message.",
        "",
        "--report",
        "Content-Description: Notification",
        "Content-Type: text/plain; charset=us-ascii",
        "",
        "This is the mail system at host mx.example.net.",
        "",
        f"<{READER}>: {diagnosis.rsplit(';', maxsplit=1)[-1].strip()}",
        "",
        "--report",
        "Content-Description: Delivery report",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.example.net",
        "X-Postfix-Queue-ID: 7F1B22C0",
        "Original-Envelope-Id: m12",
        "Arrival-Date: Sat, 21 Nov 2026 12:00:00 +0000 (UTC)",
        "",
        f"Final-Recipient: rfc822; {READER}",
        f"Original-Recipient: rfc822;{READER}",
        f"Action: {action}",
        f"Status: {status}",
        f"Diagnostic-Code: {diagnosis}",
        *(["", f"Final-Recipient: rfc822; x{READER}", f"Action: {others}", "Status: 5.2.1"] if others else []),
        "",
        "--report",
        "Content-Description: Undelivered Message Headers",
        "Content-Type: text/rfc822-headers",
        "",
        "From: Auction games <games@play.example.org>",
        "Subject: Sun Bid, turn 4",
        quoted,
        "",
        "--report--",
        "",
    ]
    return "\r\n".join(lines).encode()


def complaint(kind: str = "abuse", returns: str = "b+***@play.example.org") -> bytes:
    """A provider's spam complaint (RFC 5965)."""
    lines = [
        "From: <fbl@provider.example>",
        "To: complaints@play.example.org",
        "Subject: FW: Sun Bid, turn 4",
        "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=feedback-report; boundary="report"',
        "",
        "--report",
        "Content-Type: text/plain; charset=us-ascii",
        "",
        "This is an email abuse report for a mail received from 192.0.2.10.",
        "",
        "--report",
        "Content-Type: message/feedback-report",
        "",
        f"Feedback-Type: {kind}",
        "User-Agent: Provider/1.0",
        "Version: 1",
        f"Original-Mail-From: <{returns}>",
        "",
        "--report",
        "Content-Type: message/rfc822",
        "",
        f"Return-Path: <{returns}>",
        "From: Auction games <games@play.example.org>",
        "Subject: Sun Bid, turn 4",
        "",
        "The table.",
        "",
        "--report--",
        "",
    ]
    return "\r\n".join(lines).encode()


def exim(answer: str = "550 5.1.1 no such user", *, late: bool = False) -> bytes:
    """A report of Exim as it is by default: plain text, labelled as an automatic reply."""
    lines = [
        *([] if late else [f"X-Failed-Recipients: {READER}"]),
        "Auto-Submitted: auto-replied",
        "From: Mail Delivery System <Mailer-Daemon@mx.example.net>",
        f"Subject: {'Warning: message 1tXy delayed 24 hours' if late else 'Mail delivery failed: returning message to sender'}",
        "",
        "This message was created automatically by mail delivery software.",
        "",
        *(
            ["A message that you sent has not yet been delivered to one or more of its"]
            if late
            else ["A message that you sent could not be delivered to one or more of its"]
        ),
        "recipients. This is a permanent error. The following address(es) failed:",
        "",
        f"  {READER}",
        f"    host mx.example.net [192.0.2.1]: {answer}" if answer else "",
        "",
    ]
    return "\r\n".join(lines).encode()


OWN_WORDS: Final = {
    "exim": f"""\
From: Mail Delivery System <Mailer-Daemon@mx.example.net>
X-Failed-Recipients: {READER}
Subject: Mail delivery failed: returning message to sender

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  {READER}
    Unrouteable address
""".encode(),
    "qmail": f"""\
From: MAILER-DAEMON@mx.example.net
Subject: failure notice

Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<{READER}>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

Return-Path: <games@play.example.org>
""".encode(),
    "exchange": f"""\
From: System Administrator <postmaster@mx.example.net>
Subject: Undeliverable: Sun Bid, turn 4
Content-Type: multipart/mixed; boundary="x"

--x
Content-Type: text/plain

Your message

  To:      {READER}
  Subject: Sun Bid, turn 4

did not reach the following recipient(s):

{READER} on Sat, 21 Nov 2026 12:00:00 -0000
    The recipient name is not recognized
        MSEXCH:IMS:EXAMPLE:NET:MX 0 (000C05A6) Unknown Recipient

--x--
""".encode(),
}
