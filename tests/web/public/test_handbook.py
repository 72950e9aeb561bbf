"""The handbook on the site: every page is there, its links work, and nothing in it runs."""

from lxml import html

from pbem import paths
from pbem.web.public import handbook

NAMES = sorted(file.stem for file in paths.handbook().glob("*.md"))


def test_every_page_of_the_handbook_is_shown_under_its_title_and_its_links_lead_somewhere(browser, sign_in, person):
    sign_in(person("Ann"))
    linked = set()
    for name in NAMES:
        title = (paths.handbook() / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        page = browser.open(f"/help/{name}")
        assert page.status == 200
        assert page.heading == title.replace("`", "")
        linked |= {href.partition("#")[0] for href in page.links().values() if href.startswith("/")}
    assert dict.fromkeys(linked, 200) == {href: browser.open(href).status for href in linked}


def test_links_to_a_part_of_a_page_lead_to_its_heading():
    pages = {name: html.fromstring(handbook._page(name).html) for name in NAMES}
    parts = {name: set(page.xpath("//@id")) for name, page in pages.items()}
    linked = set()
    for name, page in pages.items():
        for href in page.xpath("//a/@href"):
            path, mark, part = href.partition("#")
            if mark and (path.startswith("/help/") or not path):
                linked.add((path.removeprefix("/help/") or name, part))
    assert len(linked) > 3
    assert {(name, part) for name, part in linked if part not in parts[name]} == set()


def test_help_is_one_click_from_every_page_and_lists_the_pages_for_players_and_organisers(browser):
    contents = browser.open("/").follow("Help")
    names = {href.rpartition("/")[2] for href in contents.links().values() if href.startswith("/help/")}
    assert names == {*handbook.FOR_PLAYERS, *handbook.FOR_ORGANISERS}
    assert names <= set(NAMES)


def test_every_page_in_the_contents_has_its_own_introduction(browser):
    about = {name: handbook._page(name).about for name in (*handbook.FOR_PLAYERS, *handbook.FOR_ORGANISERS)}
    assert [name for name, words in about.items() if len(words.split()) < 6] == []
    contents = browser.open("/help")
    assert "A table is one game, with its players, settings and clock." in contents.text
    assert "and then <code>pbem serve</code>." in contents.source


def test_html_in_the_handbook_is_text_and_links_with_scripts_do_not_work(tmp_path, monkeypatch):
    (tmp_path / "bad.md").write_text(
        "# Bad\n\nHere <script>x()</script> and [this](javascript:x) and [that](time.md#a)\n"
    )
    monkeypatch.setattr(paths, "handbook", lambda: tmp_path)
    page = handbook._page.__wrapped__("bad")
    assert "<script" not in page.html
    assert 'href="javascript' not in page.html
    assert '<a href="/help/time#a">' in page.html


def test_a_long_name_can_be_broken_between_its_parts_and_is_copied_unchanged(tmp_path, monkeypatch):
    (tmp_path / "names.md").write_text("# Names\n\n`PBEM_WEB_PORT`, `smtp.host`, `/a/<token>/back` and `a < b`\n")
    monkeypatch.setattr(paths, "handbook", lambda: tmp_path)
    shown = handbook._page.__wrapped__("names").html
    assert "<code>PBEM_<wbr>WEB_<wbr>PORT</code>, <code>smtp.<wbr>host</code>" in shown
    assert "<code>/a/<wbr>&lt;token&gt;/<wbr>back</code> and <code>a &lt; b</code>" in shown


def test_an_unknown_page_leads_to_the_contents(browser):
    page = browser.open("/help/nonsense")
    assert page.status == 404
    assert "/help" in page.text
