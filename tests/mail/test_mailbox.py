"""The local mailbox: every email once, whole, newest first."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pbem.domain.errors import NotFound
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.smtp import OutgoingEmail, Result
from pbem.mail.wire import NamedAddress, serialise
from tests.mail.test_wire import EMAIL


@pytest.fixture
def box(tmp_path):
    return LocalMailbox(tmp_path / "mailbox")


def email(number, to="ann@example.org"):
    date = EMAIL.date + timedelta(minutes=number)
    return serialise(
        replace(
            EMAIL, subject=f"Mail {number}", date=date, message_id=f"<m{number}@x.example>", to=NamedAddress("Zoë", to)
        )
    )


def test_an_email_is_read_as_it_was_sent(box):
    with box.session() as session:
        outcome = session.send(OutgoingEmail("m1", "b@x.example", "ann@example.org", email(1)))
    assert outcome.result is Result.ACCEPTED
    (entry,) = box.entries()
    opened = box.read(entry.key)
    assert opened.content == email(1)
    assert opened.text == EMAIL.text
    assert ("Subject", "Mail 1") in opened.headers
    assert (entry.to, entry.subject, entry.date) == ("ann@example.org", "Mail 1", EMAIL.date + timedelta(minutes=1))


def test_the_same_email_sent_twice_is_there_once(box):
    assert box.put(email(1)) == box.put(email(1))
    assert len(box.entries()) == 1


def test_the_newest_email_comes_first_and_each_address_has_its_own(box):
    for number in (2, 1, 3):
        box.put(email(number, to="ben@example.org" if number == 1 else "ann@example.org"))
    assert [entry.subject for entry in box.entries()] == ["Mail 3", "Mail 2", "Mail 1"]
    assert [entry.subject for entry in box.entries(to="ann@example.org")] == ["Mail 3", "Mail 2"]
    assert [entry.subject for entry in box.entries(most=1)] == ["Mail 3"]
    assert box.addresses() == ["ann@example.org", "ben@example.org"]


@pytest.mark.parametrize("key", ["", "..", "../keys", "20261121120000-0000000000000000", "x" * 40, "\x00"])
def test_no_other_file_can_be_read_through_it(box, key):
    (box.folder.parent / "keys").write_text("secret")
    box.put(email(1))
    with pytest.raises(NotFound):
        box.read(key)


def test_an_empty_mailbox_is_not_an_error(box):
    assert box.entries() == []
    assert box.addresses() == []


def test_an_unwritable_folder_counts_as_down(tmp_path):
    (tmp_path / "mailbox").write_text("a file stands in the way")
    with LocalMailbox(tmp_path / "mailbox").session() as session:
        assert session.send(OutgoingEmail("m1", "b@x.example", "ann@example.org", email(1))).result is Result.DOWN
