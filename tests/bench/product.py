"""The product as it is measured: the whole application with the settings that it comes with."""

from tempfile import mkdtemp

from flask import Flask

from pbem import config
from pbem.web.app import create_app
from tests.bench.tables import server_on


def move_app(url: str) -> Flask:
    """The site on this database."""
    settings = config.read({"PBEM_DATA_DIR": mkdtemp(prefix="pbem-bench-"), "PBEM_BASE_URL": "http://127.0.0.1:8000"})
    return create_app(server_on(url), settings)
