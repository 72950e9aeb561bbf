"""The news of a tournament by email: rounds, results, and the next season, as their readers get them."""

from email.parser import BytesParser
from email.policy import default

import pytest

from pbem.domain.states import TournamentStatus
from pbem.mail.write.compose import Letterhead
from pbem.service.account import delete
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.tournaments import sign_up
from pbem.store import tournaments
from tests.mail.transports import StoringTransport

NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay")
LETTERHEAD = Letterhead("Auction games", "https://play.example.org", "play.example.org", "games@play.example.org", "")


@pytest.fixture
def newest(server):
    """newest("Spring cup: round 2", "Ann") -> the text of the newest email of this subject that names its reader."""
    transport = StoringTransport()

    def text(subject, name):
        while deliver(server, Post(LETTERHEAD, transport), limit=500).accepted:
            pass
        read = [parsed(email) for email in transport.emails]
        found = [text_of(email) for email in read if subject in str(email["subject"])]
        return next(each for each in reversed(found) if each.startswith(f"{name}, "))

    return text


def parsed(email):
    """An email as its reader's program reads it."""
    return BytesParser(policy=default).parsebytes(email.content)


def text_of(email):
    """Its plain text."""
    return email.get_body(("plain",)).get_content().replace("\r\n", "\n")


def ranking_of(text, heading):
    """The places under a heading, as (place, name)."""
    lines = text.partition(f"{heading.upper()}\n\n")[2].partition("\n\n")[0].splitlines()
    return [(int(place), name.strip()) for place, name in (line.partition(":")[0].split(".", 1) for line in lines)]


@pytest.mark.slow
def test_the_email_of_the_next_round_says_how_the_readers_last_table_ended(tournament, newest):
    cup = tournament(*NAMES)
    cup.begins()
    assert "YOUR TABLE" not in newest("Spring cup: round 1", "Ann")
    cup.is_late()
    for name in NAMES:
        table = next(each for each in cup.page.rounds[0].tables if name in [player.name for player in each.players])
        ended = [(player.place, player.name) for player in table.ranked]
        assert ranking_of(newest("Spring cup: round 2", name), "Your table in round 1") == ended


@pytest.mark.slow
def test_the_email_of_the_end_says_how_the_readers_last_table_ended(tournament, newest):
    cup = tournament(*NAMES, rounds=1)
    cup.begins()
    cup.is_late()
    table = next(each for each in cup.page.rounds[0].tables if "Ann" in [player.name for player in each.players])
    ended = [(player.place, player.name) for player in table.ranked]
    assert ranking_of(newest(" won", "Ann"), "Your table in round 1") == ended


def test_an_email_that_a_stranger_did_not_ask_for_has_nobodys_words(tournament, server):
    cup = tournament("Ann", name="You won 900 dollars, call 555 0100")
    server.run(sign_up.ask, cup.key, "zoe@example.org")
    server.run(sign_up.ask, cup.key, "ann@example.org")
    transport = StoringTransport()
    while deliver(server, Post(LETTERHEAD, transport), limit=500).accepted:
        pass
    to = {email.recipient: parsed(email) for email in transport.emails}
    assert "900" not in str(to["zoe@example.org"]["subject"]) + text_of(to["zoe@example.org"])
    assert "a tournament of Sunset Poker" in str(to["zoe@example.org"]["subject"])
    assert "900" in str(to["ann@example.org"]["subject"])


@pytest.mark.slow
def test_the_email_of_a_next_season_names_it(tournament, server):
    league = tournament(*NAMES, form="league", rounds=1, size=3)
    league.begins()
    league.is_late()
    transport = StoringTransport()
    while deliver(server, Post(LETTERHEAD, transport), limit=500).accepted:
        pass
    emails = [email for email in map(parsed, transport.emails) if "season" in str(email["subject"])]
    assert {str(email["subject"]) for email in emails} == {"Spring cup: sign up for season 2"}
    assert text_of(emails[0]).startswith("Season 2 of Spring cup is open for sign-up: a league of Sunset Poker.")


@pytest.mark.slow
def test_a_league_whose_host_has_left_ends_with_its_season_and_says_so(tournament, server, newest):
    league = tournament(*NAMES, form="league", rounds=1, size=3)
    league.begins()
    server.run(delete.delete_person, league.host)
    league.is_late()
    assert league.row.status == "over"
    for name in NAMES:
        assert "The host has left, so there's no next season." in newest("Spring cup", name)
    assert server.query(tournaments.all_with_status, TournamentStatus.OPEN, 10) == []


@pytest.mark.slow
def test_a_no_show_reads_what_happened_and_how_to_come_back(tournament, newest):
    cup = tournament(*NAMES, rounds=3)
    cup.begins()
    cup.plays_round("Ben")
    text = newest("goes on without you", "Ben")
    assert text.startswith("Ben, you're out of Spring cup from round 2 on.")
    assert "You made no choice of your own in round 1" in text
    assert "play from round 3 on" in text
    assert "/e/" in text


def test_an_invitation_after_the_start_says_from_which_round_on(tournament, server):
    cup = tournament(*NAMES, rounds=3)
    cup.begins()
    server.run(sign_up.invite, cup.id, cup.host, ("zoe@example.org",))
    transport = StoringTransport()
    while deliver(server, Post(LETTERHEAD, transport), limit=500).accepted:
        pass
    (text,) = [text_of(email) for email in map(parsed, transport.emails) if "invited you" in str(email["subject"])]
    assert "you'd play from round 2 of 3 on, ranked last" in " ".join(text.split())


def test_those_who_signed_up_read_that_too_few_did(tournament, newest):
    cup = tournament("Ann", "Ben", fewest=4)
    cup.begins()
    assert "Only 2 of at least 4 players had signed up." in " ".join(newest("Spring cup", "Ann").split())
