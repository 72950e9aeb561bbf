"""The content of emails: every kind that the server queues has a template, and it renders."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from pbem import paths, service
from pbem.domain.states import EmailKind
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.rate_limits import Throttle
from pbem.service import links
from pbem.service.absence import offers
from pbem.service.desk import calls
from pbem.service.desk.acts.clocks import Extend, Pause, Resume
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.people import Ban
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import deliver
from pbem.service.outgoing.deliver import Post
from pbem.service.people import addresses
from pbem.service.play import by_link
from pbem.service.play.move import Actor
from pbem.service.tables import invitations, joining, leaving
from pbem.store import outbox
from pbem.store.outbox import NewEmail
from pbem.tokens import Purpose
from tests.service.actors import ANN, moderate
from tests.service.outgoing.test_deliver import HEAD, HOUR, LINK

_NOTICED = re.compile(
    r"(?:(?:notice|announce|notify_people|tell_others)\(\s*(?:context\.)?tx, (?:context\.)?server,|tell_players\()[^){]*?\"(\w+)\""
)

KINDS = sorted(folder.name for folder in (paths.templates() / "mail").iterdir() if folder.is_dir())


@pytest.fixture
def box(tmp_path):
    return LocalMailbox(tmp_path / "mailbox")


@pytest.fixture
def sends(server, clock, box) -> Callable[[], None]:
    """Everything in the queue is sent, and nothing of it gets stuck."""

    def send() -> None:
        for _ in range(3):
            clock.advance(HOUR)
            deliver.deliver(server, Post(HEAD, box, Throttle()), limit=200)
        with server.store.read() as tx:
            assert [row.kind for status in ("queued", "parked") for row in outbox.with_status(tx, status, 99)] == []

    return send


def text_of(box, subject, to=""):
    """The text of the newest email whose subject contains this, to one address or to any."""
    found = next((email for email in box.entries(to) if subject in email.subject), None)
    assert found is not None, [email.subject for email in box.entries()]
    opened = box.read(found.key)
    assert not any(odd in opened.text for odd in ("None", "{{", "{%", "Undefined", "()", "“”"))
    assert [line for line in opened.text.splitlines() if len(line) > 72 and "https://" not in line] == []
    return opened.text


def sources():
    return [path.read_text() for path in sorted(Path(service.__path__[0]).rglob("*.py"))]


def test_every_kind_of_email_that_is_queued_has_a_template():
    assert sorted(EmailKind) == KINDS


def test_every_kind_of_email_is_in_the_handbook():
    page = (paths.handbook() / "mail.md").read_text()
    rows = [line for line in page.split("## When emails come")[0].splitlines() if line.startswith("| `")]
    assert sorted(kind for row in rows for kind in re.findall(r"`(\w+)`", row.split("|")[1])) == KINDS


def test_every_notice_has_its_own_subject():
    subject = (paths.templates() / "mail" / "notice" / "subject.txt").read_text()
    queued = {what for source in sources() for what in _NOTICED.findall(source)}
    assert {"deadline", "paused", "resumed", "extended", "replaced", "bot_plays", "frozen", "unfrozen"} <= queued
    assert {what for what in queued if f'what == "{what}"' not in subject} == set()


def test_a_turn_email_says_why_a_choice_was_made_that_no_person_made(server, box, sends, table):
    game = table("templari", 3)
    sends()
    (seat,) = game.asked()
    game.play(seat, "pass", Actor.CLOCK)
    sends()
    (following,) = game.asked()
    name, address = game.players()[seat].name, f"{game.players()[following].name.lower()}@example.org"
    assert f"{name} passes (time ran out)." in text_of(box, "turn 2", address)


def test_an_address_is_confirmed_by_the_link_in_its_email(server, box, sends):
    found = server.run(addresses.register, "zoe@example.org", "Zoe")
    sends()
    purpose, token, _ = LINK.findall(text_of(box, "confirm"))[0]
    assert purpose == "c"
    assert server.read(links.follow, token, Purpose.CONFIRM).person_id == found.id


def test_an_invitation_names_the_host_the_terms_and_the_commitment(server, box, sends, person):
    ann = person("Ann")
    made = server.run(
        joining.create_table, ann, joining.TableSettings("bid", 3, invited=("ben@example.org",), pace="3d")
    )
    sends()
    text = text_of(box, "Ann has invited you")
    assert text.startswith("Ann has invited you to play “Bid!” by email.")
    assert "Time per turn: 3 days\n" in text
    assert made.commitment in text
    assert "Everyone has the same six tiles" in text, "who never heard of the game can see what it is"
    assert f"{HEAD.base_url}/games/bid" in text.splitlines()
    token = next(token for purpose, token, _ in LINK.findall(text) if purpose == "c")
    link = server.read(links.follow, token, Purpose.CONFIRM)
    assert link.game_id == made.game_id
    server.run(addresses.confirm, link.person_id)
    server.run(joining.join, made.game_id, link.person_id, name="Ben")
    sends()
    assert made.commitment in text_of(box, "you have a seat")


def test_hosts_and_players_hear_what_happens_to_a_table_before_the_start(server, box, sends, person):
    ann, ben = person("Ann"), person("Ben")
    made = server.run(
        joining.create_table, ann, joining.TableSettings("bid", 3, invited=("cleo@example.org",), title="Monday")
    )
    server.run(joining.join, made.game_id, ann)
    server.run(joining.join, made.game_id, ben)
    server.run(invitations.decline, made.game_id, server.run(addresses.register, "cleo@example.org").id)
    server.run(leaving.leave, made.game_id, ben)
    sends()
    assert "Monday (Bid!)" in text_of(box, "was declined")
    assert text_of(box, "Ben has left").startswith("Ann, Ben left Monday (Bid!) before the game started.")
    server.run(joining.join, made.game_id, ben)
    server.run(leaving.leave, made.game_id, ann)
    sends()
    assert "the host closed" in text_of(box, "was closed")


def test_a_table_that_never_filled_up_says_so(server, clock, box, sends, person):
    made = server.run(joining.create_table, person("Ann"), joining.TableSettings("bid", 3))
    clock.advance(timedelta(days=20))
    leaving.expire(server)
    sends()
    assert "didn't get enough players" in " ".join(text_of(box, "not enough players").split())
    assert made.game_id


def test_notices_of_pauses_and_more_time_have_the_new_deadline(server, box, sends, table):
    game = table("templari", 3)
    sends()
    (seat,) = game.asked()
    asked = f"{game.players()[seat].name.lower()}@example.org"
    moderate(server, Pause(game.id), "lost luggage")
    sends()
    assert "The organiser wrote: lost luggage" in text_of(box, "is paused")
    moderate(server, Resume(game.id), "found it")
    sends()
    assert "It's your turn. Please move by" in text_of(box, "has resumed", to=asked)
    moderate(server, Extend(game.id, "2d"), "take your time")
    sends()
    assert "Please move by Tue 24 Nov" in " ".join(text_of(box, "you have more time").split())


def test_corrections_and_terms_are_in_words(server, box, sends, table):
    game = table("bid", 3, options={"max_auctions": 12}, pace="1d")
    sends()
    welcome = text_of(box, "has started")
    assert "Auction limit: 12" in welcome
    assert "Reroll cost" not in welcome, "what is as always is in the rules"
    moderate(server, Correct(game.id, "pace", "3d"), "It was a typo.")
    sends()
    assert "has changed the time per turn in “Bid!” from 1 day to 3 days." in " ".join(
        text_of(box, "a correction").split()
    )
    waiting = server.run(
        joining.create_table, game.person_at(0), joining.TableSettings("bid", 3, title="Later")
    ).game_id
    server.run(joining.join, waiting, game.person_at(0))
    moderate(server, Correct(waiting, "option", "Auction limit: 30"), "Shorter.")
    sends()
    corrected = " ".join(text_of(box, "Later (Bid!)").split())
    assert "It was “Auction limit: 150” and is now “Auction limit: 30”." in corrected


def test_a_ban_names_its_last_day(server, box, sends, person):
    moderate(server, Ban(person("Ann"), date(2027, 6, 1)), "Insults at three tables.")
    sends()
    assert "The ban lasts until the end of Tue 1 Jun 2027." in text_of(
        box, "You've been banned from joining tables and sending messages"
    )


def test_the_others_hear_of_a_resignation_and_of_an_end_by_consent(server, box, sends, table):
    game = table("templari", 4)
    sends()
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    sends()
    assert "A bot has taken over the seat" in text_of(box, "has left")
    server.run(leaving.agree_to_end, game.id, game.person_at(1))
    sends()
    assert "/s/" in text_of(box, "wants to end the game")
    for seat in (2, 3):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    sends()
    assert game.row().secret.hex() in text_of(box, "without a result")


def test_a_free_seat_is_offered_with_the_public_board_and_a_link(server, box, sends, table, person):
    willing = person("Zoe")
    server.run(offers.set_volunteer, willing, volunteers=True)
    game = table("sunset-poker", 3, successor="substitute")
    sends()
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    sends()
    text = text_of(box, "a seat is free")
    assert text.startswith(f"Hi Zoe. {game.players()[0].name}'s seat in Sunset Poker is free.")
    assert "SUNSET POKER" in text
    assert "Your hand" not in text
    token = next(token for purpose, token, _ in LINK.findall(text) if purpose == "c")
    link = server.read(links.follow, token, Purpose.CONFIRM)
    assert (link.person_id, link.game_id, link.seat) == (willing, game.id, 0)


def test_a_substitute_gets_the_table_and_the_turn(server, box, sends, table, person):
    person("Zoe")
    game = table("templari", 3)
    sends()
    (seat,) = game.asked()
    moderate(server, Substitute(game.id, seat, "zoe@example.org"), "Ann has moved house")
    sends()
    assert "TEMPLARI" in text_of(box, "you're playing", to="zoe@example.org")
    assert "we'll play “" in " ".join(text_of(box, f"turn {game.row().turn}:", to="zoe@example.org").split())
    assert "The organiser wrote: Ann has moved house" in text_of(box, "Zoe has joined")


def test_a_reminder_follows_its_turn_email_and_offers_the_same_choices(server, clock, box, sends, table):
    game = table("sunset-poker", 3)
    sends()
    person = game.person_at(0)
    queue(server, NewEmail(person, "reminder", game.id, None, 0, 1, {"due_at": clock.now().isoformat(), "number": 1}))
    sends()
    address = f"{game.players()[0].name.lower()}@example.org"
    again, turn = (
        next(box.read(email.key) for email in box.entries(address) if email.subject.startswith(beginning))
        for beginning in ("Re: ", "Sunset Poker, turn")
    )
    assert dict(again.headers)["In-Reply-To"] == dict(turn.headers)["Message-ID"]
    assert again.entry.subject == f"Re: {turn.entry.subject}"
    choices = [[link for link in LINK.findall(each.text) if link[0] == "m"] for each in (again, turn)]
    assert choices[0] == choices[1] != []
    assert "a reminder: it's your turn" in text_of(box, "Re:")


def test_a_missed_turn_is_reported_with_what_more_of_them_lead_to(server, clock, box, sends, table):
    game = table("sunset-poker", 3)
    facts = {"choice": "pick Mill", "due_at": clock.now().isoformat(), "missed": 2, "warning": "Beware."}
    queue(server, NewEmail(game.person_at(0), "auto_passed", game.id, 7, 0, 1, facts))
    queue(server, NewEmail(game.person_at(1), "auto_passed", game.id, 7, 1, 1, facts | {"due_at": None}))
    queue(server, NewEmail(game.person_at(1), "host", game.id))
    sends()
    assert "Beware." in text_of(box, "played for you")
    assert "you're the host now" in text_of(box, "you're the host now")


def test_a_person_without_a_name_is_greeted(server, box, sends):
    server.run(calls.answer, ANN, server.run(calls.call_from_address, "stranger@example.org", "Hello?"), "Hello!")
    sends()
    assert text_of(box, "has replied").startswith("You, or someone who entered your address, wrote to the organiser.")


def test_the_organisers_answer_quotes_the_question(server, box, sends, table):
    game = table("templari", 3)
    number = server.run(calls.call, game.person_at(0), "Where is\nmy mail?", game_id=game.id, seat=0)
    server.run(calls.answer, ANN, number, "In the other folder.\n\nGreetings")
    sends()
    text = text_of(box, "has replied")
    assert "you wrote to the organiser about Templari." in text
    assert "In the other folder.\n\nGreetings" in text
    assert "> Where is\n> my mail?" in text


def test_the_email_with_all_games_has_a_link_for_each_and_one_to_sign_in(server, box, sends, table, person):
    one, two = table("templari", 3), table("bid", 3)
    ann = person("Ann")
    sends()
    queue(server, NewEmail(ann, "links"))
    sends()
    found = LINK.findall(text_of(box, "your games"))
    seats = [server.read(links.follow, token, Purpose.SEAT) for purpose, token, _ in found if purpose == "s"]
    assert {seat.game_id for seat in seats} == {one.id, two.id}
    (token,) = [token for purpose, token, _ in found if purpose == "l"]
    assert server.read(links.follow, token, Purpose.SIGN_IN).person_id == ann


def test_the_next_email_tells_why_a_standing_order_ended(server, box, sends, table):
    game = table("templari", 3)
    sends()
    seat, _ = next(iter(game.asked().items()))
    person = token_of_seat(server, box, seat)
    server.run(by_link.add_order, person, game.row().turn, "up to 3 or ask me")
    for _ in range(12):
        asked = game.asked()
        if not asked:
            break
        other, decision = next(iter(asked.items()))
        if other == seat:
            break
        bids = [choice for choice in decision.choices() if choice.verb == "bid"]
        game.play(other, bids[min(4, len(bids) - 1)] if bids else decision.default)
    sends()
    text = " ".join(text_of(box, f"turn {game.row().turn}").split())
    assert "Your standing order “up to 3 or ask me” has ended." in text


def token_of_seat(server, box, seat):
    """The token of a seat's page, from the email that asked it."""
    for email in box.entries():
        for purpose, token, _ in LINK.findall(box.read(email.key).text):
            if purpose == "s" and server.read(links.follow, token, Purpose.SEAT).seat == seat:
                return token
    raise AssertionError("no mail to that seat")


def queue(server, email):
    """Queue an email, as a use case does."""
    now = server.now()
    server.store.write(lambda tx: outbox.queue(tx, [email], now, now))
