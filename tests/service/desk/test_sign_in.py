"""Signing in to the desk with a passphrase, and a code where that is set up."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import BoundedSemaphore

import pytest
from pyotp import TOTP

from pbem.domain.errors import BadInput, Forbidden, NotFound, TooMany
from pbem.service.desk import audit, devices, one_time_codes, organisers, sign_in as desk_sign_in
from pbem.service.desk.sign_in import TRIES, TRIES_OF_NAME, TRIES_OF_NETWORK, TRIES_WITHIN
from pbem.service.people import sessions
from pbem.store.audit import AuditFilter
from pbem.tokens import SECRET_BYTES, rotate
from tests.service.actors import PASSPHRASE, ROOT, add_organiser
from tests.service.database import all_rows
from tests.service.races import meetings

MINUTE = timedelta(minutes=1)


@pytest.fixture
def olga(server):
    """An organiser."""
    return add_organiser(server, "Olga")


def test_an_organiser_added_on_the_command_line_can_sign_in(server):
    # Composed and decomposed letters look the same and come from different keyboards.
    organisers.add(server, ROOT, "Olga", "olga@example.org", " fünf Wörter im Sommer ")
    session = sign_in(server, "fu\u0308nf Wo\u0308rter im Sommer")
    assert session.holder.organiser_id == server.read(organisers.named, "Olga").id


@pytest.mark.timeout(method="thread")
def test_a_passphrase_of_endless_marks_is_compared_at_once(server, olga):
    with suppress(Forbidden, TooMany):
        sign_in(server, "a" + "\u0345" * 500_000 + "\u0334" * 500_000)


def sign_in(server, passphrase=PASSPHRASE, code="", name="Olga"):
    return server.read(sessions.find, desk_sign_in.sign_in(server, name, passphrase, code, "Firefox"))


def code_at(server, secret, away=timedelta(0)):
    return TOTP(secret).at(server.now() + away)


def with_codes(server):
    """Olga's session and the secret of the codes that she has set up."""
    session, secret = sign_in(server), one_time_codes.new_secret(server.randomness)
    server.run(desk_sign_in.ask_for_codes, session, secret, code_at(server, secret))
    return session, secret


def test_the_right_name_and_passphrase_open_a_session(server, olga):
    session = sign_in(server, name=" Olga ")
    assert session.holder.organiser_id == olga.id
    assert desk_sign_in.fresh(server, session)


def test_a_wrong_passphrase_and_an_unknown_name_get_the_same_answer(server, olga):
    answers = set()
    for name, passphrase in (("Olga", "no"), ("Olga", PASSPHRASE + "x" * 1000), ("Olga", ""), ("Nobody", PASSPHRASE)):
        with pytest.raises(Forbidden) as refused:
            sign_in(server, passphrase, name=name)
        answers.add(str(refused.value))
    assert len(answers) == 1


def guess(server, name="Olga", **where):
    with pytest.raises(Forbidden):
        desk_sign_in.sign_in(server, name, "no", "", "Firefox", **where)


def test_guessing_one_name_is_stopped_and_others_can_still_sign_in(server, olga, clock):
    add_organiser(server, "Otto")
    for _ in range(TRIES):
        guess(server)
    with pytest.raises(TooMany):
        sign_in(server)
    sign_in(server, name="Otto")
    clock.advance(TRIES_WITHIN / TRIES)
    sign_in(server)


def test_one_network_that_guesses_keeps_no_organiser_from_signing_in_at_a_new_browser(server, olga, clock):
    for _ in range(3 * TRIES):
        with suppress(TooMany):
            guess(server, "Olga", network="192.0.2.0/24")
    with pytest.raises(TooMany):
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="192.0.2.0/24")
    desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="198.51.100.0/24")


def test_guesses_from_many_networks_are_stopped_for_the_name(server, olga):
    for number in range(TRIES_OF_NAME):
        guess(server, "Olga", network=f"192.0.{number}.0/24")
    with pytest.raises(TooMany):
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="198.51.100.0/24")


def test_an_emailed_link_lets_an_organiser_in_at_a_new_browser_while_others_guess(server, olga, person):
    for number in range(TRIES_OF_NAME):
        guess(server, "Olga", network=f"192.0.{number}.0/24")
    for someone in (None, person("Ann")):
        with pytest.raises(TooMany):
            desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="new", person_id=someone)
    for _ in range(TRIES - 1):
        with pytest.raises(Forbidden):
            desk_sign_in.sign_in(server, "Olga", "no", "", "Firefox", network="new", person_id=olga.person_id)
    desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="new", person_id=olga.person_id)


def test_guessing_with_the_organisers_mailbox_is_stopped_too(server, olga):
    for _ in range(TRIES):
        with pytest.raises(Forbidden):
            desk_sign_in.sign_in(server, "Olga", "no", "", "Firefox", person_id=olga.person_id)
    with pytest.raises(TooMany):
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", person_id=olga.person_id)


def test_guessing_many_names_is_stopped_for_the_network_that_guesses(server, olga, clock):
    for number in range(TRIES_OF_NETWORK):
        guess(server, f"Nobody {number}", network="192.0.2.0/24")
    with pytest.raises(TooMany):
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="192.0.2.0/24")
    desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="198.51.100.0/24")
    clock.advance(TRIES_WITHIN / TRIES_OF_NETWORK)
    desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", network="192.0.2.0/24")


def test_whether_a_name_is_an_organisers_cannot_be_told_from_when_guessing_is_stopped(server, olga):
    for name in ("Olga", "Nobody"):
        for _ in range(TRIES):
            guess(server, name)
        with pytest.raises(TooMany):
            sign_in(server, "no", name=name)


def test_strangers_cannot_use_up_the_attempts_of_a_device_or_a_session(server, olga):
    session, device = sign_in(server), devices.issue(server, "Olga")
    for number in range(TRIES_OF_NETWORK):
        with suppress(TooMany):
            guess(server, f"Nobody {number // TRIES}" if number % 2 else "Olga")
    with pytest.raises(TooMany):
        sign_in(server)
    desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", device=device)
    desk_sign_in.check_again(server, session, PASSPHRASE)
    desk_sign_in.change(server, session, PASSPHRASE, "another four words here")


def test_guessing_on_a_device_or_in_a_session_is_stopped_too(server, olga):
    session, device = sign_in(server), devices.issue(server, "Olga")
    for _ in range(TRIES):
        guess(server, device=device)
        with pytest.raises(Forbidden):
            desk_sign_in.check_again(server, session, "no")
    with pytest.raises(TooMany):
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", device=device)
    for act in (desk_sign_in.check_again, lambda *given: desk_sign_in.change(*given, "another four words here")):
        with pytest.raises(TooMany):
            act(server, session, PASSPHRASE)
    # It is the device's own limit, and nobody else's.
    sign_in(server)


def test_a_device_is_known_for_a_year_by_one_name_and_through_a_change_of_keys(server, olga, clock):
    device = devices.issue(server, "Olga")
    for other in ("", "x" * 56, "1" * 56, device[:-1], device[:-1] + ("a" if device[-1] != "a" else "b"), "é" * 56):
        assert not devices.is_known(server, other, "Olga")
    assert not devices.is_known(server, device, "Otto")
    # Each spelling would have attempts of its own.
    for spelling in (device.upper(), device.capitalize(), device.replace("s", "\u017f"), f" {device}", f"{device}="):
        assert spelling == device or not devices.is_known(server, spelling, "Olga")
    later = replace(server, keys=rotate(server.keys, b"n" * SECRET_BYTES, server.now().date()))
    assert devices.is_known(later, device, "Olga")
    clock.advance(devices.LIFETIME - MINUTE)
    assert devices.is_known(server, device, "Olga")
    clock.advance(MINUTE)
    assert not devices.is_known(server, device, "Olga")


def test_strangers_occupy_few_threads_and_a_device_is_not_kept_waiting(server, olga, monkeypatch):
    device = devices.issue(server, "Olga")
    monkeypatch.setattr(desk_sign_in, "_strangers", BoundedSemaphore(1))
    with desk_sign_in._one_of_few():
        with pytest.raises(TooMany):
            sign_in(server)
        desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox", device=device)
    sign_in(server)


def test_a_correct_passphrase_resets_the_count_of_wrong_ones(server, olga):
    for _ in range(2):
        for _ in range(TRIES - 1):
            with pytest.raises(Forbidden):
                sign_in(server, "no")
        sign_in(server)


def test_a_removed_organiser_is_signed_out_and_cannot_sign_in_again(server, olga):
    secret = desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox")
    server.run(organisers.remove, ROOT, "Olga")
    assert server.read(sessions.find, secret) is None
    with pytest.raises(Forbidden):
        sign_in(server)


def test_a_passphrase_is_fresh_for_ten_minutes_and_again_when_repeated(server, olga, clock):
    secret = desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox")
    clock.advance(10 * MINUTE)
    assert desk_sign_in.fresh(server, server.read(sessions.find, secret))
    clock.advance(timedelta(seconds=1))
    session = server.read(sessions.find, secret)
    assert not desk_sign_in.fresh(server, session)
    with pytest.raises(Forbidden):
        desk_sign_in.check_again(server, session, "no")
    assert not desk_sign_in.fresh(server, server.read(sessions.find, secret))
    desk_sign_in.check_again(server, session, PASSPHRASE)
    assert desk_sign_in.fresh(server, server.read(sessions.find, secret))


def test_an_organiser_with_codes_needs_a_current_one(server, olga, clock):
    _, secret = with_codes(server)
    clock.advance(10 * MINUTE)
    for code in (
        "",
        "000000",
        code_at(server, secret, -MINUTE),
        code_at(server, secret, MINUTE),
        code_at(server, "A" * 32),
    ):
        with pytest.raises(Forbidden):
            sign_in(server, code=code)
    clock.advance(TRIES_WITHIN / TRIES)
    code = code_at(server, secret)
    sign_in(server, code=f" {code[:3]} {code[3:]} ")


@pytest.mark.parametrize("away", [-30, 30])
def test_a_code_from_a_clock_half_a_minute_off_is_accepted(server, olga, clock, away):
    _, secret = with_codes(server)
    clock.advance(10 * MINUTE)
    sign_in(server, code=code_at(server, secret, timedelta(seconds=away)))


def test_no_code_is_accepted_twice(server, olga, clock):
    _, secret = with_codes(server)
    with pytest.raises(Forbidden):
        sign_in(server, code=code_at(server, secret))
    clock.advance(MINUTE)
    sign_in(server, code=code_at(server, secret))
    with pytest.raises(Forbidden):
        sign_in(server, code=code_at(server, secret))


def test_a_wrong_code_does_not_turn_codes_on(server, olga):
    session, secret = sign_in(server), one_time_codes.new_secret(server.randomness)
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(desk_sign_in.ask_for_codes, session, secret, "123")
    assert all_rows(server.store) == before


def test_codes_can_be_turned_off_at_the_desk_and_on_the_command_line(server, olga, clock):
    session, _ = with_codes(server)
    server.run(desk_sign_in.ask_for_no_codes, session)
    sign_in(server)
    clock.advance(MINUTE)
    with_codes(server)
    server.run(organisers.drop_codes, ROOT, "Olga")
    sign_in(server)


def test_a_new_passphrase_signs_out_the_other_browsers(server, olga):
    here = desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox")
    there = desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Safari")
    session = server.read(sessions.find, here)
    with pytest.raises(Forbidden):
        desk_sign_in.change(server, session, "no", "another four words here")
    with pytest.raises(BadInput):
        desk_sign_in.change(server, session, PASSPHRASE, "short")
    desk_sign_in.change(server, session, PASSPHRASE, "another four words here")
    assert server.read(sessions.find, here) is not None
    assert server.read(sessions.find, there) is None
    with pytest.raises(Forbidden):
        sign_in(server)
    sign_in(server, "another four words here")


@pytest.mark.slow
def test_no_session_outlives_the_passphrase_that_opened_it(server, clock):
    for number, meeting in enumerate(meetings(server.store)):
        clock.advance(10 * MINUTE)
        name = f"Olga-{number}"
        add_organiser(server, name)
        here = sign_in(server, name=name)

        def enter(name=name):
            # It may have been changed before.
            with suppress(Forbidden):
                sign_in(server, name=name)

        def change(here=here):
            desk_sign_in.change(server, here, PASSPHRASE, "another four words here")

        assert meeting(enter, change)[1] is None
        assert [each.id for each in server.read(sessions.open_sessions, here.holder)] == [here.id]


def test_every_act_on_organisers_is_in_the_audit(server, olga):
    session, _ = with_codes(server)
    server.run(desk_sign_in.ask_for_no_codes, session)
    desk_sign_in.change(server, session, PASSPHRASE, "another four words here")
    server.run(organisers.remove, ROOT, "Olga")
    assert [(row.actor, row.act) for row in server.read(audit.newest, AuditFilter())] == [
        ("command line root", "organiser removed"),
        ("organiser Olga", "passphrase"),
        ("organiser Olga", "codes off"),
        ("organiser Olga", "codes on"),
    ]


def test_nothing_of_a_passphrase_or_a_name_that_was_tried_is_stored(server, olga):
    for name, passphrase in (("Olga", "my secret guess"), ("my passphrase by mistake", "x")):
        with pytest.raises(Forbidden):
            sign_in(server, passphrase, name=name)
    assert "guess" not in str(all_rows(server.store))
    assert "mistake" not in str(all_rows(server.store))


def test_an_unknown_organiser_cannot_be_removed(server):
    with pytest.raises(NotFound):
        server.run(organisers.remove, ROOT, "Olga")
