"""The language of a server: pages, emails and the facts of games use the organiser's catalogue."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from engine.tell import Teller, say
from pbem import config
from pbem.i18n import speech
from pbem.service.outgoing.post import mailbox_of

GERMAN = {
    "Check a game file": "Prüfe die Datei eines Spiels",
    "SINCE THE GAME BEGAN": "SEIT DEM BEGINN",
    "The game so far": "Seit dem Beginn",
    "{seat} [flips|flip] {card}.": "{seat} [deckt|deckst] {card} auf.",
}


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: words are the same on any database."""
    return sqlite_alone


@pytest.fixture
def german(tmp_path):
    """A process set to German, with a small catalogue."""
    yield from set_to(tmp_path, GERMAN)


def set_to(tmp_path, translations):
    """Set this process to German with these translations, and back."""
    catalogue = Catalog(locale="de")
    for english, translation in translations.items():
        catalogue.add(english, translation)
    file = tmp_path / "catalogues" / "de" / "LC_MESSAGES" / "pbem.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as written:
        write_mo(written, catalogue)
    speech.set_server_language(
        config.language_of(config.read({"PBEM_LANGUAGE": "de", "PBEM_CATALOGUES": str(tmp_path / "catalogues")}))
    )
    yield
    speech.set_server_language(config.language_of(config.read({})))


def in_another_thread(do):
    """The result of a call in a thread of its own, as in a server."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(do).result()


def test_pages_are_in_the_language_and_name_it(browser, german):
    page = in_another_thread(lambda: browser.open("/verify"))
    assert page.heading == "Prüfe die Datei eines Spiels"
    assert '<html lang="de">' in page.source


def test_emails_and_their_facts_are_in_the_language(table, carry, settings, german):
    game = table("sun-bid", 3)
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    in_another_thread(carry)
    box = mailbox_of(settings)
    emails = [box.read(letter.key) for letter in box.entries("")]
    assert {dict(email.headers)["Content-Language"] for email in emails} == {"de"}
    assert all('<html lang="de"' in email.html for email in emails)
    turn_emails = [email for email in emails if "SEIT DEM BEGINN" in email.text]
    assert any("- Ben deckt " in email.text and " auf.\n" in email.text for email in turn_emails)


def test_a_cached_page_is_not_shown_in_another_language(browser, links, table, german):
    address = f"/s/{links.of(table(), 0)[1]}"
    assert '<html lang="de">' in browser.open(address).source
    speech.set_server_language(speech.ENGLISH)
    assert '<html lang="en">' in browser.open(address).source


MISTAKES = {
    # A value that the sentence hasn't, a single percent sign, and a letter left out.
    "Your turn: %(table)s": "Du bist dran: %(tisch)s",
    "Rules and help": "100 % Hilfe",
    "%(site)s: something needs your attention": "%(site): etwas",
    "{seat} [flips|flip] {card}.": "{seat} [deckt|deckst] {karte} auf.",
    "{seat} [pays|pay] {price:coin|coins} for {card}.": "{seat} [zahlt|zahlst] {price:coin|coins} für {card's}.",
    "coin|coins": "Münze",
    "{most} and {last}": "{most} und {letzter}",
    "player {number}": "Spieler {0}",
    "{name}'s": "von {name.x}",
}


@pytest.fixture
def mistaken(tmp_path):
    """A process set to a language whose catalogue has mistakes."""
    yield from set_to(tmp_path, MISTAKES)


def test_a_mistake_in_a_catalogue_leaves_its_sentence_english(mistaken):
    assert speech.gettext("Your turn: %(table)s", table="Bid!") == "Your turn: Bid!"
    assert speech.gettext("Rules and help") == "Rules and help"
    few, many = "%(site)s: something needs your attention", "%(site)s: %(number)s things need your attention"
    assert speech.ngettext(few, many, 1, site="Here", number=1) == "Here: something needs your attention"
    tell = Teller(reader=3, names=("Ann", "Ben"), translate=speech.translate)
    assert tell(say("{seat} [flips|flip] {card}.", seat=0, card="Sea")) == "Ann flips Sea."
    price = say("{seat} [pays|pay] {price:coin|coins} for {card}.", seat=1, price=2, card="Sea")
    assert tell(price) == "Ben pays 2 coins for Sea."
    assert tell(say("{seats:seats} win.", seats=(0, 4))) == "Ann and player 5 win."
    assert tell(say("{seat's} turn.", seat=0)) == "Ann's turn."


def test_pages_and_emails_are_made_although_a_catalogue_has_mistakes(browser, links, table, carry, settings, mistaken):
    game = table("sun-bid", 3)
    seat, decision = next(iter(game.asked().items()))
    assert browser.open("/").status == 200
    assert "Your turn: " in browser.open(f"/s/{links.of(game, seat)[1]}").source
    game.play(seat, decision.default)
    carry()
    box = mailbox_of(settings)
    emails = [box.read(letter.key) for letter in box.entries("")]
    assert any(" flips " in email.text for email in emails)


def test_untranslated_messages_are_english_and_empty_ones_stay_empty(german):
    assert speech.gettext("Rules and help") == "Rules and help"
    assert speech.gettext("") == ""
