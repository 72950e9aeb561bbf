"""The audit at the desk: searched, checked and downloaded."""

import json

from sqlalchemy import update

from pbem.domain.acts import READ_ONLY, Act
from pbem.service.desk import audit
from pbem.store.schema import AUDIT
from pbem.web.desk.audit import SHOWN
from tests.service.actors import ANN, ROOT
from tests.service.database import count_calls
from tests.web.browser import HOST


def record(server, actor=ANN, act=Act.BAN, reason="It was asked for.", **named):
    return server.run(audit.record, actor, act, reason, **named)


def test_an_act_is_shown_with_its_actor_its_reason_and_its_subject(olga, server, table):
    game = table()
    record(server, act=Act.EXTEND, game_id=game.id, reason="The <hotel> let nothing through.", hours=24)
    page = olga.open("/desk/audit")
    assert "The <hotel> let nothing through." in page.text
    assert f"/desk/tables/{game.id}" in page.hrefs()
    assert "organiser Ann" in page.text
    assert "hours: 24" in page.text


def test_the_details_of_an_act_are_shown_in_words(olga, server):
    record(server, act=Act.BAN, until=None, offered=True, asked=False, seat=0)
    text = olga.open("/desk/audit").text
    assert "seat 1; asked: no; offered to others" in text, "the first seat"
    assert "None" not in text


def test_a_duration_a_moment_and_a_correction_are_shown_in_words(olga, server, table):
    game = table("bid").id
    record(server, act=Act.EXTEND, game_id=game, more="2d")
    record(server, act=Act.OUTAGE, start="2026-11-20T08:00:00+00:00", end="2026-11-20T09:30:00+00:00")
    option = {"before": "reroll=pawn", "to": "reroll=coin"}
    record(server, act=Act.CORRECT, game_id=game, what="option", seat=None, **option)
    record(server, act=Act.SUBSTITUTE, game_id=game, seat=1, before=3, to=5)
    text = olga.open("/desk/audit").text
    assert "more time: 2 days" in text
    assert "from Fri 20 Nov 2026, 08:00 UTC; until Fri 20 Nov 2026, 09:30 UTC" in text
    assert "a variant; before: Reroll cost: the Pawn; now: Reroll cost: a coin" in text
    assert "seat 2; before: person 3; now: person 5" in text


def test_every_act_in_the_audit_has_words(olga, server):
    written = [act for act in Act if act not in READ_ONLY]
    for act in written:
        record(server, ROOT, act)
    page = olga.open("/desk/audit")
    for act in written:
        assert f"<strong>{act}</strong>" not in page.source
        assert f'<option value="{act}">' in page.source
    for act in READ_ONLY:
        assert f'value="{act}"' not in page.source, "nothing is found by it"


def test_a_search_for_acts_has_an_address_that_can_be_bookmarked(olga, server, table):
    game = table()
    record(server, act=Act.EXTEND, game_id=game.id, reason="The first.")
    record(server, ROOT, reason="The second.")
    for query, found, other in (
        ("act=extend", "The first.", "The second."),
        (f"table={game.id}", "The first.", "The second."),
        ("by=command+line++root", "The second.", "The first."),
    ):
        page = olga.open(f"/desk/audit?{query}")
        assert found in page.text
        assert other not in page.text
    assert "Nothing found" in olga.open("/desk/audit?person=7").text
    assert olga.open("/desk/audit?table=x").status == 400


def test_older_acts_are_a_page_away(olga, server):
    for number in range(SHOWN + 2):
        record(server, reason=f"It is number {number}.")
    record(server, act=Act.OUTAGE)
    first = olga.open("/desk/audit?act=ban")
    assert "It is number 1." not in first.text
    older = first.follow("Older")
    assert "It is number 1." in older.text
    assert "It is number 2." not in older.text
    assert "Older" not in older.links()


def test_a_page_of_acts_takes_few_queries_and_little_room(olga, server, table):
    game = table()
    for _ in range(SHOWN + 1):
        record(server, act=Act.EXTEND, game_id=game.id, reason="x" * 500, hours=24)
    with count_calls(server.store) as made:
        page = olga.open("/desk/audit")
    assert len([each for each in made if each.startswith("SELECT")]) <= 12
    assert len(page.source) < 60_000


def test_checking_the_chain_shows_an_alteration(olga, server):
    record(server)
    noted = server.read(audit.head)
    record(server)
    assert "The log is intact" in olga.open(f"/desk/audit/check?head={noted}").text
    assert "No row has the hash 00000000000000000000." in olga.open("/desk/audit/check?head=00000000000000000000").text
    server.store.write(lambda tx: tx.execute(update(AUDIT).where(AUDIT.c.seq == 1).values(reason="Another.")))
    assert "row 1" in olga.open("/desk/audit/check").text


def test_the_downloaded_chain_verifies(olga, server):
    for _ in range(3):
        record(server)
    with olga.client.get("/desk/audit.jsonl", base_url=HOST) as answer:
        assert "attachment" in answer.headers["Content-Disposition"]
        lines = answer.get_data(as_text=True).splitlines()
    assert audit.verify_lines(lines, [server.read(audit.head)]).rows == 3
    assert json.loads(lines[0])["actor"] == "organiser Ann"
