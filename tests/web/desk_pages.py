"""Signed-in browsers, for tests of the desk."""

from pbem.service.people import sessions
from pbem.service.server import Server
from pbem.store.sessions import Holder
from pbem.web.people.session_cookie import Cookie
from tests.service.actors import add_organiser
from tests.web.browser import Browser


def at_the_desk(browser: Browser, server: Server, name: str = "Olga") -> Browser:
    """A browser in which a new organiser of that name has just signed in."""
    return signed_in(browser, server, Holder(organiser_id=add_organiser(server, name).id))


def signed_in(browser: Browser, server: Server, holder: Holder) -> Browser:
    """A browser in which this person or organiser has just signed in."""
    secret = server.run(sessions.start, holder, "Firefox on Linux")
    who = Cookie.PERSON if holder.organiser_id is None else Cookie.ORGANISER
    browser.client.set_cookie(who, secret, domain="localhost")
    return browser
