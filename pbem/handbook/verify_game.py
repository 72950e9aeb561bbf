"""Check the file of a finished game with nothing but Python: python verify_game.py FILE [FINGERPRINT ...]

It needs no server, no other package and no rules of the game: whether facts follow from choices, `pbem verify` can check.
The fingerprints are those in your emails and those of your sealed choices: of these it says what became of each.
"""

import hashlib
import hmac
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CLOSING = {"Entry", "Undone", "Rewound", "Voided"}
OF_LOG = {"Began", "Sealed", "Withdrawn", "Order", "Resigned", "Offered", "Seated", "Merged", "Paused", "Resumed"}
OF_LOG |= CLOSING | {"Extended", "Delayed", "Corrected", "Redacted", "Frozen", "Unfrozen", "Revealed"}


def must(holds: bool, fault: str) -> None:
    if not holds:
        sys.exit(fault)


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def field(text: object) -> bytes:
    return len(str(text).encode()).to_bytes(4, "big") + str(text).encode()


def once(pairs: list[tuple[Any, Any]]) -> Any:
    must(len(dict(pairs)) == len(pairs), f"a name is twice in one object, of {', '.join(map(str, dict(pairs))):.99}")
    lists = {name: [*once([*enumerate(value)]).values()] for name, value in pairs if isinstance(value, list)}
    # True and 1.0 would equal 1.
    return dict(pairs) | lists | {name: object() for name, value in pairs if isinstance(value, bool | float)}


def check_chain(rows: list[Any], name: str, kinds: set[str], called: str) -> bytes:
    """Check the hashes of a log or of the talk; returns its head."""
    head = sha(b"\1", field("genesis"), field(name))
    for number, row in enumerate(rows, start=1):
        what, body, nonce = f"{called} {number}", row["body"], bytes.fromhex(row["nonce"] or "")
        must(row["seq"] == number, f"{what} is missing or out of place")
        must(row["kind"] in kinds, f"{what} is of a kind that cannot be there, {row['kind']}")
        if body is not None or row["nonce"] is not None or called == "row":
            fits = len(nonce) == 16 and sha(nonce, (body or "").encode()).hex() == row["body_hash"]
            must(fits, f"the text of {what}, its nonce or their hash was changed")
        at = datetime.fromisoformat(row["at"]).astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        fields = (name, number, row["kind"], "" if row["seat"] is None else row["seat"], row["by"], at, row["rules"])
        head = sha(b"\1", head, *map(field, fields), bytes.fromhex(row["body_hash"]))
        must(head.hex() == row["hash"], f"a field of {what} was changed, or the {called} before it: its hash differs")
    return head


def draws(seed: bytes, entry: int, bounds: list[int] | range) -> list[int]:
    blocks = (hmac.digest(seed, b"draw/1" + entry.to_bytes(8) + n.to_bytes(4), "sha256") for n in range(2**32))
    stream = (int.from_bytes(block[at : at + 8], "big") for block in blocks for at in range(0, 32, 8))
    must(all(1 <= below <= 2**64 for below in bounds), f"no number can be drawn below {min(bounds, default=0)}")
    return [next(each for each in stream if each < 2**64 - 2**64 % below) % below for below in bounds]


def check_seed(game: Any, chance: Any, began: Any) -> bytes:
    """Check what the first row says, the secret and the seating; returns the seed."""
    for name in ("kind", "seats", "options", "commitment", "words", "seating"):
        must((game | chance)[name] == began[name], f"the file gives other {name} than the first row of its log")
    secret, order = bytes.fromhex(chance["secret"]), list(range(len(chance["seating"])))
    must(sha(secret).hex() == chance["commitment"], "the secret is not the one that the server was bound to")
    seed = hmac.digest(secret, b"".join(map(field, chance["words"])), "sha256")
    drawn = draws(seed, 2**63, range(len(order), 1, -1)) if "tournament" not in began else order[:0:-1]
    for last, other in zip(order[:0:-1], drawn, strict=True):
        order[last], order[other] = order[other], order[last]
    must(order == chance["seating"] and len(order) == game["seats"], "the seats were not drawn from the seed")
    return seed


def check_turns(log: list[Any], bodies: list[Any], game: Any, seed: bytes) -> dict[str, tuple[int, str]]:
    """Check turns, draws and sealed choices; returns the turn in which each of these counts, or -1, and what became of it."""
    turn, newest, all_sealed, entries = 0, 0, b"", list[int]()
    box, fates = dict[int, tuple[Any, str]](), dict[str, tuple[int, str]]()
    for row, body in zip(log, bodies, strict=True):
        what, kind, seat = f"row {row['seq']}", row["kind"], row["seat"]
        named: Any = body.get("turn", body.get("number", body.get("window", 0)))
        must(row["rules"] == game["rules"], f"{what} names rules {row['rules']}, and the game rules {game['rules']}")
        must(named == turn or kind not in ("Entry", "Sealed", "Withdrawn"), f"{what} is for turn {named}, not {turn}")
        if kind == "Sealed":
            bound = "fingerprints" in bodies[0] or "game" in body
            must(not bound or body.get("game") == game["key"], f"the choice sealed in {what} names another game")
            must(not bound or body.get("seat") == seat, f"the choice sealed in {what} names another seat")
            fates |= {box[seat][1]: (-1, f"was replaced in {what}")} if seat in box else {}
            box[seat] = body["choice"], row["body_hash"] if bound else ""
            all_sealed = sha(all_sealed, bytes.fromhex(row["body_hash"])) if bound else all_sealed
        must(kind != "Withdrawn" or seat in box, f"{what} takes back a choice that was not sealed")
        fates |= {box.pop(seat)[1]: (-1, f"was taken back in {what}")} if kind == "Withdrawn" else {}
        if kind not in CLOSING:
            continue
        entry = body.get("entry", {"choices": [], "alone": [], "drawn": []})
        choices, drawn = dict(entry["choices"]), draws(seed, turn, [below for below, _ in entry["drawn"]])
        must(drawn == [number for _, number in entry["drawn"]], f"the numbers drawn in {what} are not of the seed")
        others, ended_early = choices.keys() - {*entry["alone"], seat}, choices.keys() <= {seat}
        for other in others if ended_early else others | box.keys():
            same = other != seat and other in box and choices.get(other) == box[other][0]
            must(same, f"the choice of seat {other} in {what} is not the one that was sealed")
        listed = sorted(box[other][1] for other in others if box[other][1])
        must(body.get("sealed", []) == listed, f"{what} does not list the fingerprints of the choices in it")
        must(body.get("all_sealed", "") == all_sealed.hex(), f"{what} leaves out a sealed choice, or has one too many")
        for other, (_, sealed) in box.items():
            dropped = f"was {'replaced' if other in choices else 'dropped'} when {what} ended its turn"
            fates[sealed] = (turn, f"counts: it is in {what}") if other in others else (-1, dropped)
        box, all_sealed, newest = {}, b"", max(newest, turn)
        if kind == "Entry":
            entries, turn = [*entries, turn], turn + 1
        elif kind != "Voided":
            back = [*entries, turn] if kind == "Rewound" else entries
            must(body["from"] in back, f"{what} goes back to turn {body['from']}, which has no entry")
            must(kind == "Undone" or named > newest, f"{what} opens turn {named}, whose luck may be known")
            entries, turn = [each for each in entries if each < body["from"]], named or body["from"]
            fates |= {each: (-1, f"counted until {what}") for each, (at, _) in fates.items() if at >= body["from"]}
    return fates


def check(document: Any, fingerprints: list[str]) -> list[str]:
    """Check a file; returns lines about the sealed choices with these fingerprints. Ends at a fault."""
    must(document["format"] == "pbem-game" and repr(document["version"]) in ("1", "2"), "its form is unknown")
    game, chance, log, talk = (document[name] for name in ("game", "chance", "log", "talk"))
    must(check_chain(log, game["key"], OF_LOG, "row").hex() == document["head"], "rows at the end are gone or added")
    check_chain(talk, f"{game['key']}/talk", {"Said"}, "line")
    kinds, bodies = [row["kind"] for row in log], [json.loads(row["body"], object_pairs_hook=once) for row in log]
    must(kinds.index("Began") == 0 and kinds.count("Began") == 1, "the log does not begin with its only row Began")
    fates = check_turns(log, bodies, game, check_seed(game, chance, bodies[0]))
    secrets = [body["secret"] for kind, body in zip(kinds, bodies, strict=True) if kind == "Revealed"]
    must(secrets == [chance["secret"]], "the log does not tell the secret that the file has")
    must(not CLOSING & {*kinds[kinds.index("Revealed") :]}, "the secret was told before the end")
    must(game["status"] == ("void" if "Voided" in kinds else "over"), "the game did not end as the file says")
    redacted = {body["line"] for kind, body in zip(kinds, bodies, strict=True) if kind == "Redacted"}
    lost = {line["seq"] for line in talk if line["body"] is None} - redacted
    must(not lost, f"the text of these lines of the talk is gone, and no row says why: {sorted(lost)}")
    asked = tuple("".join(printed.lower().split()) for printed in fingerprints)
    for digits in asked:
        has = any(row[name].startswith(digits) for row in log for name in ("hash", "body_hash"))
        must(has and len(digits) >= 20, f"no row has the fingerprint {digits}")
    return [f"{each} {says}." for each, (_, says) in fates.items() if each.startswith(asked)] + ["Nothing was changed."]


if __name__ == "__main__":
    try:
        print(*check(json.loads(Path(sys.argv[1]).read_text("utf-8"), object_pairs_hook=once), sys.argv[2:]), sep="\n")
    except Exception as error:  # noqa: BLE001 - a file can be made to break anything
        sys.exit(f"this cannot be read, or is no whole file of a game ({type(error).__name__}: {error!s:.300})")
