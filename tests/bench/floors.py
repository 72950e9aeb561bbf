"""What a move is measured against: two bare Flask applications on the same database, and the move itself.

    insert   one durable row through SQLAlchemy Core, and nothing else
    shape    the reads and writes of a move, with rows and a snapshot of the same sizes, but no token and no rules
    move     the product: token, lock, rules, log, snapshot, deadlines, emails

`python -m tests.bench.floors WHAT URL [MOVES]` serves one of them on loopback with waitress and prints its port.
"""

import hashlib
import json
import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask, redirect, request
from sqlalchemy import bindparam, insert, select, update
from waitress import create_server
from werkzeug.wrappers import Response

from pbem import program_log
from pbem.ops.serve import tune_garbage_collection
from pbem.store.database import Store
from pbem.store.schema import DEADLINE, GAME, LEDGER, LINK, LOG, OUTBOX, PLAYER
from tests.bench.product import move_app

THREADS = 8


_INSERT = insert(LEDGER)
_READ_LINK = select(LINK).where(LINK.c.id == bindparam("of_id"))
_READ_GAME = select(GAME).where(GAME.c.id == bindparam("of_id")).with_for_update(key_share=True)
_READ_PLAYERS = select(PLAYER).where(PLAYER.c.game_id == bindparam("of_id"))
_CLOSE = (
    update(DEADLINE)
    .where(DEADLINE.c.game_id == bindparam("of_id"), DEADLINE.c.turn == bindparam("of_turn"))
    .values(status="closed")
)
_ASK, _APPEND, _QUEUE = insert(DEADLINE), insert(LOG), insert(OUTBOX).inline()
_ADVANCE = (
    update(GAME)
    .where(GAME.c.id == bindparam("of_id"), GAME.c.seq == bindparam("old_seq"))
    .values({n: bindparam(f"new_{n}") for n in ("seq", "head", "entry_head", "turn", "state", "box", "orders")})
)


def insert_app(url: str) -> Flask:
    """One durable insert a request."""
    app, store = Flask(__name__), Store(url)
    with store.read() as tx:
        outbox_id = tx.execute(select(OUTBOX.c.id).limit(1)).scalar_one()

    @app.post("/insert")
    def post() -> Response:
        row = {"outbox_id": outbox_id, "at": datetime.now(UTC), "what": "floor", "detail": request.form["press"]}
        store.write(lambda tx: tx.execute(_INSERT, row))
        return _see_other()

    return app


def shape_app(url: str, file: Path) -> Flask:
    """The reads and writes of a move: those of the n-th of the moves in the file."""
    app, store = Flask(__name__), Store(url)
    moves = json.loads(file.read_text())
    letters = "x" * max(length for move in moves for length in move["bodies"])

    @app.post("/shape/<int:game_id>/<int:number>")
    def post(game_id: int, number: int) -> Response:
        move, now = moves[number], datetime.now(UTC)

        def work(tx):
            tx.execute(_READ_LINK, {"of_id": move["link"]}).one()
            game = tx.execute(_READ_GAME, {"of_id": game_id}).one()
            players = tx.execute(_READ_PLAYERS, {"of_id": game_id}).all()
            tx.execute(_CLOSE, {"of_id": game_id, "of_turn": game.turn})
            if move["asked"]:
                tx.execute(_ASK, [_deadline(game_id, game.seq + 1, seat, now) for seat in move["asked"]])
            seqs = range(game.seq + 1, game.seq + 1 + len(move["bodies"]))
            bodies = zip(seqs, move["bodies"], strict=True)
            tx.execute(_APPEND, [_row(game_id, seq, letters[:length].encode(), now) for seq, length in bodies])
            new = {"seq": seqs[-1], "head": b"h" * 32, "entry_head": b"h" * 32, "turn": game.seq + 1}
            new |= {"box": "[]", "orders": "[]", "state": move["state"]}
            written = {f"new_{name}": value for name, value in new.items()}
            tx.execute(_ADVANCE, {"of_id": game_id, "old_seq": game.seq} | written)
            if move["asked"]:
                person = players[0].person_id
                tx.execute(_QUEUE, [_letter(person, game_id, seqs[-1], seat, now) for seat in move["asked"]])

        store.write(work)
        return _see_other()

    return app


def _deadline(game_id: int, turn: int, seat: int, now: datetime) -> dict[str, object]:
    row = {"game_id": game_id, "turn": turn, "seat": seat, "status": "open", "asked_at": now}
    return row | {"due_at": None, "reminded": 0, "extensions": "[]", "attempts": 0, "undelivered": False}


def _row(game_id: int, seq: int, body: bytes, now: datetime) -> dict[str, object]:
    # The hash is part of what is stored; without any, the floor would write less than a move does.
    digest, nonce = hashlib.sha256(body).digest(), os.urandom(16)
    row = {"game_id": game_id, "seq": seq, "kind": "Entry", "seat": 0, "by": "person", "at": now, "rules": 1}
    return row | {"body": body, "nonce": nonce, "body_hash": digest, "hash": digest}


def _letter(person_id: int, game_id: int, seq: int, seat: int, now: datetime) -> dict[str, object]:
    row = {"person_id": person_id, "game_id": game_id, "seq": seq, "seat": seat, "turn": seq, "kind": "turn"}
    return row | {
        "facts": "{}",
        "channel_id": 0,
        "rank": 0,
        "domain": "example.org",
        "status": "queued",
        "queued_at": now,
        "due_at": now,
        "attempts": 0,
    }


def _see_other() -> Response:
    return redirect("/done", 303)


def main() -> None:
    """Serve one of them until killed."""
    what, url, *rest = sys.argv[1:]
    if what == "insert":
        app = insert_app(url)
    elif what == "shape":
        app = shape_app(url, Path(rest[0]))
    else:
        app = move_app(url)
    # As `pbem serve` does it: the product tells of every request, the server is silent about those that wait, and garbage
    # is looked for seldom.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with Path(os.devnull).open("w") as nobody:
        program_log.configure(nobody)
        tune_garbage_collection()
        server = create_server(app, host="127.0.0.1", port=0, threads=THREADS)
        print(server.effective_port, flush=True)
        server.run()


if __name__ == "__main__":
    main()
