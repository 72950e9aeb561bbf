"""People: addresses, whose they are, and how they want to be written to."""

from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, NotFound, TooMany
from pbem.service import people
from tests.service.stored import everything, kinds


def test_a_new_address_gets_a_mail_to_confirm_it(house):
    ann = people.create(house, "ann@example.org", "Ann")
    assert ann.confirmed_at is None
    assert kinds(house, ann.id) == ["confirm"]


def test_following_the_link_confirms_an_address_once(house, clock):
    ann = people.create(house, "ann@example.org", "Ann")
    first = people.confirm(house, ann.id)
    clock.advance(timedelta(days=3))
    assert first.confirmed_at is not None
    assert people.confirm(house, ann.id) == first


@pytest.mark.parametrize("again", ["ANN@example.org", "ann@EXAMPLE.org", "  ann@example.org ", "Ann@Example.Org"])
def test_one_address_is_one_person_however_it_is_written(house, again):
    ann = people.create(house, "ann@example.org", "Ann")
    assert people.create(house, again).id == ann.id


def test_an_address_of_another_alphabet_is_the_same_in_both_spellings(house):
    ann = people.create(house, "ann@bücher.example.org")
    assert people.create(house, "ann@xn--bcher-kva.example.org").id == ann.id


def test_an_address_is_written_to_as_it_was_given(house):
    assert people.create(house, "Ann.Lee+games@Example.org").address == "Ann.Lee+games@example.org"


def test_two_addresses_that_differ_in_a_tag_are_two_people(house):
    ann = people.create(house, "ann@example.org")
    assert people.create(house, "ann+games@example.org").id != ann.id


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "ann@@example.org",
        "ann@localhost",
        "ann@[127.0.0.1]",
        "ann@example..org",
        "ann example@example.org",
        "ann@example.org\r\nBcc: ben@example.org",
        "ann@example.org, ben@example.org",
        "Ann <ann@example.org>",
        '"ann"@example.org\x00',
        "a" * 65 + "@example.org",
        "a@" + "b" * 250 + ".org",
        "ännchen@example.org",
    ],
)
def test_what_is_no_address_is_refused_and_nothing_is_written(house, wrong):
    before = everything(house.store)
    with pytest.raises(BadInput):
        people.create(house, wrong)
    assert everything(house.store) == before


def test_an_address_gets_five_mails_to_confirm_it_in_a_day_and_no_sixth(house, clock):
    for _ in range(people.CONFIRM_MAILS_A_DAY):
        ann = people.create(house, "ann@example.org", "Ann")
    before = everything(house.store)
    with pytest.raises(TooMany):
        people.create(house, "ann@example.org", "Ann")
    assert everything(house.store) == before
    clock.advance(timedelta(days=1))
    people.create(house, "ann@example.org", "Ann")
    assert kinds(house, ann.id) == ["confirm"] * 6


def test_a_confirmed_address_gets_no_more_mails_to_confirm_it(house, person):
    ann = person("Ann")
    people.create(house, "ann@example.org", "Somebody else")
    assert kinds(house, ann) == ["confirm"]


def test_nobody_renames_a_person_by_typing_their_address(house, person):
    ann = person("Ann")
    assert people.create(house, "ann@example.org", "Silly").name == "Ann"
    assert people.read(house, ann).name == "Ann"


def test_a_person_can_be_called_otherwise(house, person):
    ann = person("Ann")
    assert people.rename(house, ann, "  Ann   of the \t Forest ") == "Ann of the Forest"
    assert people.read(house, ann).name == "Ann of the Forest"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "   ",
        "\u200b",
        "you",
        "You",
        "ann@example.org",
        "x" * 41,
        "see http://example.org",
        "WWW.example.org",
        "=?utf-8?q?a=0aBcc:_x?=",
    ],
)
def test_a_name_that_would_mislead_others_is_refused(house, person, wrong):
    ann = person("Ann")
    with pytest.raises(BadInput):
        people.rename(house, ann, wrong)
    assert people.read(house, ann).name == "Ann"


def test_a_name_may_have_forty_characters_of_any_alphabet(house, person):
    ann = person("Ann")
    assert people.rename(house, ann, "Ж" * 40) == "Ж" * 40


def test_what_turns_the_writing_round_or_breaks_the_line_is_taken_out_of_a_name(house, person):
    ann = person("Ann")
    assert people.rename(house, ann, "Ann\u202egnp\r\nBcc:\x00x\u2028y") == "Anngnp Bcc:x y"


def test_zone_quiet_hours_and_cadence_are_kept_as_they_are_meant(house, person):
    ann = person("Ann")
    people.set_zone(house, ann, " Europe/Berlin ")
    people.set_quiet_hours(house, ann, "22:00 to 7:00")
    people.set_cadence(house, ann, "50%, 1h")
    found = people.read(house, ann)
    assert (found.zone, found.quiet, found.cadence) == ("Europe/Berlin", "22:00-07:00", "50%,1h")
    people.set_quiet_hours(house, ann, "none")
    people.set_cadence(house, ann, "none")
    found = people.read(house, ann)
    assert (found.quiet, found.cadence) == (None, "none")


@pytest.mark.parametrize(
    "change, wrong",
    [
        (people.set_zone, "Berlin"),
        (people.set_quiet_hours, "always"),
        (people.set_quiet_hours, "06:00-05:00"),
        (people.set_cadence, "often"),
    ],
)
def test_a_wish_that_cannot_be_read_changes_nothing(house, person, change, wrong):
    ann = person("Ann")
    before = everything(house.store)
    with pytest.raises(BadInput):
        change(house, ann, wrong)
    assert everything(house.store) == before


def test_nobody_is_changed_who_is_not_there(house):
    for change in (
        lambda: people.confirm(house, 99),
        lambda: people.rename(house, 99, "Ann"),
        lambda: people.read(house, 99),
    ):
        with pytest.raises(NotFound):
            change()


def test_an_address_is_in_no_repr(house):
    assert "example" not in repr(people.create(house, "ann@example.org", "Ann"))
