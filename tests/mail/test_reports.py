"""Reports of mail servers and providers, as they write them."""

import pytest

from pbem.mail.read.addressed import fit_to_keep, read
from pbem.mail.read.reports import LONGEST_SAID, Report, Reported, report_of
from tests.mail import reported


def told(raw: bytes, envelope_from: str = "") -> Reported:
    """What is told by a mail, as it is kept."""
    return report_of(read(fit_to_keep(raw, envelope_from)))


def test_a_mail_that_failed_for_good_says_so_with_the_servers_words_and_without_an_address():
    said = told(reported.failure("5.1.1", "smtp; 550 5.1.1 <ann@example.net>: no such user here"))
    assert said == Reported(Report.FAILED, for_good=True, said="5.1.1 550 5.1.1 <address>: no such user here")


def test_a_mail_that_failed_for_now_is_told_apart():
    said = told(reported.failure("4.4.1", "smtp; connection timed out"))
    assert said == Reported(Report.FAILED, for_good=False, said="4.4.1 connection timed out")


def test_a_late_mail_has_not_failed():
    assert told(reported.failure("4.4.1", "smtp; connection refused", action="delayed")).what is Report.LATE


@pytest.mark.parametrize("action", ["delivered", "relayed", "expanded"])
def test_word_that_a_mail_arrived_is_no_failure(action):
    assert told(reported.failure("2.0.0", "smtp; 250 ok", action=action)).what is Report.ARRIVED


def test_of_several_readers_the_worst_counts():
    said = told(reported.failure("4.4.1", "smtp; later", action="delayed", others="failed"))
    assert said == Reported(Report.FAILED, for_good=True, said="5.2.1")


def test_a_report_without_a_status_or_a_diagnosis_is_a_failure_still():
    bare = reported.failure("5.0.0", "x").replace(b"Status: 5.0.0\r\n", b"").replace(b"Diagnostic-Code: x\r\n", b"")
    assert told(bare) == Reported(Report.FAILED, for_good=True)


def test_the_words_of_a_server_are_one_short_line():
    said = told(reported.failure("5.2.2", "smtp; full\r\n " + "very " * 300)).said
    assert len(said) <= LONGEST_SAID
    assert said.isprintable()


@pytest.mark.parametrize("kind", ["abuse", "Abuse", "fraud", "opt-out"])
def test_a_complaint_is_one(kind):
    assert told(reported.complaint(kind), "fbl@provider.example").what is Report.COMPLAINT


def test_a_reader_who_says_that_it_was_no_spam_does_not_complain():
    assert told(reported.complaint("not-spam")).what is Report.OTHER


@pytest.mark.parametrize("name", ["exim", "qmail", "exchange"])
def test_reports_in_a_servers_own_words_are_understood(name):
    assert told(reported.OWN_WORDS[name]).what is Report.FAILED


def test_an_away_notice_is_no_failure():
    raw = b"From: ann@example.net\r\nSubject: Re: Sun Bid\r\nAuto-Submitted: auto-replied\r\n\r\nI am away until 550 5.1.1.\r\n"
    assert told(raw).what is Report.AWAY


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
def test_what_reports_nothing_says_nothing(raw):
    assert told(raw).what is Report.OTHER
