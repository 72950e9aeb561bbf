"""People: their addresses and how they like to be emailed."""

from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, NotFound, TooMany
from pbem.service.people import addresses
from tests.service.database import all_rows, email_kinds
from tests.service.outgoing.test_deliver import drain, post_to


def test_a_new_address_gets_an_email_to_confirm_it(server):
    ann = server.run(addresses.register, "ann@example.org", "Ann")
    assert ann.confirmed_at is None
    assert email_kinds(server, ann.id) == ["confirm"]


def test_following_the_link_confirms_an_address_once(server, clock):
    ann = server.run(addresses.register, "ann@example.org", "Ann")
    first = server.run(addresses.confirm, ann.id)
    clock.advance(timedelta(days=3))
    assert first.confirmed_at is not None
    assert server.run(addresses.confirm, ann.id) == first


@pytest.mark.parametrize("again", ["ANN@example.org", "ann@EXAMPLE.org", "  ann@example.org ", "Ann@Example.Org"])
def test_one_address_is_one_person_however_it_is_written(server, again):
    ann = server.run(addresses.register, "ann@example.org", "Ann")
    assert server.run(addresses.register, again).id == ann.id


def test_an_address_of_another_alphabet_is_the_same_in_both_spellings(server):
    ann = server.run(addresses.register, "ann@bücher.example.org")
    assert server.run(addresses.register, "ann@xn--bcher-kva.example.org").id == ann.id


def test_emails_go_to_the_address_exactly_as_it_was_given(server):
    assert server.run(addresses.register, "Ann.Lee+games@Example.org").address == "Ann.Lee+games@example.org"


def test_two_addresses_that_differ_in_a_tag_are_two_people(server):
    ann = server.run(addresses.register, "ann@example.org")
    assert server.run(addresses.register, "ann+games@example.org").id != ann.id


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
def test_an_invalid_address_is_refused_and_nothing_is_written(server, wrong):
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(addresses.register, wrong)
    assert all_rows(server.store) == before


def test_an_address_gets_five_confirmation_emails_in_a_day(server, clock, sink):
    for _ in range(server.strangers.mailbox):
        ann = server.run(addresses.register, "ann@example.org", "Ann")
        # The same request again within minutes sends no other email.
        server.run(addresses.register, "ann@example.org", "Ann")
        drain(server, clock, post_to(sink))
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(addresses.register, "ann@example.org", "Ann")
    assert all_rows(server.store) == before
    clock.advance(timedelta(days=1))
    server.run(addresses.register, "ann@example.org", "Ann")
    assert email_kinds(server, ann.id) == ["confirm"] * 6


def test_a_confirmed_address_gets_no_confirmation_email(server, person):
    ann = person("Ann")
    server.run(addresses.register, "ann@example.org", "Someone else")
    assert email_kinds(server, ann) == ["confirm"]


def test_nobody_renames_a_person_by_typing_their_address(server, person):
    ann = person("Ann")
    assert server.run(addresses.register, "ann@example.org", "Silly").name == "Ann"
    assert server.read(addresses.read, ann).name == "Ann"


def test_a_person_can_be_renamed(server, person):
    ann = person("Ann")
    assert server.run(addresses.change_settings, ann, name="  Ann   of the \t Forest ").name == "Ann of the Forest"
    assert server.read(addresses.read, ann).name == "Ann of the Forest"


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
def test_a_name_that_would_mislead_others_is_refused(server, person, wrong):
    ann = person("Ann")
    with pytest.raises(BadInput):
        server.run(addresses.change_settings, ann, name=wrong)
    assert server.read(addresses.read, ann).name == "Ann"


def test_a_name_may_have_forty_characters_of_any_alphabet(server, person):
    ann = person("Ann")
    assert server.run(addresses.change_settings, ann, name="Ж" * 40).name == "Ж" * 40


def test_line_breaks_and_direction_marks_are_removed_from_a_name(server, person):
    ann = person("Ann")
    assert server.run(addresses.change_settings, ann, name="Ann\u202egnp\r\nBcc:\x00x\u2028y").name == "Anngnp Bcc:x y"


def test_zone_quiet_hours_and_cadence_are_stored(server, person):
    ann = person("Ann")
    server.run(addresses.change_settings, ann, zone=" Europe/Berlin ")
    server.run(addresses.change_settings, ann, quiet="22:00 to 7:00")
    server.run(addresses.change_settings, ann, cadence="50%, 1h")
    found = server.read(addresses.read, ann)
    assert (found.zone, found.quiet, found.cadence) == ("Europe/Berlin", "22:00-07:00", "50%,1h")
    server.run(addresses.change_settings, ann, quiet="none")
    server.run(addresses.change_settings, ann, cadence="none")
    found = server.read(addresses.read, ann)
    assert (found.quiet, found.cadence) == (None, "none")


@pytest.mark.parametrize(
    "setting, wrong", [("zone", "Berlin"), ("quiet", "always"), ("quiet", "06:00-05:00"), ("cadence", "often")]
)
def test_an_invalid_setting_changes_nothing(server, person, setting, wrong):
    ann = person("Ann")
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(addresses.change_settings, ann, **{setting: wrong})
    assert all_rows(server.store) == before


def test_an_unknown_person_cannot_be_changed(server):
    for change in (
        lambda: server.run(addresses.confirm, 99),
        lambda: server.run(addresses.change_settings, 99, name="Ann"),
        lambda: server.read(addresses.read, 99),
    ):
        with pytest.raises(NotFound):
            change()


def test_an_address_is_in_no_repr(server):
    assert "example" not in repr(server.run(addresses.register, "ann@example.org", "Ann"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ann", "It has no @."),
        ("ann@ben@example.org", "It has more than one @."),
        ("@example.org", "Something is missing before or after the @."),
        ("ann@", "Something is missing before or after the @."),
        ("ann lee@example.org", "It has a space in it."),
        ("ann@example", "The part after the @ has no dot."),
        ("a..b@example.org", "It has a character or a dot in the wrong place."),
    ],
)
def test_a_wrong_address_is_explained_in_our_words(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        addresses.normalised(text)
    assert (refused.value.why, refused.value.remedy) == (why, "Use the format ann@example.org.")
