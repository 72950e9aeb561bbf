"""A turn's email offers choices that the rules allow, in every game: each once, and how to write those it has no room for."""

import re

import pytest

from engine import grammar, orders, registry
from pbem.service.outgoing import deliver
from tests.mail.kinds import kind_of
from tests.mail.sink import ReceivedEmail, Sink
from tests.service.outgoing.test_deliver import HOUR, post_to

COMMAND = re.compile(r"^\* (.+?)(?: \(.*\))?$", re.MULTILINE)


@pytest.mark.parametrize("kind", registry.names())
def test_the_choices_in_a_turn_are_those_that_the_rules_allow(server, clock, table, kind):
    game = table(kind, max(registry.load(kind).seats))
    met = 0
    with Sink() as sink:
        post = post_to(sink)
        for _ in range(8):
            clock.advance(HOUR)
            before = len(sink.emails)
            deliver.deliver(server, post, limit=100)
            turns = [email for email in sink.emails[before:] if kind_of(email.message) == "turn"]
            for email in turns:
                _offers_what_the_rules_allow(game, email)
            met += len(turns)
            for _ in range(7):
                if asked := game.asked():
                    seat, decision = min(asked.items())
                    game.play(seat, allowed(game, seat, decision.choices(5))[-1])
    assert met > 2


def _offers_what_the_rules_allow(game, email: ReceivedEmail) -> None:
    players = game.players()
    (seat,) = [seat for seat, player in players.items() if f"{player.name}," == email.text.split()[0]]
    decision = game.open()[seat]
    section = re.split(r"\n[A-Z][^a-z\n]+\n", unwrapped(email.text).split("\nWHAT YOU CAN DO\n")[1])[0]
    offered = [grammar.read(decision, command) for command in COMMAND.findall(section)]
    assert len(offered) == len(set(offered)) <= 12
    legal = {act: allowed(game, seat, act.choices()) for act in decision.acts}
    assert set(offered) <= {choice for choices in legal.values() for choice in choices}
    assert len(offered) >= min(3, sum(map(len, legal.values())))
    linked = {act: [choice for choice in offered if choice in act] for act in decision.acts}
    assert all(linked.values()), "a few of every kind"
    others = {grammar.usage(act) for act, choices in linked.items() if len(choices) < act.count()}
    raising = {f"order {each}" for each in orders.offered(decision) if each.startswith("up to")}
    assert set(re.findall(r"^- (.+)$", section, re.MULTILINE)) == others | raising
    assert f"“{grammar.write(decision, decision.default)}”" in unwrapped(email.text).replace("\n", " ")


def allowed(game, seat, choices):
    """The choices that the rules let this seat make."""
    rules, view = registry.load(game.row().kind), game.view(seat)
    return [choice for choice in choices if rules.objects(view, seat, choice) is None]


def unwrapped(text: str) -> str:
    """A text whose paragraphs and bullets are lines."""
    return re.sub(r"\n {2,5}(?=\S)(?!https)", " ", text)
