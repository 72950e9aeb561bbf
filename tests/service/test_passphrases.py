"""Signing in to the desk with a passphrase, and a code where that is set up."""

from contextlib import suppress
from datetime import timedelta

import pytest
from pyotp import TOTP

from pbem.domain.errors import BadInput, Forbidden, NotFound, TooMany
from pbem.service import audit, codes, organisers, passphrases, sessions
from pbem.service.passphrases import ALL, EACH_OF_ALL, EACH_OF_NAME, TRIES_OF_ALL, TRIES_OF_NAME
from pbem.store import quotas
from pbem.store.audit import Wanted
from tests.service.acting import GOOD, ROOT, an_organiser
from tests.service.races import meetings
from tests.service.stored import everything

MINUTE = timedelta(minutes=1)


@pytest.fixture
def olga(house):
    """An organiser."""
    return an_organiser(house, "Olga")


def test_whoever_was_made_an_organiser_at_the_machine_can_sign_in(house):
    # Composed and decomposed letters look the same and come from different keyboards.
    organisers.add(house, ROOT, "Olga", "olga@example.org", " fünf Wörter im Sommer ")
    session = sign_in(house, "fu\u0308nf Wo\u0308rter im Sommer")
    assert session.holder.organiser_id == organisers.listed(house)[0].id


def sign_in(house, passphrase=GOOD, code="", name="Olga"):
    return sessions.find(house, passphrases.sign_in(house, name, passphrase, code, "Firefox"))


def code_at(house, secret, away=timedelta(0)):
    return TOTP(secret).at(house.now() + away)


def with_codes(house):
    """Olga's session and the secret of the codes that she has set up."""
    session, secret = sign_in(house), codes.new_secret(house.randomness)
    passphrases.ask_for_codes(house, session, secret, code_at(house, secret))
    return session, secret


def test_the_right_name_and_passphrase_open_a_session(house, olga):
    session = sign_in(house, name=" Olga ")
    assert session.holder.organiser_id == olga.id
    assert passphrases.fresh(house, session)


def test_a_wrong_passphrase_and_an_unknown_name_get_the_same_answer(house, olga):
    answers = set()
    for name, passphrase in (("Olga", "no"), ("Olga", GOOD + "x" * 1000), ("Olga", ""), ("Nobody", GOOD)):
        with pytest.raises(Forbidden) as refused:
            sign_in(house, passphrase, name=name)
        answers.add(str(refused.value))
    assert len(answers) == 1


def test_guessing_one_name_is_stopped_and_others_can_still_sign_in(house, olga, clock):
    an_organiser(house, "Otto")
    for _ in range(TRIES_OF_NAME):
        with pytest.raises(Forbidden):
            sign_in(house, "no")
    with pytest.raises(TooMany):
        sign_in(house)
    sign_in(house, name="Otto")
    clock.advance(EACH_OF_NAME)
    sign_in(house)


def test_guessing_many_names_is_stopped(house, olga, clock):
    # As if so many others but one had been tried just now: each costs as much time as a real one.
    tried = clock.now() + (TRIES_OF_ALL - 1) * EACH_OF_ALL
    house.write(lambda tx: quotas.keep(tx, {ALL: tried}))
    with pytest.raises(Forbidden):
        sign_in(house, name="Nobody")
    with pytest.raises(TooMany):
        sign_in(house)
    clock.advance(EACH_OF_ALL)
    sign_in(house)


def test_a_passphrase_that_was_right_makes_good_for_wrong_ones(house, olga):
    for _ in range(2):
        for _ in range(TRIES_OF_NAME - 1):
            with pytest.raises(Forbidden):
                sign_in(house, "no")
        sign_in(house)


def test_whoever_was_removed_is_signed_out_and_cannot_sign_in_again(house, olga):
    secret = passphrases.sign_in(house, "Olga", GOOD, "", "Firefox")
    organisers.remove(house, ROOT, "Olga")
    assert sessions.find(house, secret) is None
    with pytest.raises(Forbidden):
        sign_in(house)


def test_the_passphrase_is_fresh_for_ten_minutes_and_again_once_it_was_given_again(house, olga, clock):
    secret = passphrases.sign_in(house, "Olga", GOOD, "", "Firefox")
    clock.advance(10 * MINUTE)
    assert passphrases.fresh(house, sessions.find(house, secret))
    clock.advance(timedelta(seconds=1))
    session = sessions.find(house, secret)
    assert not passphrases.fresh(house, session)
    with pytest.raises(Forbidden):
        passphrases.check_again(house, session, "no")
    assert not passphrases.fresh(house, sessions.find(house, secret))
    passphrases.check_again(house, session, GOOD)
    assert passphrases.fresh(house, sessions.find(house, secret))


def test_whoever_has_codes_needs_one_that_is_good_just_now(house, olga, clock):
    _, secret = with_codes(house)
    clock.advance(10 * MINUTE)
    for code in (
        "",
        "000000",
        code_at(house, secret, -MINUTE),
        code_at(house, secret, MINUTE),
        code_at(house, "A" * 32),
    ):
        with pytest.raises(Forbidden):
            sign_in(house, code=code)
    clock.advance(EACH_OF_NAME)
    code = code_at(house, secret)
    sign_in(house, code=f" {code[:3]} {code[3:]} ")


@pytest.mark.parametrize("away", [-30, 30])
def test_a_code_of_a_clock_that_is_half_a_minute_off_is_taken(house, olga, clock, away):
    _, secret = with_codes(house)
    clock.advance(10 * MINUTE)
    sign_in(house, code=code_at(house, secret, timedelta(seconds=away)))


def test_no_code_is_taken_twice(house, olga, clock):
    _, secret = with_codes(house)
    with pytest.raises(Forbidden):
        sign_in(house, code=code_at(house, secret))
    clock.advance(MINUTE)
    sign_in(house, code=code_at(house, secret))
    with pytest.raises(Forbidden):
        sign_in(house, code=code_at(house, secret))


def test_codes_are_not_asked_for_before_one_was_right(house, olga):
    session, secret = sign_in(house), codes.new_secret(house.randomness)
    before = everything(house.store)
    with pytest.raises(BadInput):
        passphrases.ask_for_codes(house, session, secret, "123")
    assert everything(house.store) == before


def test_codes_can_be_given_up_at_the_desk_and_at_the_machine(house, olga, clock):
    session, _ = with_codes(house)
    passphrases.ask_for_no_codes(house, session)
    sign_in(house)
    clock.advance(MINUTE)
    with_codes(house)
    organisers.without_codes(house, ROOT, "Olga")
    sign_in(house)


def test_a_new_passphrase_signs_the_other_browsers_out(house, olga):
    here = passphrases.sign_in(house, "Olga", GOOD, "", "Firefox")
    there = passphrases.sign_in(house, "Olga", GOOD, "", "Safari")
    session = sessions.find(house, here)
    with pytest.raises(Forbidden):
        passphrases.change(house, session, "no", "another four words here")
    with pytest.raises(BadInput):
        passphrases.change(house, session, GOOD, "short")
    passphrases.change(house, session, GOOD, "another four words here")
    assert sessions.find(house, here) is not None
    assert sessions.find(house, there) is None
    with pytest.raises(Forbidden):
        sign_in(house)
    sign_in(house, "another four words here")


@pytest.mark.slow
def test_no_session_outlives_the_passphrase_that_opened_it(house, clock):
    for number, meeting in enumerate(meetings(house.store)):
        clock.advance(10 * MINUTE)
        name = f"Olga-{number}"
        an_organiser(house, name)
        here = sign_in(house, name=name)

        def enter(name=name):
            # It may have been changed before.
            with suppress(Forbidden):
                sign_in(house, name=name)

        def change(here=here):
            passphrases.change(house, here, GOOD, "another four words here")

        assert meeting(enter, change)[1] is None
        assert [each.id for each in sessions.listed(house, here.holder)] == [here.id]


def test_whatever_is_done_about_organisers_is_in_the_audit(house, olga):
    session, _ = with_codes(house)
    passphrases.ask_for_no_codes(house, session)
    passphrases.change(house, session, GOOD, "another four words here")
    organisers.remove(house, ROOT, "Olga")
    assert [(row.actor, row.act) for row in audit.listed(house, Wanted())] == [
        ("command line root", "organiser removed"),
        ("organiser Olga", "passphrase"),
        ("organiser Olga", "codes off"),
        ("organiser Olga", "codes on"),
    ]


def test_nothing_of_a_passphrase_or_a_name_that_was_tried_is_stored(house, olga):
    for name, passphrase in (("Olga", "my secret guess"), ("my passphrase by mistake", "x")):
        with pytest.raises(Forbidden):
            sign_in(house, passphrase, name=name)
    assert "guess" not in str(everything(house.store))
    assert "mistake" not in str(everything(house.store))


def test_nobody_is_removed_who_is_not_there(house):
    with pytest.raises(NotFound):
        organisers.remove(house, ROOT, "Olga")
