"""What every mail says: the same in both its parts, enough to decide, short enough to be shown whole, from nowhere else.

The mails are real ones: a relay on this machine took them, and the standard library reads them.
"""

import re

import pytest
from lxml import html

from engine import game as games_of_house
from engine import grammar, orders
from pbem.mail.words import WIDTH
from pbem.service import delivery
from tests.mail.kinds import HOST, by_kind, kind_of, mails_of
from tests.mail.sink import Kept
from tests.service.test_delivery import HOUR, post_to

GAMES = games_of_house.names()

LINK = re.compile(rf"https://{re.escape(HOST)}[^\s\"<>]*")
COMMAND = re.compile(r"^\* (.+?)(?: \(.*\))?$", re.MULTILINE)


def parts(mail: Kept) -> tuple[str, html.HtmlElement]:
    """A mail's text, and its HTML as a tree without what is not shown."""
    tree = html.document_fromstring(mail.html)
    for hidden in [*tree.iter("style", "title"), *tree.xpath("//div[starts-with(@style, 'display:none')]")]:
        hidden.drop_tree()
    return mail.text, tree


def words(text: str) -> list[str]:
    """Nothing but the words, in their order."""
    return re.findall(r"\w+", LINK.sub(" ", text).casefold())


def unwrapped(text: str) -> str:
    """A text whose paragraphs and bullets are lines."""
    return re.sub(r"\n {2,5}(?=\S)(?!https)", " ", text)


@pytest.fixture(params=GAMES)
def mails(request: pytest.FixtureRequest) -> tuple[Kept, ...]:
    return mails_of(request.param)


def test_text_and_html_say_the_same_in_the_same_order(mails):
    for mail in mails:
        text, tree = parts(mail)
        shown = " ".join(tree.itertext())
        assert words(text) == words(shown), kind_of(mail.message)


def test_text_and_html_lead_to_the_same_places_and_to_nowhere_else(mails):
    for mail in mails:
        text, tree = parts(mail)
        hrefs = [a.get("href") for a in tree.iter("a")]
        assert hrefs == LINK.findall(text)
        assert hrefs == re.findall(r"https?://[^\s\"<>]+", mail.html)


def test_html_brings_nothing_along_and_asks_for_nothing(mails):
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "h3", "p", "br", "hr", "a"),
        *("b", "span", "small", "code", "ul", "li", "blockquote", "table", "caption", "tbody", "tr", "th", "td"),
    }
    for mail in mails:
        assert {element.tag for element in html.document_fromstring(mail.html).iter()} <= allowed
        assert not re.search(r"url\(|@import|src=|background=|\bon\w+=|data:|cid:", mail.html)
        assert [part.get_content_type() for part in mail.message.walk()] == [
            *("multipart/alternative", "text/plain", "text/html"),
        ]


def test_a_mail_is_short_enough_to_be_shown_whole(mails):
    for mail in mails:
        assert len(mail.content) < 60 * 1024
        assert len(mail.html.encode()) < 20 * 1024
        assert max((len(line) for line in mail.text.splitlines() if "https://" not in line), default=0) <= WIDTH
        assert not re.search(r"[ \t]$|\n\n\n|^From ", mail.text, re.MULTILINE)


def test_the_first_choice_stands_in_the_first_15_kilobytes(mails):
    for mail in by_kind(mails)["turn"]:
        assert 0 < mail.html.encode().index(b'href="https') < 15 * 1024


def test_a_list_of_mails_shows_a_whole_useful_line_of_each(mails):
    for mail in mails:
        (shown,) = html.document_fromstring(mail.html).xpath("//main/*[1][starts-with(@style, 'display:none')]")
        assert 40 <= len(shown.text) <= 90, shown.text


def test_tables_of_data_have_a_caption_and_their_heads_a_scope(mails):
    for mail in mails:
        _, tree = parts(mail)
        for table in tree.iter("table"):
            assert table.findtext("caption").strip()
        assert {th.get("scope") for th in tree.iter("th")} <= {"row", "col"}
        assert [tree.get("lang"), tree.get("dir")] == ["en", "ltr"]


def test_a_turn_begins_with_what_is_asked_and_until_when(mails):
    for mail in by_kind(mails)["turn"]:
        question, moment, *_ = [" ".join(each.split()) for each in re.split(r"(?<=[.?!])\n", mail.text)]
        assert ": " in question
        assert re.match(
            r"(Nobody .*|In the pool.*)?(Please decide until \w{3} \d+ \w{3} \d{4}, \d\d:\d\d|Your clock)", moment
        )


@pytest.mark.parametrize("kind", GAMES)
def test_the_choices_in_a_turn_are_those_that_the_rules_allow(house, clock, sink, table, kind):
    game = table(kind, max(games_of_house.load(kind).seats))
    post, read = post_to(sink), 0
    met = 0
    for _ in range(8):
        clock.advance(HOUR)
        delivery.deliver(house, post, limit=100)
        for mail in sink.kept[read:]:
            if kind_of(mail.message) == "turn":
                _offers_what_the_rules_allow(game, mail)
                met += 1
        read = len(sink.kept)
        for _ in range(7):
            asked = game.asked()
            if asked:
                seat, decision = min(asked.items())
                game.play(seat, decision.choices(5)[-1])
    assert met > 2


def _offers_what_the_rules_allow(game, mail: Kept) -> None:
    places = game.places()
    (seat,) = [seat for seat, place in places.items() if f"{place.name}:" == mail.text.split()[0]]
    decision, rules = game.open()[seat], games_of_house.load(game.row().kind)
    section = unwrapped(mail.text).split("\nWHAT YOU CAN DO\n")[1].split("\nIF YOU DO NOT ANSWER\n")[0]
    offered = [grammar.read(decision, command) for command in COMMAND.findall(section)]
    linked = {act for act in decision.acts if any(choice in act for choice in offered)}
    legal = [
        choice for act in linked for choice in act.choices() if rules.objects(game.view(seat), seat, choice) is None
    ]
    assert sorted(map(repr, offered)) == sorted(map(repr, legal))
    assert len(offered) <= 12
    others = {grammar.usage(act) for act in decision.acts if act not in linked}
    raising = {each for each in orders.offered(decision) if each.startswith("up to")}
    assert set(re.findall(r"^- (.+)$", section, re.MULTILINE)) == others | raising
    assert f"“{grammar.write(decision, decision.default)}”" in unwrapped(mail.text).replace("\n", " ")
