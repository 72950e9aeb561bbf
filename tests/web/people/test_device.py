"""Names of devices, from the User-Agents of browsers."""

import pytest

from pbem.web.people.session_cookie import device_name

MOZILLA = "Mozilla/5.0"


@pytest.mark.parametrize(
    "user_agent, words",
    [
        (f"{MOZILLA} (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (
            f"{MOZILLA} (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        (
            f"{MOZILLA} (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0",
            "Edge on Windows",
        ),
        (
            f"{MOZILLA} (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
            "Safari on iPhone",
        ),
        (
            f"{MOZILLA} (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
            "Safari on Mac",
        ),
        ("w3m/0.5.3", "w3m"),
        ("", ""),
        ("<script>alert(1)</script>", ""),
    ],
)
def test_a_device_has_a_name_that_its_owner_recognises(user_agent, words):
    assert device_name(user_agent) == words
