"""A whole season without an organiser's hand: people leave, a server is down, tables run late, and every email is accounted for."""

import json
from collections import Counter

import pytest

from pbem.domain.states import EntrantStatus
from pbem.mail.write.compose import Letterhead
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.tables import leaving
from pbem.service.tournaments import file, sign_up
from pbem.store import ledger
from tests.conftest import EVERYTHING
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.clock import DAY, HOUR
from tests.service.database import queued_emails

PLAYERS, ROUNDS = (64, 5) if EVERYTHING else (18, 2)
LETTERHEAD = Letterhead("Auction games", "https://play.example.org", "play.example.org", "games@play.example.org", "")


@pytest.fixture
def carry(server):
    """Send what is due."""
    post = Post(LETTERHEAD, FunctionTransport(lambda _email: ACCEPTED))

    def carry():
        while deliver(server, post, limit=500).accepted:
            pass

    return carry


@pytest.mark.slow
def test_a_season_plays_to_its_end_with_leavers_an_outage_and_late_tables(tournament, carry):
    names = [f"Player {number}" for number in range(1, PLAYERS + 1)]
    cup = tournament(*names, rounds=ROUNDS, size=4, most=PLAYERS - 2)
    server, time = cup.server, cup.time
    cup.begins()
    carry()
    gone = set()
    for number in range(1, ROUNDS + 1):
        here = [each for each in cup.page.present if each.name not in gone]
        # Every tenth player leaves: one in two gives up their game, too.
        for at, each in enumerate(here[number::10]):
            gone.add(each.name)
            server.run(sign_up.decline, cup.id, cup.people[each.name])
            if at % 2:
                (game,) = [found for found in cup.games() if each.person_id in _people_of(found)]
                server.run(leaving.resign, game.id, _people_of(game).index(each.person_id), each.person_id)
        due = cup.row.due_at
        if number == 2:
            time.sleeps(3 * DAY)
            assert cup.row.due_at == due + 3 * DAY, "nobody loses time while the server is down"
        time.passes(HOUR)
        carry()
        cup.is_late()
        carry()
    page = cup.page
    assert page.summary.status == "over"
    assert page.summary.winners
    assert file.check(server.read(file.of_tournament, cup.key)) == []
    for round_ in page.rounds:
        seated = Counter(player.number for table in round_.tables for player in table.players)
        assert set(seated.values()) == {1}
        after = {each.number for each in page.entrants if each.until is not None and each.until < round_.number}
        assert not after & set(seated), "nobody has a table after leaving"
        assert all(player.place for table in round_.tables for player in table.players)
    for each in page.entrants:
        _check_emails(cup, each, page)


def _people_of(game):
    return [game.players()[seat].person_id for seat in sorted(game.players())]


def _check_emails(cup, entrant, page):
    """Each email about the tournament left once, and says what was so."""
    emails = queued_emails(cup.server, entrant.person_id, "tournament")
    facts = [json.loads(each.facts) for each in emails]
    rounds = [each["round"] for each in facts if each["what"] == "round"]
    until = len(page.rounds) if entrant.until is None else entrant.until
    played = entrant.rank != 0
    assert rounds == (list(range(entrant.since, until + 1)) if played else [])
    assert [each["what"] for each in facts].count("over") == played
    assert [each["what"] for each in facts].count("place") == (entrant.since > 1)
    assert entrant.status in (EntrantStatus.IN, EntrantStatus.LEFT, EntrantStatus.WAITING)
    with cup.server.store.read() as tx:
        for email in emails:
            lines = [line.what for line in ledger.lines_of(tx, email.id)]
            assert lines.count("accepted") == 1, lines
