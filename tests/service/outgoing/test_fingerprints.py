"""Fingerprints in emails: one's own at once, those of a turn when it is over, and no other."""

from datetime import time as time_of_day

import pytest

from pbem.domain.delivery import Delivery, Way
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.rate_limits import Throttle
from pbem.service.outgoing import deliver, digests, preferences
from pbem.service.outgoing.deliver import Post
from pbem.service.play.log import Kind
from tests.service.clock import DAY
from tests.service.inbox import Inbox
from tests.service.outgoing.test_deliver import HEAD, HOUR

LIST = "Hashes of the sealed choices on turn"


@pytest.fixture
def box(tmp_path):
    return LocalMailbox(tmp_path / "mailbox")


@pytest.fixture
def sends(server, clock, box):
    """Send everything in the queue."""

    def send():
        for _ in range(3):
            clock.advance(HOUR)
            deliver.deliver(server, Post(HEAD, box, Throttle()), limit=200)

    return send


@pytest.fixture
def newest(box, server):
    """newest(game, seat) -> the text of the newest email to a seat's player."""

    def read(game, seat):
        found = box.entries(f"{game.players()[seat].name.lower()}@example.org")
        return box.read(found[0].key).text

    return read


@pytest.fixture
def poker(table, sends):
    """A game whose three players all seal a choice at once, and who have been asked."""
    game = table("sunset-poker", 3, options={"max_rounds": 1})
    sends()
    return game


def fingerprints(game):
    return [row.body_hash.hex() for row in game.log() if row.kind == Kind.SEALED]


def all_choose(game):
    for seat in sorted(game.asked()):
        game.play(seat, game.asked()[seat].default)


def listed(text):
    """The fingerprints of a list in an email, in its order."""
    lines = [line.strip() for line in text.partition(LIST)[2].splitlines()]
    return [line.removeprefix("- ") for line in lines if line.startswith("- ") and len(line) == 66]


def test_a_receipt_by_email_has_the_fingerprint_and_the_nonce_of_the_sealed_choice(poker, server, clock, sends, newest):
    Inbox(server, clock).replies(poker, 0, "pick AM")
    assert poker.log()[-1].kind == Kind.SEALED, poker.log()[-1]
    sends()
    (row,) = [row for row in poker.log() if row.kind == Kind.SEALED]
    text = newest(poker, 0)
    assert row.body_hash.hex() in text.splitlines()
    assert row.nonce.hex() in text.splitlines()
    assert "Hash of your choice, so you can check that nobody changed it:" in text


def test_a_receipt_for_a_choice_that_was_taken_back_has_no_fingerprint(poker, server, clock, sends, newest):
    Inbox(server, clock).replies(poker, 0, "pick AM\nundo")
    sends()
    assert poker.log()[-1].kind == Kind.WITHDRAWN
    assert "Hash of your choice" not in " ".join(newest(poker, 0).split())


def test_the_email_about_a_sealed_choice_has_its_fingerprint(poker, server, sends, newest):
    server.run(preferences.set_sealed_receipts, poker.person_at(1), on=True)
    proof = poker.play(1, poker.asked()[1].default).proof
    sends()
    assert {proof.fingerprint, proof.nonce} <= set(newest(poker, 1).splitlines())


def test_the_next_email_lists_the_fingerprints_of_the_turn_sorted(poker, sends, newest):
    all_choose(poker)
    sends()
    for seat in range(3):
        text = newest(poker, seat)
        assert f"{LIST} 1, so you can check" in " ".join(text.split())
        assert listed(text) == sorted(fingerprints(poker))
    all_choose(poker)
    sends()
    assert listed(newest(poker, 0)) == sorted(fingerprints(poker)[2:])


def test_no_email_of_an_open_turn_lists_a_fingerprint(poker, time, sends, newest):
    poker.play(0, poker.asked()[0].default)
    time.passes(12 * HOUR)
    time.reminds()
    sends()
    for seat in (1, 2):
        assert "a reminder: it's your turn" in newest(poker, seat)
        assert LIST not in newest(poker, seat)
        assert fingerprints(poker)[0] not in newest(poker, seat)


def test_a_digest_lists_the_fingerprints_of_the_last_turn(poker, server, time, sends, newest):
    server.run(preferences.choose, poker.person_at(0), Delivery(Way.DAILY), None, time_of_day(8))
    all_choose(poker)
    time.passes(DAY)
    digests.gather(server)
    sends()
    text = newest(poker, 0)
    assert "\nSunset Poker, turn " in text, "a section of a digest"
    assert listed(text) == sorted(fingerprints(poker)[:2])


def test_the_result_lists_the_fingerprints_of_the_last_sealed_turn(poker, sends, newest):
    for _ in poker.play_defaults():
        pass
    sends()
    assert poker.row().status == "over"
    assert listed(newest(poker, 0))
    assert set(listed(newest(poker, 0))) <= set(fingerprints(poker))
