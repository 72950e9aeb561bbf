"""The web server in front: the doctor asks for its name, and what it says of the client reaches the application."""

from contextlib import closing
from http.client import HTTPConnection

import pytest

from pbem import config
from pbem.domain.finding import Severity
from pbem.ops import doctor, serve
from tests.in_thread import served
from tests.ports import free_port


@pytest.mark.parametrize(
    "url, proxies, warned",
    [
        ("https://games.example.org", "", True),
        ("https://games.example.org", "127.0.0.1", False),
        ("http://localhost:8000", "", False),
    ],
)
def test_the_doctor_warns_of_a_site_behind_an_unnamed_web_server(tmp_path, url, proxies, warned):
    relay = {"PBEM_SMTP_HOST": "127.0.0.1", "PBEM_SMTP_PORT": str(free_port())}
    settings = config.read({"PBEM_DATA_DIR": str(tmp_path), "PBEM_BASE_URL": url, "PBEM_WEB_PROXIES": proxies} | relay)
    found = [each for each in doctor.examine(settings) if each.what == "proxies"]
    assert [each.severity for each in found] == ([Severity.WARNING] if warned else [])


def test_the_header_of_the_proxy_reaches_the_application(tmp_path):
    settings = config.read({"PBEM_DATA_DIR": str(tmp_path), "PBEM_WEB_PORT": str(free_port())})

    def application(environ, start_response):
        start_response("200 OK", [])
        return [environ.get("HTTP_X_FORWARDED_FOR", "nothing").encode()]

    web_server = serve._listening(settings, application)
    with served(web_server), closing(HTTPConnection("127.0.0.1", settings.web.port, timeout=60)) as connection:
        connection.request("GET", "/", headers={"X-Forwarded-For": "192.0.2.7"})
        assert connection.getresponse().read() == b"192.0.2.7"
