"""Previews: every kind of email for every game, as its seat would get it, and nothing is stored."""

import pytest
from sqlalchemy import MetaData, select

from engine import registry
from pbem import paths
from pbem.domain.errors import BadInput, NotFound
from pbem.mail.wire import html_of, parse, text_of
from pbem.service.outgoing.preview import KINDS, preview
from pbem.service.people import addresses
from tests.service.database import holds_token
from tests.service.outgoing.test_deliver import HEAD

pytestmark = pytest.mark.slow


def everything(server):
    """All rows of all tables."""
    meta = MetaData()
    meta.reflect(server.store.engine)
    with server.store.read() as tx:
        return {name: tx.execute(select(table)).all() for name, table in meta.tables.items()}


def test_there_is_a_preview_of_every_kind_but_the_test_email():
    kinds = {folder.name for folder in (paths.templates() / "mail").iterdir() if folder.is_dir()}
    assert set(KINDS) == kinds - {"trial"}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("game", registry.names())
def test_every_kind_has_a_preview_for_every_running_game(server, table, game):
    begun = table(game)
    for kind in KINDS:
        content = preview(server, HEAD, kind, begun.id, 1)
        message = parse(content)
        assert message["to"].addresses[0].addr_spec == server.read(addresses.read, begun.person_at(1)).address
        assert str(message["feedback-id"]).split(":")[1] == kind
        assert text_of(message)
        assert html_of(message)
        assert not holds_token(server, content + text_of(message).encode())


@pytest.mark.slow
def test_a_preview_changes_nothing(server, table):
    begun = table(bots=("random",))
    before = everything(server)
    seat = next(seat for seat, player in begun.players().items() if player.bot is None)
    for kind in KINDS:
        preview(server, HEAD, kind, begun.id, seat)
    assert everything(server) == before


def test_a_preview_shows_its_seats_cards_and_nobody_elses(server, table):
    begun = table("sunset-poker", 3)
    for _ in range(3):
        for seat, decision in begun.asked().items():
            begun.play(seat, decision.default)
    texts = [text_of(parse(preview(server, HEAD, "turn", begun.id, seat))) for seat in range(3)]
    hands = [text.split("Your hand")[1].split("\n\n")[0] for text in texts]
    assert len(set(hands)) == 3


def test_a_preview_that_cannot_be_made_is_refused_with_the_reason(server, table):
    begun = table(bots=("random",))
    with pytest.raises(BadInput, match="no kind of email called"):
        preview(server, HEAD, "spam", begun.id, 0)
    bots = next(seat for seat, player in begun.players().items() if player.bot is not None)
    with pytest.raises(BadInput, match=f"A bot plays seat {bots + 1}"):
        preview(server, HEAD, "turn", begun.id, bots)
    with pytest.raises(NotFound, match="no seat 8"):
        preview(server, HEAD, "turn", begun.id, 7)
    with pytest.raises(NotFound):
        preview(server, HEAD, "turn", 999, 0)
