"""In a language that puts every message in brackets, all words of pages, emails and facts are in brackets.

`test_translatable` reads the templates; these tests read the results. Text typed by people, and commands, which are the same in
every language, have no brackets.
"""

import re
from gettext import NullTranslations

import pytest

from engine import grammar, orders, registry
from engine.bots import random_bot
from engine.chance import Stream
from engine.facts import SPECTATOR, seen
from engine.table import begin
from pbem.domain import invitation_replies
from pbem.domain.reply_commands import USAGES
from pbem.i18n import speech
from pbem.mail.wire import parse, text_of
from pbem.service.outgoing.preview import KINDS, preview
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining, talk
from pbem.service.tables.new import TableSettings
from pbem.tokens import Purpose
from tests.fakes import use_translations
from tests.service.outgoing.test_deliver import HEAD
from tests.web.pseudo_locale import CLOSE, OPEN, Pseudo, bare, bare_words

pytestmark = pytest.mark.slow

NAMES = {"Ann", "Ben", "Cleo", "Bot", "Zzz", "ann@example.org"}
"""Players, one of them by her address, and a table."""

TITLES = {registry.load(name).title for name in registry.names()} | {"Auction games by email"}
"""Games and the site have the same name in every language."""

TYPED = (
    "I never got the email about this turn. It was refused at first, and sent again. Ann calls. Insults at three tables. "
    "They wrote from the new one. They wrote from both. The server was down for some hours. bid twice "
    "The server is moving on Sunday. All clocks will be stopped. ntfy sh it answered 404"
)
"""Words by people that an email quotes, as previews invent them."""

_HEX = re.compile(r"\b[0-9a-f]{16,}\b")
_ADDRESSES = re.compile(r"https?://\S+|\S+@\S+")

one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def pseudo():
    """The language of this module."""
    with use_translations(Pseudo()):
        yield


def commands(game):
    """The words of all commands that players could type now."""
    texts = [*USAGES.values(), *orders.USAGES, *invitation_replies.Answer, invitation_replies.ACCEPT_AS]
    for decision in game.asked().values():
        texts += [*grammar.usages(decision), *orders.offered(decision)]
        texts += [grammar.write(decision, decision.sample(Stream(b"luck", number))) for number in range(20)]
        texts.append(grammar.write(decision, decision.default))
    return {word for text in texts for word in re.findall(r"\w+", text)}


@one_database
@pytest.mark.parametrize("kind", registry.names())
def test_every_word_of_a_tables_pages_is_translated(kind, browser, links, table):
    game, luck, known = table(kind), Stream(b"luck", 1), NAMES | TITLES
    game.server.run(talk.say, game.id, 0, game.person_at(0), "Zzz")
    for _ in range(6):
        seat, decision = next(iter(game.asked().items()))
        known |= commands(game)
        move, token = links.of(game, seat)
        choice, turn = grammar.write(decision, decision.default), game.row().turn
        for page in (
            f"/s/{token}/sure?turn={turn}&choice={choice}",
            f"/m/{move}/{choice.replace(' ', '-')}",
            f"/s/{token}/rules",
            f"/s/{token}/talk",
            f"/s/{token}/call",
        ):
            assert bare(browser.open(page).source, known) == []
        # The words of forms are translated too, so here a command counts only where it is used as one.
        page = browser.open(f"/s/{token}").source
        assert bare(page, known) == []
        game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck))
        assert bare(browser.open(f"/s/{token}?placed={turn}").source, known | commands(game)) == []


@one_database
@pytest.mark.parametrize("kind", registry.names())
def test_every_word_of_a_form_is_translated(kind, browser, links, table):
    game = table(kind)
    seat = next(iter(game.asked()))
    page = browser.open(f"/s/{links.of(game, seat)[1]}").source
    for words in re.findall(r"<legend>(.*?)</|<span[^>]*>([^<]*)</span>\s*<(?:input|select)", page):
        assert bare_words("".join(words), NAMES) == []


@one_database
@pytest.mark.parametrize("kind", registry.names())
def test_every_word_of_the_public_pages_is_translated(kind, browser, links, server, person):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings(kind, 3, title="Zzz"))
    door = links.made(Purpose.CONFIRM, person("Ben"), waiting.game_id)
    stop = links.made(Purpose.STOP, person("Ben"))
    known = NAMES | TITLES
    for page in ("/", f"/new/{kind}", f"/games/{kind}", f"/t/{waiting.key}", f"/c/{door}", f"/u/{stop}"):
        assert bare(browser.open(page).source, known) == []


@one_database
def test_every_word_of_an_error_is_translated(browser, links, table):
    known = NAMES | TITLES
    for page in ("/mine", "/sent", "/called", "/call", "/nonsense", f"/s/{'a' * 33}", "/t/nonsense", "/new/nonsense"):
        assert bare(browser.open(page).source, known | {"nonsense", "bid", "sun", "templari"}) == []
    game = table()
    form = browser.open(f"/s/{links.of(game, 0)[1]}/talk").forms()[0]
    assert bare(form.press(text=" ").source, known) == []


@one_database
def test_every_word_of_a_persons_pages_is_translated(browser, table, sign_in, carry):
    game = table()
    with use_translations(NullTranslations()):
        sign_in(game.person_at(0))
        carry()
    services = {"ntfy", "Discord", "Telegram", "Matrix"}
    for page in ("/my", "/my/mails", "/my/settings", "/my/channels", "/my/account", "/mine", "/verify"):
        shown = browser.open(page)
        assert (page, shown.status, bare(shown.source, NAMES | TITLES | services)) == (page, 200, [])


@one_database
def test_every_word_about_a_running_and_a_finished_game_is_translated(browser, links, table):
    game, known = table("bid", 3), NAMES | TITLES
    for _ in range(8):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    seat = next(iter(game.asked()))
    move, token = links.of(game, seat)
    known |= commands(game)
    key = game.row().key
    pages = [f"/s/{token}/replay", f"/s/{token}/replay/3", f"/t/{key}", f"/t/{key}/replay", f"/m/{move}/nonsense"]
    for form in browser.open(f"/s/{token}").forms():
        if form.action.endswith(("/resign", "/programs", "/why")):
            assert bare(form.press(wanted="bid 999").source, known) == []
    assert all(bare(browser.open(page).source, known) == [] for page in pages)
    for _ in game.play_defaults():
        pass
    assert all(bare(browser.open(page).source, known) == [] for page in [*pages, f"/s/{token}"])


@one_database
def test_every_word_of_the_demo_is_translated(browser):
    page = browser.post("/demo", [("kind", "bid")])
    assert page.status == 200
    assert bare(page.source, NAMES | TITLES) == []


@one_database
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bid", "sunset-poker"])
def test_every_word_of_an_email_is_translated(kind, server, table):
    game = table(kind)
    known = NAMES | TITLES | commands(game) | {"pbem", *re.findall(r"\w+", TYPED)}
    for email in KINDS:
        message = parse(preview(server, HEAD, email, game.id, 1))
        # The subject of a turn has only the question of its prompt.
        subject = message["subject"] + CLOSE * (message["subject"].count(OPEN) - message["subject"].count(CLOSE))
        for text in (subject, text_of(message)):
            words = _HEX.sub(" ", _ADDRESSES.sub(" ", text))
            assert (email, bare_words(words, known)) == (email, [])


@pytest.mark.parametrize("kind", registry.names())
def test_every_word_of_the_facts_of_a_whole_game_is_translated(kind):
    rules, luck = registry.load(kind), Stream(b"luck", 3)
    table = begin(rules, 3, b"seed" * 8)
    while asked := {seat: each for seat, each in table.asks().items() if seat not in table.position.box}:
        seat, decision = next(iter(asked.items()))
        table = table.submit(seat, random_bot(rules, table.view(seat), decision, luck))
    tellers = {reader: speech.teller(rules, reader, ("Ann", "Ben", "Cleo")) for reader in (0, 1, 2, SPECTATOR)}
    sentences = 0
    for entry in table.log:
        for fact in entry.facts:
            for reader, teller in tellers.items():
                sentence = teller.tell(seen(fact, reader))
                if sentence is not None:
                    sentences += 1
                    assert bare_words(sentence, NAMES) == []
    assert sentences > 50


def test_a_forgotten_word_is_noticed():
    assert Pseudo().gettext("%(who)s bids %(coins)s.") == "%(who)s⟦ bids ⟧%(coins)s⟦.⟧"
    assert bare("<p>⟦Bid ⟦3⟧ now⟧, Ann</p>", NAMES) == []
    assert bare("<p>⟦Bid⟧ 3 now, Ann</p>", NAMES) == ["now"]
    assert bare('<p aria-label="Help">⟦x⟧</p>', NAMES) == ["Help"]
    assert bare("<p><b>⟦Bid</b> <i>now⟧</i> <code>bid 3</code> later</p>", NAMES) == ["later"]
    with pytest.raises(AssertionError):
        bare("<p>⟦Bid now</p>", NAMES)
