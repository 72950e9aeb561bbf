"""All emails: the same in text and HTML, enough to decide, short enough to be shown whole, nothing loaded from elsewhere.

The emails are real: a relay on this machine accepted them, and the standard library parses them.
"""

import re

import pytest
from jinja2 import Environment
from lxml import html

from engine import registry
from pbem import paths
from pbem.domain.user_text import LONGEST_NAME
from pbem.mail.write import rendering
from pbem.mail.write.rendering import LONGEST_PREHEADER, LONGEST_SUBJECT, WIDTH, shorten
from tests.mail.kinds import HOST, NAMES, by_kind, emails_of, kind_of, options_of
from tests.mail.sink import ReceivedEmail

pytestmark = [pytest.mark.xdist_group("mails"), pytest.mark.slice(1 / 4)]


def longest(kind):
    """The most log entries that a game of this kind can have."""
    rules = registry.load(kind)
    return rules.longest(rules.seats[0], rules.settle(rules.seats[0], options_of(kind)))


GAMES = registry.names()
QUICKEST = min(GAMES, key=longest)
EXCLAIMED = next(kind for kind in GAMES if registry.load(kind).title.endswith("!"))

WIDEST = tuple(f"{name}{'&' * LONGEST_NAME}"[:LONGEST_NAME] for name in NAMES)
"""Names for which HTML needs the most bytes: five for each letter, and as many letters as a name may have."""

LINK = re.compile(rf"https://{re.escape(HOST)}[^\s\"<>]*")


def parts(email: ReceivedEmail) -> tuple[str, html.HtmlElement]:
    """The text of an email, and its HTML as a tree without hidden elements, with the words of drawings in their place."""
    tree = html.document_fromstring(email.html)
    for drawing in tree.xpath("//*[@role='img']"):
        for drawn in list(drawing):
            drawn.drop_tree()
        drawing.text = drawing.get("aria-label")
    for hidden in tree.xpath("//*[@aria-hidden='true']"):
        hidden.drop_tree()
    for hidden in [*tree.iter("style", "title"), *tree.xpath("//div[starts-with(@style, 'display:none')]")]:
        hidden.drop_tree()
    return email.text, tree


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return re.findall(r"\w+", LINK.sub(" ", text).casefold())


@pytest.fixture(params=[game if game == QUICKEST else pytest.param(game, marks=pytest.mark.slow) for game in GAMES])
def emails(request: pytest.FixtureRequest) -> tuple[ReceivedEmail, ...]:
    return emails_of(request.param)


def test_text_and_html_say_the_same_in_the_same_order(emails):
    for email in emails:
        text, tree = parts(email)
        shown = " ".join(tree.itertext())
        assert words(text) == words(shown), kind_of(email.message)


def test_text_and_html_have_the_same_links_and_no_foreign_ones(emails):
    for email in emails:
        text, tree = parts(email)
        hrefs = [a.get("href") for a in tree.iter("a")]
        assert hrefs == LINK.findall(text)
        assert hrefs == re.findall(r"https?://[^\s\"<>]+", email.html)


def test_html_has_no_scripts_and_loads_nothing(emails):
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "h3", "p", "br", "hr", "a"),
        *("b", "span", "small", "code", "ul", "li", "blockquote", "table", "caption", "tbody", "tr", "th", "td"),
    }
    for email in emails:
        assert {element.tag for element in html.document_fromstring(email.html).iter()} <= allowed
        assert not re.search(r"url\(|@import|src=|background=|\bon\w+=|data:|cid:", email.html)
        assert [part.get_content_type() for part in email.message.walk()] == [
            *("multipart/alternative", "text/plain", "text/html")
        ]


def test_an_email_is_short_enough_to_be_shown_whole(emails):
    for email in emails:
        assert len(email.content) < 60 * 1024
        assert len(email.html.encode()) < 30 * 1024, kind_of(email.message)
        assert max((len(line) for line in email.text.splitlines() if "https://" not in line), default=0) <= WIDTH
        assert not re.search(r"[ \t]$|\n\n\n|^From ", email.text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.slice(2 / 5)
@pytest.mark.parametrize("game", GAMES)
def test_long_names_in_any_script_leave_an_email_its_html(game):
    """Larger HTML than 35 KB is left out, so there must be room for other names."""
    for email in emails_of(game, WIDEST):
        assert len(email.content) < 60 * 1024
        assert 0 < len(email.html.encode()) < 35 * 1024, kind_of(email.message)


def test_no_email_has_the_same_link_twice(emails):
    for email in emails:
        links = LINK.findall(email.text)
        assert len(links) == len(set(links)), kind_of(email.message)


@pytest.mark.parametrize("game", sorted({EXCLAIMED, QUICKEST}))
def test_no_sentence_ends_twice(game):
    """Even if it ends with a table named after its game, which ends like a sentence: `Bid!`."""
    for email in emails_of(game):
        text = f"{email.message['Subject']}\n{LINK.sub('', email.text)}"
        assert not re.findall(r".*(?:[.,;:!?]\.(?!\w)|[.,;:][,;:]).*", text), kind_of(email.message)


def test_the_first_choice_is_in_the_first_15_kilobytes(emails):
    for email in by_kind(emails)["turn"]:
        assert 0 < email.html.encode().index(b'href="https') < 15 * 1024


def test_a_list_of_emails_shows_a_useful_line_of_each(emails):
    for email in emails:
        main = html.document_fromstring(email.html).find(".//main")
        if main[0].get("style", "").startswith("display:none"):
            assert 40 <= len(main[0].text) <= LONGEST_PREHEADER, main[0].text
        else:
            # Without a line of its own, a mail program shows how the email begins.
            assert len(" ".join(main.text_content().split("\n\n")[0].split())) >= 40, email.text[:200]


def test_tables_of_data_have_a_caption_and_their_heads_a_scope(emails):
    for email in emails:
        _, tree = parts(email)
        for table in tree.iter("table"):
            assert table.findtext("caption").strip()
        assert {th.get("scope") for th in tree.iter("th")} <= {"row", "col"}
        assert [tree.get("lang"), tree.get("dir")] == ["en", "ltr"]


def test_a_turn_begins_with_the_question_and_the_deadline(emails):
    for email in by_kind(emails)["turn"]:
        first = " ".join(email.text.split("\n--- ")[0].split())
        assert email.message["Subject"].partition(": ")[2].rstrip("…") in first
        by = r"Please move by \w{3} \d+ \w{3} \d{4}, \d\d:\d\d .*UTC, or we'll play “.+” for you"
        assert re.search(rf"({by}|Your clock is stopped .*)\.$", first)


@pytest.mark.slow
def test_these_tests_cover_every_kind():
    kinds = {folder.name for folder in (paths.templates() / "mail").iterdir() if folder.is_dir()}
    assert {kind_of(email.message) for game in GAMES for email in emails_of(game)} == kinds


def test_every_sentence_of_an_email_can_be_translated():
    folder = paths.templates() / "mail"
    for template in [*folder.glob("*/*"), *folder.glob("_[a-z]*.jinja")]:
        source = template.read_text()
        outside = re.sub(r"\{([{%#]).*?[}%#]\}", "", source, flags=re.DOTALL)
        unmarked = re.sub(r"(?:\b_|\bngettext)\(\s*\"[^\"]*\"(?:,\s*\"[^\"]*\")?", "", source)
        sentences = re.findall(r"\"[A-Z][^\"]* [^\"]*\"", "".join(re.findall(r"\{\{.*?\}\}", unmarked, re.DOTALL)))
        if template.stem not in ("_text", "_html"):
            assert outside.strip() == "", template
        assert sentences == [], template


def test_subjects_and_preheaders_are_shown_whole_in_lists_of_emails(emails):
    long = []
    for each in emails:
        subject = str(each.message["Subject"])
        hidden = html.fromstring(each.html).xpath("string(//div[contains(@style, 'display:none')])").strip()
        long += [subject] * (len(subject) > LONGEST_SUBJECT) + [hidden] * (len(hidden) > LONGEST_PREHEADER)
    assert long == []


def test_the_subject_of_a_turn_has_the_game_and_the_question(emails):
    kinds = by_kind(emails)
    subjects = [str(each.message["Subject"]) for each in (*kinds["turn"], *kinds["reminder"])]
    assert [subject for subject in subjects if not re.fullmatch(r".*\(.+\), turn \d+: .+[?…]", subject)] == []


def test_a_reminder_has_the_subject_of_its_turn(emails):
    kinds = by_kind(emails)
    turns = {str(each.message["Subject"]) for each in kinds["turn"]}
    assert {str(each.message["Subject"]).removeprefix("Re: ") for each in kinds["reminder"]} <= turns


def test_the_title_of_a_table_gives_way_to_its_game_and_question():
    words = {
        "table": "A table with a title of no use to anyone here (Sun Bid)",
        "turn": 12,
        "asked": "Tied. Do you bid?",
    }
    template = Environment().from_string("{{ table }}, turn {{ turn }}: {{ asked }}")
    subject = rendering._subject(template, {**words, "asked": rendering.question("Tied. Do you bid?")})
    assert subject == "A table with a title of no use… (Sun Bid), turn 12: Do you bid?"
    assert len(subject) <= LONGEST_SUBJECT


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("You are tied. How much do you pay? It is lost.", "How much do you pay?"),
        ("Which tile? Or the dice?", "Which tile?"),
        ("Choose a card. It stays.", "Choose a card."),
        ("どうしますか？もう一度。", "どうしますか？"),
        ("Bid", "Bid"),
    ],
)
def test_the_question_of_a_prompt_is_the_sentence_that_asks(prompt, asked):
    assert rendering.question(prompt) == asked


def test_a_text_is_cut_before_a_word():
    assert shorten("one two three", 10) == "one two…"
    assert shorten("x" * 30, 10) == "x" * 9 + "…"
    assert shorten("short", 10) == "short"
