"""What the email with a result says of its reader's rating: what the game changed, and why."""

from pbem.domain.rating_words import gain_text, rating_text, why
from pbem.domain.ratings import OVERALL
from pbem.i18n.speech import gettext as _
from pbem.service.play.rules import rules_of
from pbem.store import people, ratings, results
from pbem.store.database import Tx
from pbem.store.games import GameRow


def rating_lines(tx: Tx, game: GameRow, person_id: int) -> list[str]:
    """The lines about the rating of one of the game's players; none of a friendly game."""
    if not game.rated:
        return []
    if not game.result_seq:
        return [_later()]
    key = people.read(tx, person_id).key
    rows = results.of_games(tx, [game.id])[game.id]
    ranks = [(row.player, row.rank) for row in rows if row.rank is not None]
    counted = {player for player, _rank in ranks}
    changes = [ratings.change_of(row) for row in ratings.between(tx, game.result_seq, game.result_seq)]
    own = {each.kind: each for each in changes if each.player == key}
    if {each.player for each in changes} - counted or key not in {row.player for row in rows}:
        # The result was corrected, or two addresses of this player were merged, a moment ago.
        return [_later()]
    if not changes:
        return [_("This game doesn't affect ratings.")]
    if key not in counted:
        return [_("This game doesn't change your rating: you played less than half of it.")]
    of_kind, overall = own[game.kind], own[OVERALL]
    others = [each for each in changes if each.kind == game.kind]
    lines = [
        _(
            "%(game)s: %(gain)s, because %(why)s. Your rating is %(rating)s now.",
            game=rules_of(game).title,
            gain=gain_text(of_kind),
            why=why(of_kind, others, ranks, game.seats),
            rating=rating_text(of_kind.after),
        ),
        _(
            "All games: %(gain)s. Your rating is %(rating)s now.",
            gain=gain_text(overall),
            rating=rating_text(overall.after),
        ),
    ]
    if of_kind.after.provisional or overall.after.provisional:
        lines.append(_("A question mark means that it's provisional: a few more games will make it more certain."))
    return lines


def _later() -> str:
    return _("We're still working out the ratings. Yours will be on “My games”.")
