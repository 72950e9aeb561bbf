"""Decisions as forms: every choice can be filled in and comes back the same, and a refusal says why."""

from itertools import product

import pytest
from flask import render_template_string
from lxml import html
from werkzeug.datastructures import MultiDict

from engine import grammar
from engine.board import Face, Row
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Ranking, Some, Split, Thing
from engine.tell import Teller, say
from pbem.domain.errors import BadInput, Stale
from pbem.domain.quick_choices import quick_choices
from pbem.web.seat.board import Choosable, Pick, draw_parts
from pbem.web.seat.forms import choice_of, choosable, fields_of, forms_of

SUITS = tuple(Thing(suit.lower(), suit, f"{n}") for n, suit in enumerate(("Moons", "Suns", "Waves", "Leaves")))
TWINS = (Thing(3, "3"), Thing(3, "3"), Thing(5, "5"))

ACTS = {
    "nothing": Act("pass"),
    "a phrase": Act("take", phrase="take the Sun"),
    "a number": Act("bid", (Amount("coins", 0, 12),)),
    "a number with few last digits": Act(
        "bid", (Amount("coins", 1, 40, frozenset({3, 7}), why=say("No other digit.")),)
    ),
    "a long range with few last digits": Act("bid", (Amount("coins", 1, 900, frozenset({3})),)),
    "one of a few": Act("play", (OneOf("suit", SUITS),)),
    "one of many": Act("play", (OneOf("card", tuple(Thing(f"c{n}", f"Card {n}") for n in range(30))),)),
    "numbers as things": Act("bid", (OneOf("tile", (Thing(1, "1"), Thing(10, "10"))),)),
    "some": Act("keep", (Some("suits", SUITS, 2),)),
    "some with twins": Act("bid", (Some("tiles", TWINS, 2),)),
    "all in order": Act("rank", (Ranking("suits", SUITS[:3]),)),
    "a total dealt out": Act("deal", (Split("coins", SUITS[:3], 4),)),
    "a sentence": Act("give", (OneOf("Crown", SUITS), OneOf("Crown", SUITS)), phrase="give {} to 1 and keep {}"),
    "several": Act("do", (Amount("coins", 1, 3), Some("suits", SUITS, 1), Ranking("order", SUITS[:2]))),
}


def decision(*acts):
    return Decision(0, say("What do you do?"), acts, next(acts[0].choices()))


def filled(form, act, choice):
    """The form as a person fills it in for this choice, from its fields."""
    given = MultiDict({"act": str(form.act)})
    for field, blank, value in zip(form.fields, act.blanks, choice.values, strict=True):
        if isinstance(blank, Amount):
            offered = [each.value for each in field.alternatives]
            assert not offered or str(value) in offered
            given.add(field.name, str(value))
        elif isinstance(blank, OneOf):
            given.add(field.name, place_of(blank, value, ()))
        elif isinstance(blank, Split):
            for place, part in enumerate(value):
                given.add(f"{field.name}.{place}", str(part))
        else:
            used = []
            for place, each in enumerate(value):
                used.append(place_of(blank, each, used))
                given.add(field.name if isinstance(blank, Some) else f"{field.name}.{place}", used[-1])
    return given


def place_of(blank, value, used):
    return next(str(n) for n, thing in enumerate(blank.things) if thing.value == value and str(n) not in used)


def test_acts_with_the_same_things_share_their_field():
    closed, opened = Act("closed", (OneOf("card", SUITS),)), Act("open", (OneOf("card", SUITS),))
    asked = decision(closed, opened, Act("bid", (Amount("coins", 1, 40),)))
    names = {form.title: [field.name for field in form.fields] for form in forms_of(asked, Teller())}
    assert names == {"Closed": ["b0"], "Open": ["b0"], "Bid": ["b1"]}
    assert choice_of(asked, MultiDict({"act": "1", "b0": "2"})) == Choice("open", ("waves",))


def test_an_act_with_some_of_the_things_of_another_shares_its_field_and_refuses_the_others():
    closed, opened = Act("closed", (OneOf("card", SUITS),)), Act("open", (OneOf("card", SUITS[2:], say("No gold.")),))
    asked = decision(closed, opened)
    assert [[field.name for field in form.fields] for form in forms_of(asked, Teller())] == [["b0"], ["b0"]]
    for choice in opened.choices():
        assert choice_of(asked, fields_of(asked, choice)) == choice
    with pytest.raises(BadInput) as refused:
        choice_of(asked, MultiDict({"act": "1", "b0": "1"}))
    assert refused.value.why == "No gold."


def test_the_button_says_a_thing_that_leaves_no_choice():
    use = [
        Act("use", (OneOf("card", (suit,)), OneOf("target", SUITS[2:])), phrase="use {} for {}") for suit in SUITS[:2]
    ]
    asked = decision(Act("flip"), *use)
    forms = [form for form in forms_of(asked, Teller()) if form.fields]
    assert [form.title for form in forms] == ["Use Moons", "Use Suns"]
    assert [[field.name for field in form.fields] for form in forms] == [["b1"], ["b1"]]
    assert choice_of(asked, MultiDict({"act": "2", "b1": "1"})) == Choice("use", ("suns", "leaves"))


def test_a_sentence_with_several_fields_is_not_torn_apart_by_the_board():
    faces = {suit.word: Face("sign", suit.word.lower(), suit.word) for suit in SUITS}
    forms = {form.title: form for form in forms_of(decision(ACTS["a sentence"], ACTS["one of a few"]), Teller(), faces)}
    assert choosable([forms["Give"]]) == ()
    assert [field.before for field in forms["Give"].fields] == ["", "to player 1 and keep"]
    assert [each.name for each in choosable([forms["Play"]])] == [forms["Play"].fields[0].name]


def test_a_number_in_a_sentence_is_a_player_only_where_something_is_given_to_them():
    act = Act("raise", (OneOf("suit", SUITS), OneOf("suit", SUITS)), phrase="raise {} with {} up to 2")
    (form,) = forms_of(decision(act), Teller())
    assert form.after == "up to 2"


def test_only_cards_unlike_those_that_can_be_chosen_are_barred():
    hand = Row(say("your hand"), tuple(Face("sign", word, word) for word in ("5", "5", "7")), "hand")
    field = Choosable("b0", (("5", Pick("b0", "0", many=False, chosen=False)),))
    (row,) = draw_parts((hand,), Teller(), [field])
    assert [barred for _thing, _pick, barred in row.choices()] == [False, False, True]


@pytest.mark.parametrize(
    ("amount", "quick"),
    [
        (Amount("coins", 3, 7), {"3": "", "4": "", "5": "", "6": "", "7": ""}),
        (Amount("coins", 6, 40), {"6": "least", "7": "", "11": "", "20": "half", "40": "most"}),
        (Amount("coins", 6, 40, frozenset({3, 8})), {"8": "least", "13": "", "23": "", "38": "most"}),
        (Amount("coins", 30, 40), {"30": "least", "31": "", "35": "", "40": "most"}),
        (Amount("coins", 1, 10**9), {"1": "least", "2": "", "6": "", "500000000": "half", "1000000000": "most"}),
    ],
)
def test_a_number_has_quick_choices_that_are_possible(amount, quick):
    (form,) = forms_of(decision(Act("bid", (amount,))), Teller())
    assert {number: why for number, _words, _written, why in form.quick} == quick
    assert [written for _number, _words, written, _why in form.quick] == [f"bid {number}" for number in quick]
    assert bool(form.fields) == (amount.count() > len(quick))


def test_a_number_has_one_ceiling_and_all_that_one_can_pay_are_quick_where_these_are_few():
    coins = Amount("coins", 2, 33, frozenset({2, 3}))
    (form,) = forms_of(decision(Act("bid", (coins,))), Teller(), costly=lambda choice: choice.number() > 17)
    assert (form.fields[0].low, form.fields[0].most, form.fields[0].high) == (2, 13, 33)
    assert {number: why for number, _words, _written, why in form.quick} == {
        "2": "least",
        "3": "",
        "12": "",
        "13": "most",
    }
    (bluff,) = forms_of(decision(Act("bid", (coins,))), Teller(), costly=lambda choice: True)
    assert bluff.fields[0].most == 33


def test_quick_choices_of_a_bid_are_possible_whatever_one_has():
    for low, own, digit in product(range(0, 14, 3), range(24), range(10)):
        for endings in ({digit}, {*range(10)} - {digit}):
            act = Act("bid", (Amount("coins", low, 36, frozenset(endings)),))
            found = quick_choices(act, lambda choice, own=own: choice.number() > own)
            assert found, (low, own, endings)
            assert all(choice in act for choice in found), (low, own, endings)


def test_a_button_that_names_a_card_shows_it():
    faces = {suit.word: Face("sign", suit.word.lower(), suit.word) for suit in SUITS}
    only, use = Act("play", (OneOf("suit", SUITS[:1]),)), Act("use", (OneOf("suit", SUITS[:1]), OneOf("for", SUITS)))
    shown = {form.title: [each.word for each in form.named] for form in forms_of(decision(only, use), Teller(), faces)}
    assert shown == {"Play Moons": ["Moons"], "Use Moons": ["Moons"]}


@pytest.mark.parametrize("name", ACTS)
def test_every_choice_can_be_filled_in_and_comes_back_the_same(name):
    act = ACTS[name]
    asked = decision(Act("first"), act)
    form = next(form for form in forms_of(asked, Teller()) if form.act == 1)
    quick = {written for _number, _words, written, _why in form.quick}
    for choice in act.choices():
        assert grammar.write(asked, choice) in quick or choice_of(asked, filled(form, act, choice)) == choice


@pytest.mark.parametrize("name", ACTS)
def test_every_field_has_an_accessible_name(name, app):
    form = forms_of(decision(ACTS[name]), Teller())[0]
    with app.test_request_context(base_url="http://localhost:8000"):
        source = render_template_string(
            '{% import "fields.html" as fields %}<form>{% for each in form.fields %}{{ fields.field(each) }}{% endfor %}</form>',
            form=form,
        )
    tree = html.fromstring(source)
    fields = [each for each in tree.iter("input", "select") if each.get("type") != "hidden"]
    for each in fields:
        assert any(parent.tag == "label" and parent.text_content().strip() for parent in each.iterancestors())
        assert each.get("name").startswith("b")
    assert len(fields) >= len(form.fields)
    assert form.title


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("a number", {"b0": "13"}, "13 isn't possible: at most 12."),
        ("a number", {"b0": ""}, "Choose a number of coins first"),
        ("a number", {}, "Choose a number of coins first"),
        ("a number with few last digits", {"b0": "4"}, "You can't choose 4 here. No other digit."),
        ("one of a few", {}, "Choose something for “suit”."),
        ("one of a few", {"b0": "4"}, "Choose one of those shown for “suit”."),
        ("one of a few", {"b0": "Moons"}, "isn't one of the choices for “suit”"),
        ("some", {"b0": ["1"]}, "You've chosen 1. Choose 2."),
        ("some", {"b0": ["1", "1"]}, "You've chosen 1. Choose 2."),
        ("some", {"b0": ["0", "1", "2"]}, "You've chosen 3. Choose 2."),
        ("all in order", {"b0.0": "1", "b0.1": "1", "b0.2": "2"}, "each one a different position"),
        ("all in order", {"b0.0": "1"}, "Choose something for “suits”."),
        ("a total dealt out", {"b0.0": "1", "b0.1": "1", "b0.2": "1"}, "You've given out 3, but there are 4."),
        ("a total dealt out", {"b0.0": "-1", "b0.1": "5"}, "isn't a number of Moons"),
    ],
)
def test_an_impossible_choice_is_refused_with_the_reason(name, given, says):
    with pytest.raises(BadInput) as refused:
        choice_of(decision(ACTS[name]), MultiDict({"act": "0"} | given))
    assert says in str(refused.value)


def test_an_act_that_no_longer_exists_is_stale():
    with pytest.raises(Stale):
        choice_of(decision(ACTS["nothing"]), MultiDict({"act": "7"}))


def test_a_form_without_fields_means_the_act_alone():
    assert choice_of(decision(ACTS["nothing"]), MultiDict({"act": "0", "b0": "junk"})) == Choice("pass")
