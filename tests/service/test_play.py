"""The move: one choice, one transaction."""


def test_a_table_that_fills_up_begins(table):
    game = table("sunset-poker", 3, bots=("greedy",))
    assert game.row().status == "playing"
    assert game.verifies()
