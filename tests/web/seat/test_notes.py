"""Private notes about a table: the player's own, kept from everyone else and from every email."""

import json

from pbem.service.account import personal_data
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.service.play import notes as play_notes
from pbem.store import merge, notes, personal_data as rows
from tests.service.actors import moderate
from tests.service.database import all_rows


def test_notes_are_ones_own_on_the_page_and_in_the_export_and_go_with_the_person(browser, links, table, person, server):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    ann, page = game.person_at(seat), browser.open(f"/s/{links.of(game, seat)[1]}").follow("Notes")
    saved = page.form("Save notes").press(text="Ben bluffs.\n\n<b>Cleo</b> saves coins.")
    assert "Notes saved." in saved.text
    assert "Ben bluffs.\n\n&lt;b&gt;Cleo&lt;/b&gt; saves coins." in saved.source
    refused = saved.form("Save notes").press(text="x" * 4001)
    assert refused.status == 400
    assert "x" * 4001 in refused.source
    for other in {0, 1, 2} - {seat}:
        assert "saves coins" not in browser.open(f"/s/{links.of(game, other)[1]}/notes").source
    (exported,) = json.loads("".join(personal_data.export_person(server, ann)))["notes"]
    assert exported["text"].startswith("Ben bluffs.")
    assert exported["table"] == game.row().key
    zoe = person("Zoe")
    server.store.write(lambda tx: merge.move_rows(tx, ann, zoe))
    with server.store.read() as tx:
        assert notes.read(tx, game.id, seat, zoe).startswith("Ben bluffs.")
    server.store.write(lambda tx: rows.forget(tx, addresses.read(tx, server, zoe), "UTC"))
    with server.store.read() as tx:
        assert notes.read(tx, game.id, seat, zoe) == ""
    assert "Ben bluffs" not in repr(all_rows(server.store))


def test_a_note_that_came_by_email_is_not_lost_to_a_page_opened_before(browser, links, table, server):
    game = table("templari", 3)
    token, ann = links.of(game, 0)[1], game.person_at(0)
    page = browser.open(f"/s/{token}/notes")
    server.run(play_notes.add, game.id, 0, ann, "Cleo saves coins.")
    refused = page.form("Save notes").press(text="Ben bluffs.")
    assert refused.status == 409
    assert "Your notes have changed since you opened this page." in refused.text
    assert "Cleo saves coins." in refused.text
    saved = refused.form("Save notes").press(text="Ben bluffs.\nCleo saves coins.")
    assert "Notes saved." in saved.text
    with server.store.read() as tx:
        assert notes.read(tx, game.id, 0, ann) == "Ben bluffs.\nCleo saves coins."


def test_a_player_who_takes_a_seat_over_finds_no_notes(browser, links, table, server):
    game = table("templari", 3)
    browser.open(f"/s/{links.of(game, 0)[1]}/notes").form("Save notes").press(text="Ben bluffs.")
    moderate(server, Substitute(game.id, 0, "zoe@example.org"), "Ann asked us to.")
    assert game.players()[0].name != "Ann"
    assert "Ben bluffs" not in browser.open(f"/s/{links.of(game, 0)[1]}/notes").source
