"""Applications for tests, many in one process: what one of them has compiled the next need not compile again.

A server makes one application and then works for weeks; here each test has one of its own. Its templates and addresses are
the same every time, and to compile them takes longer than most tests.
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

from pbem.config import Config
from pbem.service.server import Server
from pbem.web.app import create_app


def application(server: Server, config: Config) -> Flask:
    """The application of a house."""
    with patch.object(Flask, "url_rule_class", _Address):
        made = create_app(server, config)
    made.jinja_env.bytecode_cache = _TEMPLATES
    return made


class _Templates(BytecodeCache):
    """The templates that this process has compiled, each as it was written then."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._kept[bucket.key, bucket.checksum] = bucket.code


class _Address(Rule):
    """An address of the site. Werkzeug compiles a function for each that writes it: of the rule's text and nothing else."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = append_unknown, self.rule, self.subdomain, self.host, repr(self.defaults)
        if key not in _WRITERS:
            _WRITERS[key] = super()._compile_builder(append_unknown)
        return _WRITERS[key]


_TEMPLATES: Final = _Templates()
_WRITERS: Final[dict[tuple[bool, str, str | None, str | None, str], Callable[..., tuple[str, str]]]] = {}
