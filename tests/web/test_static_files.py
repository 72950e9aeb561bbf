"""The site's own files are compressed, and kept by browsers until they change; pages are neither."""

import gzip
import re
from itertools import accumulate
from pathlib import Path

from pbem.web import static_files
from tests.web.browser import HOST


def get(browser, path, **headers):
    with browser.client.get(path, base_url=HOST, headers=headers) as answer:
        answer.get_data()
        return answer


def test_every_file_that_a_page_names_is_kept_for_good(browser):
    named = re.findall(r'(?:href|src)="(/static/[^"]+)"', browser.open("/").source)
    assert len(named) == 3
    for path in named:
        answer = get(browser, path.replace("&amp;", "&"))
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_an_address_of_another_version_is_not_kept_for_good(browser):
    for path in ("/static/pbem.css", "/static/pbem.css?v=00000000"):
        assert "immutable" not in get(browser, path).headers["Cache-Control"]


def test_text_is_compressed_for_who_can_read_that(browser):
    plain, small = (get(browser, "/static/pbem.css", **{"Accept-Encoding": each}) for each in ("identity", "br, gzip"))
    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data
    assert len(small.data) < len(plain.data) / 3
    assert plain.headers["Vary"] == small.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["ETag"] != small.headers["ETag"]


def test_the_style_is_sent_whole_but_for_its_comments(browser):
    with browser.client.get("/static/pbem.css", base_url=HOST) as answer:
        sent = answer.get_data(as_text=True)
    style = (Path(static_files.__file__).parent / "static" / "pbem.css").read_text()
    rules = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    assert "/*" in style
    assert sent.split() == rules.split()


def test_no_brace_of_the_style_is_left_over():
    """A browser skips the rule after one, without a word."""
    style = (Path(static_files.__file__).parent / "static" / "pbem.css").read_text()
    depths = list(accumulate({"{": 1, "}": -1}[brace] for brace in re.findall(r"[{}]", style)))
    assert min(depths) == depths[-1] == 0


def test_a_file_that_the_browser_has_is_not_sent_again(browser):
    mark = get(browser, "/static/icon.png").headers["ETag"]
    assert get(browser, "/static/icon.png", **{"If-None-Match": mark}).status_code == 304


def test_nothing_else_is_served(browser):
    for path in ("/static/", "/static/nothing.css", "/static/../app.py", "/static/%2e%2e/app.py"):
        assert get(browser, path).status_code == 404


def test_no_page_is_compressed(browser, links, table):
    token = links.of(table("bid", 3), 0)[1]
    for path in ("/", f"/s/{token}", "/help"):
        answer = get(browser, path, **{"Accept-Encoding": "gzip, br"})
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer.headers
