"""The switch of all outgoing email at the desk, and what players see meanwhile."""

from pbem.service.desk.acts.clocks import PauseMail
from pbem.store import outages
from tests.service.actors import moderate
from tests.service.clock import HOUR, Time

LOOK = "Preview…"


def switched(page, words, reason):
    """What the page says once the switch was looked at and pressed."""
    looked = page.follow(words).form(LOOK).press(reason=reason, step="preview")
    return looked.form(words).press(step="do")


def test_email_is_stopped_and_let_go_at_the_desk(olga, server):
    done = switched(olga.open("/desk/mail"), "Pause outgoing email", "Too many of them.")
    assert done.heading == "Done"
    assert server.query(outages.email_pause) is not None
    shown = olga.open("/desk/mail")
    assert "Too many of them." in shown.text
    assert "outgoing email was paused" in olga.open("/desk").text
    switched(shown, "Resume outgoing email", "It is mended.")
    assert server.query(outages.email_pause) is None
    assert "Too many of them." in olga.open("/desk").text


def test_a_player_can_decide_on_a_page_while_email_is_stopped_even_after_the_deadline(
    browser, links, table, server, clock
):
    game, time = table("sun-bid", 3), Time(server, clock)
    time.sends()
    moderate(server, PauseMail())
    seat = next(iter(game.asked()))
    _, token = links.of(game, seat)
    time.passes_until(time.due(game, seat))
    time.passes(HOUR)
    assert browser.open(f"/s/{token}").status == 200
    game.play(seat, game.asked()[seat].default)
    assert browser.open(f"/s/{token}").status == 200
