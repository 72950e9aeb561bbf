"""The handbook lists every address of the site, and no others."""

import re

import pytest

from pbem import paths

PAGES = ("pages.md", "api.md", "organising.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_address_in_the_handbook_exists(page, app):
    listed = re.findall(r"`(/[^`?]*)`", (paths.handbook() / page).read_text(encoding="utf-8"))
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    # Addresses with words in capitals are examples.
    assert {each for each in listed if not re.search("[A-Z]{3}", each)} - {"/api/v1", "/desk"} <= rules


def test_every_address_of_the_site_is_in_the_handbook(app):
    listed = "".join((paths.handbook() / page).read_text(encoding="utf-8") for page in PAGES)
    missing = [rule.rule for rule in app.url_map.iter_rules() if f"`{rule.rule}`" not in listed]
    assert not missing
