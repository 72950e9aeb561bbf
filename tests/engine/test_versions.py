"""Versions of the rules: a change needs a new one, and a game goes on by the one that it began with."""

import json

import pytest

from engine import registry
from engine.decisions import Refused
from tests.engine import digests

DIGESTS = json.loads(digests.FILE.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_a_version_of_the_rules_never_changes(name):
    rules = registry.load(name)
    found = {str(version): digests.digest(rules.by_version(version)) for version in digests.versions(rules)}
    assert found == DIGESTS[name], (
        "The rules do something else than this version did. If that is meant, raise RULES, keep the earlier version "
        "playable, and run: python -m tests.engine.digests"
    )


@pytest.mark.parametrize("name", registry.names())
def test_each_version_is_one_object(name):
    rules = registry.load(name)
    assert rules.by_version(rules.RULES) is rules
    for version in digests.versions(rules):
        assert rules.by_version(version) is rules.by_version(version)
        assert rules.by_version(version).version == version


@pytest.mark.parametrize("name", registry.names())
def test_a_version_that_is_not_there_is_refused(name):
    rules = registry.load(name)
    for version in (rules.OLDEST - 1, rules.RULES + 1):
        with pytest.raises(Refused, match="isn't available here"):
            rules.by_version(version)
