"""The table of Sorcerous Futures as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Fold, Grid, Line, Panel, Part, Row
from engine.decks.decktet import EXCUSE, NAMES, SUITS, by_suit, faces, suits
from engine.facts import SPECTATOR, take
from engine.tell import Text, say

from .cards import AUCTIONS, GROUP, MARKERS, known
from .state import GOLD, Auction, State, markers_of, sold
from .words import crowns_sentence, worths_sentence
from .worth import crown_bonus, standing, total_in_front, total_worth, worth_of_card, worths_of


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=_title(view),
        turn=_turn(view),
        centre=_centre(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        players=_players(view, seat),
        folds=_folds(view, seat) if view.group and not view.over else (),
        lead=None if view.over else say("Nobody knows who's ahead: cards score only at the end."),
    )


def _title(view: State) -> Text:
    if view.over:
        return say("Sorcerous Futures, game over")
    if view.group == 0:
        return say("Sorcerous Futures, the Crowns")
    return say("Sorcerous Futures, auction {number} of {all}", number=sold(view) + 1, all=AUCTIONS)


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.group == 0:
        return say("{seat} [deals|deal] the Crowns.", seat=view.excuse)
    if view.auction is None:
        return say("It's {seat's} turn to sell a card.", seat=view.active)
    if view.auction.closed:
        bids = say("Everyone bids") if all(view.gold) else say("Everyone with gold bids")
        return say(
            "{bids} in secret for {card}. Ties go to {seat}, then to the left.",
            bids=bids,
            card=view.auction.card,
            seat=view.active,
        )
    return say(
        "It's {seat's} turn to bid for {card}. {leader:seat} [has|have] the high bid: {high}.",
        seat=view.auction.waiting[0],
        card=view.auction.card,
        high=view.auction.high,
        leader=view.auction.leader,
    )


def _centre(view: State) -> tuple[Part, ...]:
    parts: list[Part] = []
    row = view.row
    if view.over:
        parts += [Line(worths_sentence(view.down.valuations)), Line(crowns_sentence(view.down.crowns))]
    if view.auction is not None:
        row = take(row, view.auction.card)
        parts.append(Row(say("Up for auction"), faces((view.auction.card,)), "lot"))
        if not view.auction.closed:
            parts.append(Line(_still_to_bid(view, view.auction)))
    if row:
        now = view.auction is None
        parts.append(Row(say("For sale") if now else say("Still for sale"), faces(row), "lot" if now else "row"))
    if view.group and not view.over:
        parts.append(Amounts(((say("cards to come"), AUCTIONS - GROUP * view.group),)))
        parts += _under_the_excuse(view)
    return tuple(parts)


def _still_to_bid(view: State, auction: Auction) -> Text:
    if auction.leader != view.active:
        return say("Still to bid: {seats:seats}.", seats=auction.waiting)
    return say("Still to bid: {seats:seats}; then {seat}, if outbid.", seats=auction.waiting[:-1], seat=view.active)


def _under_the_excuse(view: State) -> tuple[Part, ...]:
    """Return the card under the Excuse, which no one owns with three players."""
    card = view.down.valuations[-1]
    if view.excuse is not None:
        return ()
    if not known(card):
        return (Line(say("The card under the Excuse is turned up after ten sales.")),)
    return (Row(say("Under the Excuse"), faces((card,))),)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    down, parts = view.down, list[Part]()
    for marker in markers_of(seat, view):
        if known(card := down.valuations[MARKERS.index(marker)]):
            parts.append(Row(say("Under {marker}", marker=marker), faces((card,))))
    if known(down.crowns[seat]):
        parts.append(Row(say("Crown"), faces((down.crowns[seat],))))
    if seat == view.excuse and known(down.crowns[seat]) and view.group == 0:
        parts.append(Line(crowns_sentence(down.crowns)))
    if down.seven and seat == view.excuse and not view.over:
        parts.append(Row(say("The seven face-down cards"), faces(down.seven)))
    if view.auction is not None and not view.over:
        parts.append(Line(_scores_for(view, seat, view.auction.card)))
    return tuple(parts)


def _scores_for(view: State, seat: int, card: str) -> Text:
    """Return what a card would score for a player, as far as the player knows."""
    crown, below = view.down.crowns[seat], dict(zip(MARKERS, view.down.valuations, strict=True))
    counted = suits(card) + (EXCUSE if known(crown) and suits(crown) in suits(card) else "")
    unknown = tuple(marker[-1] for marker in MARKERS if marker[-1] in counted and not known(below[marker]))
    points = total_worth((card,), worths_of(view.down.valuations), crown)
    if not unknown:
        return say("You'd score {points:point|points} for {card}.", points=points, card=card)
    if not points:
        return say("For {card}, you'd score {unknown}, whose values you can't see.", card=card, unknown=unknown)
    return say(
        "For {card}, you'd score {points:point|points}, plus {unknown}, whose values you can't see.",
        points=points,
        card=card,
        unknown=unknown,
    )


def _known_to(view: State, seat: int) -> tuple[Line, ...]:
    """Return what a player knows about values, with 0 for suits whose card they have not seen, and the Crowns' dealer of them."""
    worths, crown = worths_of(view.down.valuations), view.down.crowns[seat]
    missing = tuple(marker[-1] for marker, card in zip(MARKERS, view.down.valuations, strict=True) if not known(card))
    row = view.row if view.auction is None else (view.auction.card,)
    each = tuple(say("{card} {worth}", card=NAMES[card], worth=total_worth((card,), worths, crown)) for card in row)
    mine = total_worth(view.bought[seat], worths, crown)
    crowns = (Line(crowns_sentence(view.down.crowns)),) if seat == view.excuse and known(crown) else ()
    return (
        Line(say("Your cards score {mine}, plus the values you don't know ({missing}).", mine=mine, missing=missing)),
        Line(say("Not counting those, the cards for sale would score: {each}.", each=each)),
        *crowns,
    )


def _players(view: State, seat: int) -> tuple[Panel, ...]:
    numbers = _numbers(view)

    def panel(other: int) -> Panel:
        markers = _not_looked_under(other, view) if other == seat else markers_of(other, view)
        return Panel(other, numbers[other], *_state(view, other), (*_in_front(markers), *_bought(view, other)))

    return tuple(map(panel, range(len(view.gold))))


def _folds(view: State, seat: int) -> tuple[Fold, ...]:
    """Return what cards score for a player, whose cards have which suits, and which cards have not been seen."""
    own = () if seat == SPECTATOR else (Fold(say("Card values"), _known_to(view, seat)),)
    worths = worths_of(view.down.valuations, unknown=-1)
    columns = tuple(say("{suit} {worth}", suit=suit, worth="?" if worths[suit] < 0 else worths[suit]) for suit in SUITS)
    rows = tuple(
        (seat, (GOLD - view.gold[seat], *(sum(suit in suits(card) for card in cards) for suit in SUITS)))
        for seat, cards in enumerate(view.bought)
    )
    gains = Grid((say("spent"), *columns), rows)
    explained = Line(say("Gold spent, and cards bought in each suit, next to each suit's value, if you know it."))
    unseen = tuple(card for card in view.bag if known(card))
    return (*own, Fold(say("Purchases"), (gains, explained)), Fold(say("Unseen cards"), by_suit(unseen), bulky=True))


def _not_looked_under(seat: int, view: State) -> tuple[str, ...]:
    """Return the player's markers but for those that `_mine` names with the card under each."""
    return tuple(card for card in markers_of(seat, view) if not known(view.down.valuations[MARKERS.index(card)]))


def _in_front(markers: tuple[str, ...]) -> tuple[Part, ...]:
    return (Row(say("holds"), faces(markers)),) if markers else ()


def _bought(view: State, seat: int) -> tuple[Part, ...]:
    return (Row(say("cards"), faces(view.bought[seat])),) if view.bought[seat] else ()


def _state(view: State, seat: int) -> tuple[Text | None, int | None, bool]:
    """Return what a player does in the auction, the bid in front of them, and whether they are out of it."""
    auction = view.auction
    if view.over or auction is None:
        return None, None, False
    if auction.closed:
        return (None, None, False) if view.gold[seat] else (say("no gold"), None, True)
    if seat == auction.leader:
        return say("high bid"), auction.high, False
    if seat in auction.waiting:
        return None, None, False
    return say("out"), None, True


def _numbers(view: State) -> tuple[tuple[tuple[Text, int], ...], ...]:
    """Return the numbers of every player. Only at the end does everyone know what the cards score."""
    if not view.over:
        return tuple(
            ((say("gold"), gold), (say("bought"), len(view.bought[seat]))) for seat, gold in enumerate(view.gold)
        )
    scores, worths = standing(view).scores, worths_of(view.down.valuations)
    return tuple(
        (
            (say("points"), scores[seat]),
            (say("gold"), gold),
            (say("cards"), sum(worth_of_card(card, worths) for card in view.bought[seat])),
            (say("Crown"), sum(crown_bonus(card, worths, view.down.crowns[seat]) for card in view.bought[seat])),
            (say("face-down total"), total_in_front(markers_of(seat, view), worths)),
        )
        for seat, gold in enumerate(view.gold)
    )
