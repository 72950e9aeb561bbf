"""What the product is measured against still fits the tables: the bare applications answer, one request each."""

import json
from dataclasses import asdict
from pathlib import Path

from tests.bench.floors import insert_app, shape_app
from tests.bench.tables import begin, crowd, moves_of, server_on, with_links


def test_the_bare_applications_write_what_a_move_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'pbem.sqlite3'}"
    server = server_on(url, make=True)
    players = crowd(server)
    game_id, twin = begin(server, "sun-bid", players), begin(server, "sun-bid", players)
    moves = list(with_links(server, moves_of(server, game_id, 20)))
    recipes = tmp_path / "moves.json"
    recipes.write_text(json.dumps([asdict(move) for move in moves]))
    shape, insert = shape_app(url, recipes).test_client(), insert_app(url).test_client()
    for number in range(len(moves)):
        assert shape.post(f"/shape/{twin}/{number}").status_code == 303
    assert insert.post("/insert", data={"press": "yes"}).status_code == 303
