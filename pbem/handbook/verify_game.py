"""Check the file of a finished game with nothing but Python: no server, no other package, no rules of the game.

    python verify_game.py FILE [FINGERPRINT ...]

The fingerprints are those in your emails. Whether facts follow from choices by the rules, only `pbem verify` can check.
"""

import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

Json = dict[str, Any]
CLOSING = {"Entry", "Undone", "Rewound", "Voided"}
OF_LOG = {"Began", "Sealed", "Withdrawn", "Order", "Resigned", "Offered", "Seated", "Merged", "Paused", "Resumed"}
OF_LOG |= CLOSING | {"Extended", "Delayed", "Corrected", "Redacted", "Frozen", "Unfrozen", "Revealed"}


class Fault(ValueError):
    """What is wrong with a file."""


def must(holds: bool, fault: str) -> None:
    if not holds:
        raise Fault(fault)


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def field(text: object) -> bytes:
    return len(str(text).encode()).to_bytes(4, "big") + str(text).encode()


def check_chain(rows: list[Json], name: str, kinds: set[str], called: str) -> bytes:
    """Check the hashes of a log or of the talk; returns its head."""
    head = sha(b"\1", field("genesis"), field(name))
    for number, row in enumerate(rows, start=1):
        what, body = f"{called} {number}", row["body"]
        must(row["seq"] == number, f"{what} is missing, or stands in another place")
        must(row["kind"] in kinds, f"{what} is of a kind that cannot be there, {row['kind']}")
        if body is not None or row["nonce"] is not None or called == "row":
            nonce = bytes.fromhex(row["nonce"] or "")
            fits = len(nonce) == 16 and sha(nonce, (body or "").encode()).hex() == row["body_hash"]
            must(fits, f"the text of {what}, its nonce or their hash was changed")
        at = datetime.fromisoformat(row["at"]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        fields = (name, number, row["kind"], "" if row["seat"] is None else row["seat"], row["by"], at, row["rules"])
        head = sha(b"\1", head, *map(field, fields), bytes.fromhex(row["body_hash"]))
        must(head.hex() == row["hash"], f"a field of {what} was changed, or the {called} before it: its hash differs")
    return head


def numbers(seed: bytes, entry: int) -> Iterator[int]:
    """The numbers of 64 bits from which an entry draws."""
    for block in count():
        drawn = hmac.digest(seed, b"draw/1" + entry.to_bytes(8, "big") + block.to_bytes(4, "big"), "sha256")
        yield from (int.from_bytes(drawn[at : at + 8], "big") for at in range(0, 32, 8))


def draw(stream: Iterator[int], below: int) -> int:
    must(1 <= below <= 2**64, f"no number can be drawn below {below}")
    return next(each for each in stream if each < 2**64 - 2**64 % below) % below


def check_seed(game: Json, chance: Json, began: Json) -> bytes:
    """Check what the first row says, the secret and the seating; returns the seed."""
    for name in ("kind", "seats", "options", "commitment", "words", "seating"):
        must((game | chance)[name] == began[name], f"the file gives other {name} than the first row of its log")
    secret = bytes.fromhex(chance["secret"])
    must(sha(secret).hex() == chance["commitment"], "the secret is not the one that the server was bound to")
    seed = hmac.digest(secret, b"".join(map(field, chance["words"])), "sha256")
    order, stream = list(range(game["seats"])), numbers(seed, 2**63)
    for last in range(game["seats"] - 1, 0, -1):
        other = draw(stream, last + 1)
        order[last], order[other] = order[other], order[last]
    must(order == chance["seating"], "the seats were not drawn from the seed")
    return seed


def check_turns(log: list[Json], bodies: list[Json], game: Json, seed: bytes) -> None:
    """Check the order of turns, the draws, and that sealed choices were neither exchanged nor left out."""
    turn, newest, all_sealed = 0, 0, b""
    entries, box = list[int](), dict[int, tuple[Json, str]]()
    for row, body in zip(log, bodies, strict=True):
        what, kind, seat = f"row {row['seq']}", row["kind"], row["seat"]
        named: Any = body.get("turn", body.get("number", body.get("window", 0)))
        must(row["rules"] == game["rules"], f"{what} names rules {row['rules']}, and the game rules {game['rules']}")
        if kind in ("Entry", "Sealed", "Withdrawn"):
            must(named == turn, f"{what} is for turn {named}, but turn {turn} was open")
        if kind == "Sealed":
            bound = "fingerprints" in bodies[0] or "game" in body
            must(not bound or body.get("game") == game["key"], f"the choice sealed in {what} names another game")
            must(not bound or body.get("seat") == seat, f"the choice sealed in {what} names another seat")
            box[seat] = body["choice"], row["body_hash"] if bound else ""
            all_sealed = sha(all_sealed, bytes.fromhex(row["body_hash"])) if bound else all_sealed
        must(kind != "Withdrawn" or bool(box.pop(seat, None)), f"{what} takes back a choice that was not sealed")
        if kind not in CLOSING:
            continue
        entry = body.get("entry", {"choices": [], "alone": [], "drawn": []})
        choices, stream = dict(entry["choices"]), numbers(seed, turn)
        drawn = [(below, draw(stream, below)) for below, _ in entry["drawn"]]
        must(drawn == [*map(tuple, entry["drawn"])], f"the numbers drawn in {what} are not those that the seed gives")
        others, ended_early = choices.keys() - {*entry["alone"], seat}, choices.keys() <= {seat}
        for other in others if ended_early else others | box.keys() - {seat}:
            same = other in box and choices.get(other) == box[other][0]
            must(same, f"the choice of seat {other} in {what} is not the one that was sealed")
        listed = sorted(box[other][1] for other in others if box[other][1])
        must(body.get("sealed", []) == listed, f"{what} does not list the fingerprints of the choices in it")
        must(body.get("all_sealed", "") == all_sealed.hex(), f"{what} leaves out a sealed choice, or has one too many")
        box, all_sealed, newest = {}, b"", max(newest, turn)
        if kind == "Entry":
            entries, turn = [*entries, turn], turn + 1
        elif kind != "Voided":
            must(body["from"] in entries, f"{what} goes back to turn {body['from']}, which has no entry")
            must(kind == "Undone" or named > newest, f"{what} opens turn {named}, whose luck may be known")
            entries, turn = [each for each in entries if each < body["from"]], named or body["from"]


def check(document: Json, fingerprints: list[str]) -> None:
    """Check a file. Raises Fault."""
    must(document["format"] == "pbem-game" and document["version"] in (1, 2), "its form is unknown")
    game, chance, log, talk = (document[name] for name in ("game", "chance", "log", "talk"))
    must(check_chain(log, game["key"], OF_LOG, "row").hex() == document["head"], "rows at the end are gone or added")
    check_chain(talk, f"{game['key']}/talk", {"Said"}, "line")
    kinds, bodies = [row["kind"] for row in log], [json.loads(row["body"]) for row in log]
    must(kinds.index("Began") == 0 and kinds.count("Began") == 1, "the log does not begin with its only row Began")
    check_turns(log, bodies, game, check_seed(game, chance, bodies[0]))
    secrets = [body["secret"] for body in bodies if "secret" in body]
    must(secrets == [chance["secret"]] and "Revealed" in kinds, "the log does not tell the secret that the file has")
    must(game["status"] == ("void" if "Voided" in kinds else "over"), "the game did not end as the file says")
    redacted = {body["line"] for kind, body in zip(kinds, bodies, strict=True) if kind == "Redacted"}
    lost = {line["seq"] for line in talk if line["body"] is None} - redacted
    must(not lost, f"the text of these lines of the talk is gone, and no row says why: {sorted(lost)}")
    for printed in fingerprints:
        has = any(row[name].startswith(printed.lower()) for row in log for name in ("hash", "body_hash"))
        must(has and len(printed) >= 20, f"no row has the fingerprint {printed}")


if __name__ == "__main__":
    try:
        check(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2:])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        sys.exit(str(error) if isinstance(error, Fault) else f"this is no whole file of a game ({error!r})")
    print("Nothing was changed.")
