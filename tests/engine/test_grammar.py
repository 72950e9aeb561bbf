"""Written choices: they read back, clear text is understood, and other text is refused with what is possible."""

from __future__ import annotations

import pytest

from engine.decisions import Act, Amount, Choice, Decision, OneOf, Ranking, Refused, Some, Split, Thing
from engine.grammar import LONGEST_LINE, filled_in, read, spoken_in_full, usage, usages, write
from engine.tell import say
from tests.fuzz.door import steps

CARDS = (
    Thing("5ML", "Forest", "5 moons leaves", ("the forest",)),
    Thing("7WY", "Cave"),
    Thing("7ML", "Chance Meeting"),
    Thing("TA", "Tar Pit"),
)
SUITS = tuple(Thing(word[0], word) for word in ("Moons", "Suns", "Waves"))
TILES = tuple(Thing(n, str(n)) for n in (0, 1, 1, 2))

DECISION = Decision(
    0,
    say("What now?"),
    (
        Act("pass"),
        Act("bid", (Amount("coins", 1, 40, frozenset({1, 2, 7}), why=say("You have {coins:coin|coins}.", coins=40)),)),
        Act("play", (OneOf("card", CARDS),)),
        Act("tiles", (Some("tiles", TILES, 2),)),
        Act("rank", (Ranking("suits", SUITS),)),
        Act("split", (Split("coins", SUITS, 6),)),
        Act("give", (OneOf("suit", SUITS), Amount("seat", 2, 3), OneOf("kept", SUITS)), "give {} to {} and keep {}"),
        Act("place", (Amount("coins", 1, 9), OneOf("card", CARDS))),
    ),
    Choice("pass"),
)


def test_a_choice_that_is_told_away_from_the_table_has_the_notes_of_its_things():
    """A bare name says nothing of what the card is worth."""
    assert spoken_in_full(DECISION, Choice("play", ("5ML",))) == "play Forest (5 moons leaves)"
    assert spoken_in_full(DECISION, Choice("play", ("7WY",))) == "play Cave"
    assert spoken_in_full(DECISION, Choice("bid", (7,))) == "bid 7"
    assert filled_in(DECISION, Choice("play", ("5ML",))) == "Forest (5 moons leaves)"
    assert filled_in(DECISION, Choice("tiles", ((0, 2),))) == "0, 2"


@pytest.mark.parametrize("act", DECISION.acts, ids=lambda act: act.verb)
def test_every_choice_reads_back_as_it_was_written(act):
    for choice in act.choices():
        assert read(DECISION, write(DECISION, choice)) == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("pass", Choice("pass")),
        ("  PASS. ", Choice("pass")),
        ("“pass”", Choice("pass")),
        ("pa", Choice("pass")),
        ("bid 7", Choice("bid", (7,))),
        ("Bid: 7!", Choice("bid", (7,))),
        ("bid=12", Choice("bid", (12,))),
        ("b 7", Choice("bid", (7,))),
        ("play the Forest", Choice("play", ("5ML",))),
        ("play forest", Choice("play", ("5ML",))),
        ("play 5ml", Choice("play", ("5ML",))),
        ("play for", Choice("play", ("5ML",))),
        ("play chance meeting", Choice("play", ("7ML",))),
        ("play chance", Choice("play", ("7ML",))),
        ("tiles 2 and 1", Choice("tiles", ((1, 2),))),
        ("tiles 1, 1", Choice("tiles", ((1, 1),))),
        ("rank suns, waves, moons", Choice("rank", (("S", "W", "M"),))),
        ("rank s w m", Choice("rank", (("S", "W", "M"),))),
        ("split 1 2 3", Choice("split", ((1, 2, 3),))),
        ("give moons to 2 and keep suns", Choice("give", ("M", 2, "S"))),
        ("give moons 2 suns", Choice("give", ("M", 2, "S"))),
        ("place 3 cave", Choice("place", (3, "7WY"))),
    ],
)
def test_clear_commands_are_understood(text, choice):
    assert read(DECISION, text) == choice


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "There's no move in that"),
        ("???", "There's no move in that"),
        ("hello there", "“hello” isn't a move you can make now"),
        ("p", "“p” could mean"),
        ("bid", "is incomplete"),
        ("bid 50", "50 is too high: the maximum is 40. You have 40 coins."),
        ("bid 0", "0 is too low: the minimum is 1. You have 40 coins."),
        ("bid 8", "You can't use 8 here. You have 40 coins."),
        ("bid seven", "isn't a whole number"),
        ("bid 7 7", "“bid 7” can't be followed by “7”"),
        ("play c", "could mean"),
        ("play sailor", "“sailor” isn't one of the choices"),
        ("tiles 2 2", "isn't one of the choices|don't go together"),
        ("tiles", "“tiles” is incomplete. Try “tiles 0, 1”. You"),
        ("tiles 2", "“tiles 2” is incomplete. Try “tiles 0, 2” or “tiles 1, 2”. You"),
        ("rank suns waves", "“rank suns waves” is incomplete. Try “rank Suns, Waves, Moons”. You"),
        ("split 1", "“split 1” is incomplete. Try “split 1 0 5”, “split 1 1 4” or “split 1 2 3”. You"),
        ("give moons", "“give moons” is incomplete. Try “give Moons to 2 and keep Suns”. You"),
        ("split 1 2 4", "doesn't share out 6"),
        ("pass now", "“pass” can't be followed by"),
        ("x" * (LONGEST_LINE + 1), "too long"),
    ],
)
def test_unclear_commands_are_refused_with_a_reason(text, why):
    with pytest.raises(Refused, match=why):
        read(DECISION, text)


def test_every_refusal_says_what_may_be_written():
    with pytest.raises(Refused) as refused:
        read(DECISION, "help")
    assert all(way in str(refused.value) for way in usages(DECISION))


@pytest.mark.parametrize(
    ("coins", "written"), [(Amount("coins", 36, 36), "bid 36"), (Amount("coins", 30, 39, frozenset({6})), "bid 36")]
)
def test_a_usage_with_one_possible_amount_is_that_amount(coins, written):
    assert usage(Act("bid", (coins,))) == written


def test_usages_name_the_blanks_and_their_bounds():
    assert usages(DECISION) == (
        "pass",
        "bid <coins 1-40>",
        "play <Forest | Cave | Chance Meeting | Tar Pit>",
        "tiles <2 of 0 | 1 | 2>",
        "rank <Moons, Suns, Waves in your order>",
        "split <6 over Moons, Suns, Waves>",
        "give <Moons | Suns | Waves> to <seat 2-3> and keep <Moons | Suns | Waves>",
        "place <coins 1-9> <Forest | Cave | Chance Meeting | Tar Pit>",
    )


def test_a_usage_does_not_list_a_hundred_things():
    many = tuple(Thing(n, f"thing {n}") for n in range(100))
    assert usage(Act("take", (OneOf("thing", many),))).endswith("| ...>")


def test_acts_that_share_a_verb_share_their_reader():
    decision = Decision(
        0,
        say("?"),
        (Act("use", (OneOf("card", CARDS[:1]), OneOf("target", CARDS[1:2]))), Act("use", (OneOf("card", CARDS[1:3]),))),
        Choice("use", ("7WY",)),
    )
    assert read(decision, "use forest cave") == Choice("use", ("5ML", "7WY"))
    assert read(decision, "use cave") == Choice("use", ("7WY",))
    with pytest.raises(Refused):
        read(decision, "use forest chance")


def test_an_exact_name_beats_the_beginning_of_another_one():
    things = (Thing("a", "Sun"), Thing("b", "Sundial"))
    decision = Decision(0, say("?"), (Act("take", (OneOf("thing", things),)),), Choice("take", ("a",)))
    assert read(decision, "take sun") == Choice("take", ("a",))
    assert read(decision, "take sund") == Choice("take", ("b",))


@pytest.mark.parametrize("count", [50, 500, 5000])
def test_a_line_of_many_words_is_refused_at_once(count):
    with pytest.raises(Refused):
        read(DECISION, "rank " + "s " * count)


SUNS = tuple(Thing(f"s{number}", f"sun {number}") for number in range(1, 13))


@pytest.mark.parametrize("blank", [Ranking("cards", SUNS), Some("cards", SUNS, 6), Some("cards", SUNS * 3, 12)])
@pytest.mark.parametrize("rest", ["", " moon"])
def test_a_line_that_says_one_word_again_and_again_is_refused_in_few_steps(blank, rest):
    asked = Decision(0, say("What now?"), (Act("rank", (blank,)), Act("pass")), default=Choice("pass"))
    things = getattr(blank, "many", len(SUNS))

    def refused():
        with pytest.raises(Refused):
            read(asked, "rank" + " sun" * things + rest)

    assert steps(refused) < 1_000_000


def test_full_names_that_share_their_first_word_are_read_however_many_they_are():
    asked = Decision(
        0,
        say("What now?"),
        (Act("rank", (Ranking("cards", SUNS),)),),
        default=Choice("rank", (tuple(thing.value for thing in SUNS),)),
    )
    choice = Choice("rank", (tuple(thing.value for thing in reversed(SUNS)),))
    assert read(asked, write(asked, choice)) == choice
    few = Decision(0, say("What now?"), (Act("give", (Some("cards", SUNS, 3),)), Act("pass")), default=Choice("pass"))
    assert read(few, "give sun 11, sun 2 and sun 7") == Choice("give", (("s2", "s7", "s11"),))
