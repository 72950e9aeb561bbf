"""The preview of a host's act says what it would do, and changes nothing; those invited after the start play from the next round on."""

import json

import pytest

from pbem.domain.errors import Gone, Stale
from pbem.service import links
from pbem.service.tournaments import by_link, file, hosting, preview, sign_up
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.service.clock import DAY
from tests.service.database import all_rows, queued_emails

FOUR = ("Ann", "Ben", "Cleo", "Dan")


def seen(cup, act, *given):
    """What an act would do; nothing changes."""
    before = all_rows(cup.server.store)
    found = cup.server.dry_run(preview.preview, act, cup.id, cup.host, *given)
    assert all_rows(cup.server.store) == before
    return found


def test_a_preview_names_who_is_told_and_which_dates_move(tournament):
    cup = tournament(*FOUR, most=3)
    would = seen(cup, hosting.extend, 2)
    assert sorted(would.readers) == sorted(FOUR)
    closes = cup.row.closes_at
    assert [(each.before, each.after) for each in would.moved] == [(closes, closes + 2 * DAY)]
    would = seen(cup, hosting.remove, cup.entrant("Ben").number, "You asked for it.")
    assert (would.goes, would.comes) == (("Ben",), ("Dan",))
    assert sorted(would.readers) == ["Ben", "Dan"]
    assert seen(cup, hosting.call_off, "No time.").status == "called off"


def test_a_preview_of_a_correction_has_the_new_standings(tournament):
    cup = tournament(*FOUR[:3])
    cup.begins()
    cup.is_late()
    table = cup.page.rounds[0].tables[0]
    last = max(table.players, key=lambda player: player.place)
    places = tuple(1 if player is last else 2 for player in table.players)
    would = seen(cup, hosting.correct, 1, 1, places, "They agreed on it.")
    assert would.standings[0].name == last.name
    assert seen(cup, hosting.correct, 1, 1, tuple(each.place for each in table.players), "As it was.").standings == ()


def test_a_preview_that_no_longer_fits_does_nothing(tournament):
    cup = tournament(*FOUR[:3])
    mark = seen(cup, hosting.extend, 2).mark
    cup.server.run(preview.perform, hosting.extend, cup.id, cup.host, mark, 2)
    closes = cup.row.closes_at
    with pytest.raises(Stale, match="changed since the preview"):
        cup.server.run(preview.perform, hosting.extend, cup.id, cup.host, mark, 2)
    assert cup.row.closes_at == closes


def test_a_preview_of_invitations_tells_nothing_of_those_invited(tournament, person):
    cup = tournament(*FOUR[:3])
    person("Zoe")
    would = seen(cup, sign_up.invite, ("zoe@example.org", "new@example.org"))
    assert would.readers == ()


def accepts(cup, person_id, name):
    """Follow the newest invitation of a person."""
    email = queued_emails(cup.server, person_id, "sign_up")[-1]
    token = cup.server.run(links.make_token, LinkKey(Purpose.ENTRY, person_id, outbox_id=email.id))
    return by_link.enter(cup.server, token, name, "a word")


def test_someone_invited_after_the_start_plays_from_the_next_round_on_ranked_last(tournament, person):
    cup = tournament(*FOUR[:3], rounds=3, most=4)
    old = person("Eve")
    cup.server.run(sign_up.invite, cup.id, cup.host, ("eve@example.org",))
    cup.begins()
    with pytest.raises(Gone):
        accepts(cup, old, "Eve")
    for name in ("zoe", "eve"):
        assert cup.server.run(sign_up.invite, cup.id, cup.host, (f"{name}@example.org",)) == 1
    assert cup.server.run(sign_up.invite, cup.id, cup.host, ("zoe@example.org",)) == 0, "once a round is enough"
    assert accepts(cup, person("Zoe"), "Zoe").status == "in"
    assert accepts(cup, old, "Eve").status == "waiting", "the last place is taken"
    with pytest.raises(Stale, match="All places are taken"):
        cup.server.run(sign_up.invite, cup.id, cup.host, ("kim@example.org",))
    cup.is_late()
    zoe = cup.entrant("Zoe")
    assert (zoe.since, zoe.rank) == (2, 4)
    assert "Zoe" in {player.name for table in cup.page.rounds[1].tables for player in table.players} | set(
        cup.page.rounds[1].byes
    )
    document = cup.server.read(file.of_tournament, cup.key)
    assert file.check(document) == []
    assert "a word" not in json.loads(document)["chance"]["words"], "the lots were drawn before"


@pytest.mark.parametrize("settings", [{"form": "knockout"}, {"rounds": 1}])
def test_nobody_is_invited_where_no_later_round_takes_them(tournament, settings):
    cup = tournament(*FOUR[:3], **settings)
    cup.begins()
    with pytest.raises(Gone):
        cup.server.run(sign_up.invite, cup.id, cup.host, ("zoe@example.org",))
