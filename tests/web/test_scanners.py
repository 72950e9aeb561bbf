"""Mail scanners: they open every link, run scripts and press every button, and still nothing may change.

A game is played with one real email of each kind. Each link is requested as soon as its email arrives, in three ways, and then
by a real browser with a script that presses every button. No row may change.
"""

import re
import subprocess
from datetime import timedelta
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any
from urllib.parse import urlsplit

import pytest

from pbem.mail.send.smtp import OutgoingEmail
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.post import post_of
from tests.mail.kinds import every_kind, kind_of
from tests.mail.transports import StoringTransport
from tests.service.database import all_rows
from tests.web.browser import HOST

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    # Why opening a link changes nothing does not depend on the database.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

LINK = re.compile(rf"{HOST}/[^\s<>\"]*")

PRESSES = """
addEventListener("DOMContentLoaded", () => {
    const forms = [...document.forms].filter(each => each.method == "post");
    const form = forms[new URLSearchParams(location.search).get("form") || 0];
    if (!form) return;
    form.noValidate = true;
    for (const each of form.elements) {
        if (each.type == "radio" || each.type == "checkbox") each.checked = true;
        else if (each.required && !each.value) each.value = each.min || "x";
    }
    if (HOW == "click") form.querySelector("button").click();
    if (HOW == "submit") HTMLFormElement.prototype.submit.call(form);
    if (HOW == "fetch") fetch(form.action, {method: "POST", body: new URLSearchParams(new FormData(form))});
});
"""
"""Presses one form of each page that it meets: that which the address names, or the first."""

SAME_FOR_ALL = ("/", "/u/")

HOWS = ("click", "submit", "fetch")


class Postman:
    """Delivers emails, and knows which are new."""

    def __init__(self, server, clock, settings) -> None:
        self.server, self.clock = server, clock
        self.inbox = StoringTransport()
        self.post = Post(post_of(settings).letterhead, self.inbox)

    def carry(self) -> list[OutgoingEmail]:
        """Let a little time pass; the emails that arrived."""
        before = len(self.inbox.emails)
        self.clock.advance(timedelta(minutes=6))
        while deliver(self.server, self.post).dealt_with:
            pass
        return self.inbox.emails[before:]


def read(email: OutgoingEmail) -> EmailMessage:
    """An email as the standard library reads it."""
    message = BytesParser(policy=default).parsebytes(email.content)
    assert isinstance(message, EmailMessage)
    return message


def paths_of(email: OutgoingEmail) -> list[str]:
    """The paths of all links of an email: in its headers, its text and its HTML."""
    message = read(email)
    texts = [str(part.get_content()) for part in message.walk() if part.get_content_maintype() == "text"]
    found = LINK.findall("\n".join([str(message["list-unsubscribe"]), *texts]))
    return list(dict.fromkeys(each.removeprefix(HOST) for each in found))


@pytest.mark.needs("curl")
def test_opening_any_link_of_any_email_changes_nothing(server, clock, settings, site, tool):
    postman = Postman(server, clock, settings)
    looked: dict[str, int] = {}

    def carry() -> None:
        fresh: dict[str, OutgoingEmail] = {}
        for email in postman.carry():
            fresh.setdefault(kind_of(read(email)), email)
        paths = [path for email in fresh.values() for path in paths_of(email)]
        if paths:
            before = all_rows(server.store)
            for method in ([], ["--head"], ["--request", "OPTIONS"]):
                answers = curl(tool("curl"), site, paths, method)
                assert {*answers} <= {"200", "303"}, (method, answers)
                # Nobody is signed in at the desk, so its address leads to the form to sign in.
                assert {path for path, status in zip(paths, answers, strict=True) if status == "303"} <= {"/desk"}
            assert all_rows(server.store) == before, f"looking at one of {sorted(fresh)} changed something"
            for kind in fresh:
                looked[kind] = looked.get(kind, 0) + 1

    every_kind(server, clock, carry, "templari")
    assert {"invitation", "confirm", "joined", "welcome", "turn", "reminder", "notice", "result", "links"} <= {*looked}


def curl(program: str, site: str, paths: list[str], options: list[str]) -> list[str]:
    """Request each path; the statuses of the answers."""
    urls = [argument for path in paths for argument in ("--output", "/dev/null", site + path)]
    command = [program, "--silent", "--show-error", "--write-out", "%{http_code}\n", *options, *urls]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.needs("chromium")
@pytest.mark.slice(1 / 3)
@pytest.mark.parametrize("how", HOWS)
def test_a_script_that_presses_every_button_decides_nothing(how, server, clock, settings, site, chromium):
    postman = Postman(server, clock, settings)
    pressed: dict[str, int] = {}
    asked: list[Any] = []
    known: set[tuple[str, ...]] = set()
    looks, presses = scanner(chromium, "", asked), scanner(chromium, how, asked)

    def carry() -> None:
        for email in postman.carry():
            for path in paths_of(email):
                # The links at the foot of all emails lead to the same pages.
                place = path[:3] if path[:3] in SAME_FOR_ALL else f"{kind_of(read(email))} {path[:3]}"
                if place not in pressed:
                    before = all_rows(server.store)
                    pressed[place] = press_everything(looks, presses, site + path, known)
                    assert all_rows(server.store) == before, f"a script has decided something on {place}"

    every_kind(server, clock, carry, "templari")
    assert {"turn /m/", "turn /s/", "confirm /c/", "invitation /c/", "/u/", "links /l/"} <= {*pressed}
    assert pressed["turn /s/"] > pressed["turn /m/"] > 0
    # Pages fetch from this site alone and their forms lead to it, so that no address with a token gets out.
    assert {urlsplit(each.url).netloc for each in asked} == {urlsplit(site).netloc}


def scanner(chromium: Any, how: str, asked: list[Any]) -> Any:
    """A browser tab in which a script presses buttons, even where a page forbids scripts."""
    page = chromium.new_context(bypass_csp=True).new_page()
    page.add_init_script(f"const HOW = {how!r};" + (PRESSES if how else ""))
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - it hangs a mark on what it is given
    return page


def press_everything(looks: Any, presses: Any, url: str, known: set[tuple[str, ...]]) -> int:
    """Open an address and let a script send each of its forms, unless a known page has the same; the number of forms."""
    looks.goto(url)
    actions = looks.evaluate("[...document.querySelectorAll('form[method=post]')].map(each => each.action)")
    forms = tuple(re.sub(r"[a-z2-7]{33}(/[^/]*-[^/]*)?", "…", each) for each in actions)
    for form in range(len(forms)) if forms not in known else ():
        with presses.expect_response(lambda answer: answer.request.method == "POST"):
            presses.goto(f"{url}?form={form}", wait_until="commit")
        presses.wait_for_load_state()
        # A refusal leads back to the form, which would be pressed again and again.
        presses.goto("about:blank")
    known.add(forms)
    return len(forms)
