"""Reports of mail servers and providers, as they write them."""

import base64
import quopri

import pytest

from pbem.mail.read.delivery_reports import LONGEST_ANSWER, Report, ReportKind, parse_report
from pbem.mail.read.inbound import parse, sanitise
from tests.mail import report_samples


def report_in(raw: bytes, envelope_from: str = "") -> Report:
    """The report in an email after storage."""
    return parse_report(parse(sanitise(raw, envelope_from)))


def test_a_permanent_failure_has_the_servers_words_without_an_address():
    report = report_in(report_samples.failure("5.1.1", "smtp; 550 5.1.1 <ann@example.net>: no such user here"))
    assert report == Report(ReportKind.FAILED, permanent=True, answer="5.1.1 550 5.1.1 <address>: no such user here")


def test_a_temporary_failure_is_told_apart():
    report = report_in(report_samples.failure("4.4.1", "smtp; connection timed out"))
    assert report == Report(ReportKind.FAILED, permanent=False, answer="4.4.1 connection timed out")


def test_a_late_email_has_not_failed():
    assert (
        report_in(report_samples.failure("4.4.1", "smtp; connection refused", action="delayed")).kind is ReportKind.LATE
    )


@pytest.mark.parametrize("action", ["delivered", "relayed", "expanded"])
def test_a_confirmation_of_delivery_is_not_a_failure(action):
    assert report_in(report_samples.failure("2.0.0", "smtp; 250 ok", action=action)).kind is ReportKind.ARRIVED


def test_of_several_recipients_the_worst_counts():
    report = report_in(report_samples.failure("4.4.1", "smtp; later", action="delayed", others="failed"))
    assert report == Report(ReportKind.FAILED, permanent=True, answer="5.2.1")


def test_a_failure_may_lack_status_and_diagnosis():
    bare = (
        report_samples.failure("5.0.0", "x").replace(b"Status: 5.0.0\r\n", b"").replace(b"Diagnostic-Code: x\r\n", b"")
    )
    assert report_in(bare) == Report(ReportKind.FAILED, permanent=True)


def test_the_words_of_a_server_are_one_short_line():
    report = report_in(report_samples.failure("5.2.2", "smtp; full\r\n " + "very " * 300)).answer
    assert len(report) <= LONGEST_ANSWER
    assert report.isprintable()


@pytest.mark.parametrize("kind", ["abuse", "Abuse", "fraud", "opt-out"])
def test_a_complaint_is_recognised(kind):
    assert report_in(report_samples.complaint(kind), "fbl@provider.example").kind is ReportKind.COMPLAINT


def test_a_not_spam_report_is_not_a_complaint():
    assert report_in(report_samples.complaint("not-spam")).kind is ReportKind.OTHER


@pytest.mark.parametrize("name", ["exim", "qmail", "exchange"])
def test_other_forms_of_report_are_recognised(name):
    assert report_in(report_samples.OWN_WORDS[name]).kind is ReportKind.FAILED


def test_an_away_notice_is_not_a_failure():
    raw = b"From: ann@example.net\r\nSubject: Re: Sun Bid\r\nAuto-Submitted: auto-replied\r\n\r\nI am away until 550 5.1.1.\r\n"
    assert report_in(raw).kind is ReportKind.AWAY


@pytest.mark.parametrize(
    "raw",
    [
        b"From: ann@example.net\r\nSubject: Re: Sun Bid\r\n\r\nbid 7\r\n",
        b"",
        b"Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n--x--\r\n",
        b"Content-Type: message/delivery-status\r\n\r\nnonsense\r\n",
        b"Content-Type: message/delivery-status\r\n\r\nAction: \xff\xfe\r\n\r\nAction: fail ed\r\n",
        b"Content-Type: message/feedback-report\r\n\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\n--x--",
    ],
)
def test_anything_else_is_not_a_report(raw):
    assert report_in(raw).kind is ReportKind.OTHER


@pytest.mark.parametrize(
    ("answer", "permanent"),
    [("550 5.1.1 no such user", True), ("550 unknown", True), ("452 4.2.2 mailbox full", False), ("", True)],
)
def test_a_plain_report_of_exim_is_a_failure_though_it_says_automatic_reply(answer, permanent):
    report = report_in(report_samples.exim(answer))
    assert (report.kind, report.permanent) == (ReportKind.FAILED, permanent)
    assert report.answer == (answer or "a report in a server's own words")


def test_a_plain_warning_of_exim_is_a_delay():
    assert report_in(report_samples.exim("", late=True)).kind is ReportKind.LATE


@pytest.mark.parametrize(("action", "kind"), [("failed", ReportKind.FAILED), ("delayed", ReportKind.LATE)])
def test_a_report_for_addresses_in_utf_8_is_understood(action, kind):
    raw = report_samples.failure("5.1.1", "smtp; 550 no such user", action=action)
    report = report_in(
        raw.replace(b"message/delivery-status", b"message/global-delivery-status").replace(b"rfc822;", b"utf-8;")
    )
    assert (report.kind, report.answer) == (kind, "5.1.1 550 no such user")


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
@pytest.mark.parametrize("kind", ["delivery-status", "global-delivery-status"])
def test_an_encoded_report_is_understood(kind, encoding):
    fields = b"Reporting-MTA: dns; mx.example.net\n\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 no\n such user\n"
    encoded = (
        base64.encodebytes(fields) if encoding == "base64" else quopri.encodestring(fields).replace(b"no\n", b"n=\no\n")
    )
    headers = f"Content-Type: message/{kind}\nContent-Transfer-Encoding: {encoding}\n\n".encode()
    whole = b"Content-Type: multipart/report; boundary=x\n\n--x\n" + headers + encoded + b"\n--x--\n"
    for raw in (whole, headers + encoded):
        assert report_in(raw) == Report(ReportKind.FAILED, permanent=True, answer="5.1.1 550 no such user")


@pytest.mark.parametrize("encoding", ["base64", "7bit"])
def test_an_encoded_complaint_is_understood(encoding):
    fields = b"Feedback-Type: abuse\nVersion: 1\n"
    encoded = base64.encodebytes(fields) if encoding == "base64" else fields
    headers = f"Content-Type: message/feedback-report\nContent-Transfer-Encoding: {encoding}\n\n".encode()
    assert report_in(headers + encoded).kind is ReportKind.COMPLAINT


def test_an_away_notice_is_none_of_them():
    raw = b"From: Ann <ann@example.net>\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\n550 5.1.1 delayed\r\n"
    assert report_in(raw).kind is ReportKind.AWAY
