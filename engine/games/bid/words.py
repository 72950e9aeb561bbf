"""How dice, tiles and prizes are shown and named."""

from __future__ import annotations

from engine.board import Face
from engine.decisions import Thing
from engine.decks.piecepack import ACE, TILE_THINGS, VALUE_NAMES, tile
from engine.tell import Text, say

from .auction import ARMS, BONUS, CROWNS, MOONS, STRONG_HAND, SUNS, Dice, Tiles, doubling, prize


def faces(tiles: Tiles) -> tuple[Face, ...]:
    """Return the faces of tiles."""
    return tuple(map(tile, tiles))


def things(tiles: Tiles) -> tuple[Thing, ...]:
    """Return tiles as things to choose."""
    return tuple(TILE_THINGS[value] for value in tiles)


def spoken_dice(dice: Dice) -> Text:
    """Return the values of the dice, in words."""
    names = dict(zip(("suns", "moons", "crowns", "arms"), (VALUE_NAMES[value] for value in dice), strict=True))
    return say("Suns {suns}, Moons {moons}, Crowns {crowns}, Arms {arms}", **names)


def spoken_prize(points: int, coins: int) -> Text:
    """Return a prize in words, without zeros."""
    if not points and not coins:
        return say("no points or coins")
    if not coins:
        return say("{points:point|points}", points=points)
    if not points:
        return say("{coins:coin|coins}", coins=coins)
    return say("{points:point|points} and {coins:coin|coins}", points=points, coins=coins)


def spoken_tiles(tiles: Tiles) -> Text:
    """Return a bid in words, without another "and"."""
    if len(tiles) == 1:
        return say("{tile}", tile=tiles[0])
    return say("{first} + {second}", first=tiles[0], second=tiles[1])


def stakes(dice: Dice, bids_open: bool, final: bool) -> tuple[Text, ...]:
    """Return what the roll means for the rest of this auction; if the dice are `final`, the Ace of Arms has paid already."""
    points, coins = prize(dice)
    each = doubling(dice)
    aces = {MOONS: say("Ace of Moons: everyone else gets {each:coin|coins}, if the bank can pay them all.", each=each)}
    if not bids_open:
        aces[SUNS] = say("Ace of Suns: everything doubles, and a bid is two tiles.")
        aces[CROWNS] = say(
            "Ace of Crowns: players tied for the highest bid lose {points:point|points} each.", points=points
        )
        aces[ARMS] = (
            say("Ace of Arms: all tiles are shown. Its bonus has been paid.")
            if final
            else say(
                "Ace of Arms: all tiles are shown. Hands of {least} or more in all score {bonus} points, unless someone rerolls.",
                least=STRONG_HAND,
                bonus=BONUS * each,
            )
        )
    return (
        say("The winner gets {prize}.", prize=spoken_prize(points, coins)),
        *(aces[which] for which in sorted(aces) if dice[which] == ACE),
    )
