"""Browsers in which somebody is signed in, for tests of the desk."""

from pbem.service import sessions
from pbem.service.house import House
from pbem.store.sessions import Holder
from pbem.web.signed_in import Who
from tests.service.acting import an_organiser
from tests.web.browser import Browser


def at_the_desk(browser: Browser, house: House, name: str = "Olga") -> Browser:
    """A browser in which a new organiser of that name has just signed in."""
    return signed_in(browser, house, Holder(organiser_id=an_organiser(house, name).id))


def signed_in(browser: Browser, house: House, holder: Holder) -> Browser:
    """A browser in which this person or organiser has just signed in."""
    secret = house.write(lambda tx: sessions.open_in(tx, house, holder, "Firefox on Linux"))
    who = Who.PERSON if holder.organiser_id is None else Who.ORGANISER
    browser.client.set_cookie(who, secret, domain="localhost")
    return browser
