"""The page about tables says what the code does."""

from pbem import paths
from pbem.service.play import changes


def test_the_page_says_how_often_a_mind_can_be_changed():
    text = " ".join((paths.handbook() / "tables.md").read_text().split())
    assert f"you can change your mind up to {changes.MOST} times" in text
