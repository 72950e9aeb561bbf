"""Applications for tests, many in one process, which share compiled templates and routes.

A server makes one application and works for weeks; here each test has its own. Templates and routes are the same every time,
and compiling them takes longer than most tests.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Final
from unittest.mock import patch

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from pbem.config.settings import Config
from pbem.service.server import Server
from pbem.web.app import create_app
from tests.service.archive.sample_review import sample_hint


def application(server: Server, config: Config) -> Flask:
    """The application of a server, whose hints are samples."""
    with patch.object(Flask, "url_rule_class", _Route):
        made = create_app(server, config, sample_hint)
    made.jinja_env.bytecode_cache = _TEMPLATES
    return made


class _Templates(BytecodeCache):
    """The templates that this process has compiled."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._code[bucket.key, bucket.checksum] = bucket.code


class _Route(Rule):
    """A route of the site. Werkzeug compiles a function that builds its address, from the text of the rule alone."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = append_unknown, self.rule, self.subdomain, self.host, repr(self.defaults)
        if key not in _BUILDERS:
            _BUILDERS[key] = super()._compile_builder(append_unknown)
        return _BUILDERS[key]


_TEMPLATES: Final = _Templates()
_BUILDERS: Final[dict[tuple[bool, str, str | None, str | None, str], Callable[..., tuple[str, str]]]] = {}
