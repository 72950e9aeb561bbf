import hashlib
import hmac
import re
from base64 import b32decode, b32encode
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given, strategies as st
from itsdangerous import BadSignature

from pbem.domain.errors import BadInput, Fault, NotFound
from pbem.tokens import (
    ALPHABET,
    MOST_NONCE,
    MOST_ROW,
    RETIREMENT_DELAY,
    SECRET_BYTES,
    TOKEN_LENGTH,
    Key,
    Keyring,
    Purpose,
    retire,
    revoke,
    rotate,
)

TODAY = date(2026, 11, 21)
NEXT_DAY = TODAY + timedelta(days=100)
SECRET, NEXT_SECRET = bytes(range(40)), bytes(range(100, 140))
RING = Keyring.new(SECRET, TODAY)
ROTATED = rotate(RING, NEXT_SECRET, NEXT_DAY)

purposes = st.sampled_from(Purpose)
rows = st.integers(0, MOST_ROW)
nonces = st.integers(0, MOST_NONCE)


# Fixed values, so that no change of the code breaks the links in old emails.
GOLDEN = [
    ("ac5zvs6xs3tbbcns24gm2ck6ppq7pf66u", Purpose.MOVE, 1, 0),
    ("aswt43llvnkgl7mni53ez5dxcuqlp6lji", Purpose.MOVE, 1, 1),
    ("ae3hobwsq5tkiwdyd6lb2h57ffenwpi6l", Purpose.SEAT, 1_234_567, 0),
    ("arxfjy3jmchm3rqlup2y25krwz77walmw", Purpose.REPLY, 1_099_511_627_775, 9_223_372_036_854_775_807),
    ("bnqekvdgwyrpoxfip6wy2wzcs7pbajbm2", Purpose.BOUNCE, 31, 0),
    ("bfct6wkz5tdell4zlzny566utkexmqenp", Purpose.STOP, 32, 0),
    ("abz2caeqaf7shnxh3g5rz4gxdzzt4qwiy", Purpose.SIGN_IN, 33, 7),
    ("a6vjflp4dba4ptnoa2mazovkzr3fu6aua", Purpose.API, 1_000_000_000, 0),
    ("aomumy3lqglxygna2qv6nsmhsugq42t76", Purpose.CONFIRM, 1_000_000_000_000, 0),
    ("airyhztac6xf2pv7nekwkco5shrhu6liy", Purpose.INVITE, 34, 0),
    ("a3roj74pb7pvjgkccldhp2cx5qg67glrw", Purpose.WRITTEN, 35, 0),
    ("an77ee3elhzfext2po2gqrnjox2i6g3ic", Purpose.CALENDAR, 36, 0),
    ("azp3m575tvu2laq7pynql7jhgdyxj7zst", Purpose.NEWS, 37, 0),
    ("apuucg4tvjk3lza7zu7m2jvucfelept3m", Purpose.YES, 38, 0),
    ("a5z3jslkfvwfk6ytsqt5r3qpp7hxwxlya", Purpose.SHARE, 36, 0),
    ("a2hca3bc2hhjn2duxs3hvcfme66cfvij7", Purpose.DISOWN, 39, 0),
]


@pytest.mark.parametrize(("token", "purpose", "row", "nonce"), GOLDEN)
def test_old_links_keep_working(token: str, purpose: Purpose, row: int, nonce: int) -> None:
    signed_by = RING if token.startswith("a") else ROTATED
    assert signed_by.make(purpose, row, nonce) == token
    assert ROTATED.verify(token, purpose, row, nonce)


@pytest.mark.parametrize(
    ("placeholder", "purpose", "row"),
    [
        ("0maaaaaaaab5z5yckyluhayrdojywkyd1", Purpose.MOVE, 1),
        ("0ba77777777xrlete3656eulbzvaxsao1", Purpose.BOUNCE, MOST_ROW),
    ],
)
def test_an_email_stored_before_an_upgrade_still_gets_its_links(placeholder: str, purpose: Purpose, row: int) -> None:
    assert RING.placeholder(purpose, row) == placeholder
    assert RING.template(placeholder.encode()).fill({row: 0}) == RING.make(purpose, row, 0).encode()


def test_the_recipe_is_the_documented_one() -> None:
    subkey = hmac.new(SECRET, b"pbem/1/link/m", hashlib.sha256).digest()
    number = (1234567).to_bytes(5, "big")
    mac = hmac.new(subkey, number + (3).to_bytes(8, "big"), hashlib.sha256).digest()[:15]
    pad = hashlib.blake2b(mac[:9], key=hmac.new(SECRET, b"pbem/1/row", hashlib.sha256).digest(), digest_size=5).digest()
    encrypted = bytes(one ^ other for one, other in zip(number, pad, strict=True))
    expected = "a" + (b32encode(encrypted) + b32encode(mac)).decode().lower()
    assert RING.make(Purpose.MOVE, 1234567, 3) == expected


@given(purposes, rows, nonces)
def test_a_token_fits_a_path_and_a_local_part_and_names_its_row(purpose: Purpose, row: int, nonce: int) -> None:
    token = RING.make(purpose, row, nonce)
    assert len(token) == TOKEN_LENGTH
    assert set(token) <= set(ALPHABET)
    assert (token[0], RING.row_of(token)) == ("a", row)
    assert RING.verify(token, purpose, row, nonce)


def test_two_tokens_do_not_tell_how_many_links_were_made_in_between() -> None:
    """Whatever their rows: the numbers in them differ as those of any two rows, by their bits and by their size."""

    def number(row: int) -> int:
        return int.from_bytes(b32decode(RING.make(Purpose.MOVE, row, drawn[row])[1:9].upper()))

    drawn = [int.from_bytes(hashlib.sha256(b"%d" % row).digest()[:7]) for row in range(2001)]
    for apart in (1, 2, 1000):
        pairs = [(number(row), number(row + apart)) for row in range(1, 1001)]
        for differences in ([one ^ other for one, other in pairs], [(other - one) % 2**40 for one, other in pairs]):
            assert len(set(differences)) == len(pairs)
            assert all(400 < sum(each >> bit & 1 for each in differences) < 600 for bit in range(40))


def test_a_row_looks_different_in_every_token() -> None:
    tokens = [
        ring.make(purpose, 9, nonce)
        for ring in (RING, Keyring.new(NEXT_SECRET, TODAY))
        for purpose in Purpose
        for nonce in range(50)
    ]
    assert len({token[:9] for token in tokens}) == len(tokens)
    assert {RING.row_of(token) for token in tokens[: len(tokens) // 2]} == {9}


@given(purposes, rows, nonces)
def test_a_token_of_any_key_names_its_row(purpose: Purpose, row: int, nonce: int) -> None:
    for ring in (RING, ROTATED):
        assert ROTATED.row_of(ring.make(purpose, row, nonce)) == row


@given(st.text(max_size=6), rows)
def test_an_alias_names_its_row_among_those_of_its_kind_alone(kind: str, row: int) -> None:
    alias = RING.alias(kind, row)
    assert ROTATED.row_of_alias(kind, alias.upper()) == row
    for other in (f"{kind}s", "mail"):
        if other != kind:
            with pytest.raises(NotFound):
                RING.row_of_alias(other, alias)
    for forged in ("", "7", RING.make(Purpose.MOVE, row, 0), alias[:9] + alias[9:][::-1]):
        if forged != alias:
            with pytest.raises(NotFound):
                RING.row_of_alias(kind, forged)


@given(st.data())
def test_mail_systems_may_change_the_case(data: st.DataObject) -> None:
    token = RING.make(Purpose.REPLY, 77, 0)
    upper = data.draw(st.lists(st.booleans(), min_size=TOKEN_LENGTH, max_size=TOKEN_LENGTH))
    changed = "".join(c.upper() if up else c for c, up in zip(token, upper, strict=True))
    assert RING.verify(changed, Purpose.REPLY, 77, 0)
    assert RING.row_of(changed) == 77


@given(st.integers(0, TOKEN_LENGTH - 1), st.sampled_from(ALPHABET), rows)
def test_a_token_with_any_other_character_is_refused(at: int, character: str, row: int) -> None:
    token = RING.make(Purpose.MOVE, row, 0)
    changed = token[:at] + character + token[at + 1 :]
    assert RING.verify(changed, Purpose.MOVE, row, 0) == (changed == token)
    if changed[0] != token[0]:
        with pytest.raises(NotFound):
            RING.row_of(changed)
    else:
        assert RING.verify(changed, Purpose.MOVE, RING.row_of(changed), 0) == (changed == token)


@given(st.text(max_size=40) | st.from_regex(r"[a-z2-7]{0,32}|[a-z2-7]{34,40}", fullmatch=True))
def test_anything_but_a_token_is_not_found(text: str) -> None:
    if re.fullmatch(r"[A-Za-z2-7]{33}", text):
        return
    assert not RING.verify(text, Purpose.MOVE, 0, 0)
    with pytest.raises(NotFound):
        RING.row_of(text)


@pytest.mark.parametrize("foreign", ["\u212a", "\u017f", "0", "1", "8", "9", "=", "-", " ", "\n"])
def test_a_lookalike_character_is_refused(foreign: str) -> None:
    # The Kelvin sign and the long s become k and s when a program changes their case.
    for text in (foreign + 32 * "a", 32 * "a" + foreign, 33 * "a" + foreign):
        with pytest.raises(NotFound):
            RING.row_of(text)


@given(purposes, purposes, rows, rows, nonces, nonces)
def test_a_token_is_valid_for_its_purpose_row_and_nonce_only(
    purpose: Purpose, foreign: Purpose, row: int, other: int, nonce: int, raised: int
) -> None:
    token = RING.make(purpose, row, nonce)
    assert RING.verify(token, foreign, row, nonce) == (foreign == purpose)
    assert RING.verify(token, purpose, other, nonce) == (other == row)
    assert RING.verify(token, purpose, row, raised) == (raised == nonce)


@pytest.mark.parametrize(("row", "nonce"), [(-1, 0), (2**40, 0), (0, -1), (0, 2**63)])
def test_a_number_out_of_range_is_refused(row: int, nonce: int) -> None:
    with pytest.raises(ValueError, match="no link has"):
        RING.make(Purpose.MOVE, row, nonce)


def test_every_purpose_is_a_letter_of_its_own() -> None:
    assert "".join(Purpose) == "msrbulacwjknyhde"


@given(purposes, rows, nonces)
def test_the_token_of_another_server_is_refused(purpose: Purpose, row: int, nonce: int) -> None:
    foreign = Keyring.new(NEXT_SECRET, TODAY).make(purpose, row, nonce)
    assert not RING.verify(foreign, purpose, row, nonce)


def test_after_a_rotation_the_new_key_signs_and_the_old_one_is_still_accepted() -> None:
    old, new = RING.make(Purpose.SEAT, 5, 0), ROTATED.make(Purpose.SEAT, 5, 0)
    assert new[0] == "b"
    assert ROTATED.verify(old, Purpose.SEAT, 5, 0)
    assert ROTATED.verify(new, Purpose.SEAT, 5, 0)
    assert not RING.verify(new, Purpose.SEAT, 5, 0)


def test_a_revoked_key_is_refused_at_once() -> None:
    old = RING.make(Purpose.SEAT, 5, 0)
    left = revoke(ROTATED, "a")
    assert not left.verify(old, Purpose.SEAT, 5, 0)
    assert left.verify(ROTATED.make(Purpose.SEAT, 5, 0), Purpose.SEAT, 5, 0)


def test_a_key_retires_only_when_its_last_links_are_old() -> None:
    with pytest.raises(BadInput, match="2027-04-15"):
        retire(ROTATED, "a", NEXT_DAY + RETIREMENT_DELAY - timedelta(days=1))
    assert retire(ROTATED, "a", NEXT_DAY + RETIREMENT_DELAY) == revoke(ROTATED, "a")


@pytest.mark.parametrize("leave", [revoke, lambda ring, key: retire(ring, key, date.max)])
def test_the_signing_key_cannot_be_removed(leave: Callable[[Keyring, str], Keyring]) -> None:
    for ring in (RING, ROTATED):
        with pytest.raises(BadInput, match="Rotate first"):
            leave(ring, ring.keys[0].id)
    with pytest.raises(BadInput, match="no key with this id"):
        leave(ROTATED, "z")


def test_the_id_of_a_removed_key_is_reused_as_late_as_possible() -> None:
    ring, ids = RING, []
    for day in range(1, 64):
        ring = rotate(ring, day.to_bytes(SECRET_BYTES), TODAY)
        ring = revoke(ring, ring.keys[1].id)
        ids.append(ring.keys[0].id)
    assert "".join(ids) == (2 * ALPHABET)[1:]


def test_there_are_never_more_keys_than_ids() -> None:
    ring = RING
    for day in range(1, 32):
        ring = rotate(ring, day.to_bytes(SECRET_BYTES), TODAY)
    with pytest.raises(BadInput, match="Retire old ones"):
        rotate(ring, NEXT_SECRET, TODAY)


def test_keys_parse_back_from_their_text() -> None:
    assert Keyring.parse(ROTATED.text()) == ROTATED
    assert Keyring.parse(ROTATED.text().strip().replace("\n", ", ")) == ROTATED
    assert Keyring.parse("# newest first\n\n" + ROTATED.text() + " # the last\n") == ROTATED
    assert ROTATED.text().splitlines()[0].startswith("b:2027-03-01:")


def test_no_secret_is_shown_by_a_repr_or_an_error() -> None:
    secret = RING.text().split(":")[2].strip()
    shown = [repr(ROTATED), repr(ROTATED.keys), str(ROTATED)]
    for text in (
        f"a:2026-11-21:{secret}x",
        f"a:2026-13-21:{secret}",
        f"{secret}:2026-11-21:a",
        f"a:{secret}",
        secret,
        f"a:2026-11-21:{secret[:56]}",
        f"a:2026-11-21:{secret}, b:2026-11-21:{secret}",
        f"a:2026-11-21:{secret}, a:2026-11-21:{secret[8:]}{secret[:8]}",
    ):
        with pytest.raises(BadInput) as refusal:
            Keyring.parse(text)
        assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
        shown.append(str(refusal.value))
    for text in shown:
        assert secret[:12] not in text.lower()
        assert str(SECRET)[2:20] not in text


def test_without_a_key_the_error_says_what_to_do() -> None:
    with pytest.raises(BadInput, match="pbem init"):
        Keyring.parse("# nothing here yet\n")


def test_each_use_has_its_own_subkey() -> None:
    key = Key("a", TODAY, SECRET)
    labels = ["signer", "flask", *(f"link/{p}" for p in Purpose)]
    assert len({key.subkey(label) for label in labels} | {SECRET}) == len(labels) + 1


# Stored and sent emails.


@given(st.dictionaries(rows, st.tuples(purposes, nonces), max_size=5))
def test_a_stored_email_gets_its_links_when_it_is_sent(links: dict[int, tuple[Purpose, int]]) -> None:
    def email(places: list[str]) -> bytes:
        return "".join(f"https://play.example.org/m/{place}/2\r\n" for place in places).encode()

    stored = email([RING.placeholder(purpose, row) for row, (purpose, _) in links.items()])
    sent = email([RING.make(purpose, row, gen) for row, (purpose, gen) in links.items()])
    assert RING.template(stored).rows == set(links)
    assert RING.template(stored).fill({row: gen for row, (_, gen) in links.items()}) == sent
    assert len(stored) == len(sent)


def test_every_try_sends_the_same_bytes_even_after_a_rotation() -> None:
    stored = RING.placeholder(Purpose.BOUNCE, 9).encode()
    assert ROTATED.template(stored).fill({9: 2}) == RING.template(stored).fill({9: 2})


def test_an_email_written_after_a_rotation_needs_the_new_key_only() -> None:
    stored = ROTATED.placeholder(Purpose.BOUNCE, 9).encode()
    left = revoke(ROTATED, "a")
    assert left.template(stored).fill({9: 2}) == left.make(Purpose.BOUNCE, 9, 2).encode()
    # An email stored before waits for ever, and has to be rendered again.
    assert left.template(RING.placeholder(Purpose.BOUNCE, 9).encode()).rows == frozenset()


def test_a_placeholder_is_not_a_token() -> None:
    with pytest.raises(NotFound):
        RING.row_of(RING.placeholder(Purpose.MOVE, 9))


@given(st.integers(0, TOKEN_LENGTH - 1), st.sampled_from(ALPHABET + "01"))
def test_a_players_text_never_becomes_a_link(at: int, character: str) -> None:
    own = RING.placeholder(Purpose.MOVE, 9)
    forged = own[:at] + character + own[at + 1 :]
    if forged != own:
        assert RING.template(forged.encode()).rows == frozenset()
        assert RING.template(forged.encode()).fill({}) == forged.encode()


def test_an_email_never_gets_the_link_of_another_reader() -> None:
    stored = RING.placeholder(Purpose.MOVE, 9).encode()
    with pytest.raises(Fault, match="link 9"):
        RING.template(stored).fill({8: 0})


# Signed values, which need not fit in an address.


def test_a_signed_value_is_valid_for_its_salt_and_survives_a_rotation() -> None:
    signed = RING.signer("receipt").dumps({"seq": 3})
    assert ROTATED.signer("receipt").loads(signed) == {"seq": 3}
    with pytest.raises(BadSignature):
        RING.signer("export").loads(signed)
    with pytest.raises(BadSignature):
        revoke(ROTATED, "a").signer("receipt").loads(signed)
    with pytest.raises(BadSignature):
        RING.signer("receipt").loads(ROTATED.signer("receipt").dumps({"seq": 3}))
