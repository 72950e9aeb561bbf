"""The doors for forms: every form of every page, filled in with anything, is carried out or refused in our own words."""

import pytest
from hypothesis import given, strategies as st

from tests.fuzz.door import examples, growing, must_be_linear, pieces
from tests.web.browser import HOST, Browser
from tests.web.test_reading_changes_nothing import addresses, live  # noqa: F401 - a fixture comes in by its name

FORM = "application/x-www-form-urlencoded"
LARGEST = 65_000
"""Bytes of the largest form that is read."""

SYNTAX = (
    *("ann@example.org", "xn--", "1d", "Tue 25:00", "Europe/Berlin", "22-07", "on", "yes", "off", "strict"),
    *("if ", " then ", " until ", "<amount>", "raise to ", "reroll", "1,2,3", "http://", "www.", "%0d%0aBcc: "),
)


@pytest.fixture
def pages(app, browser, live):  # noqa: F811 - the fixture, as above
    """The address of one page of each kind with forms, among them those of the desk."""
    found = {}
    for rule, urls in addresses(app, browser, live):
        for url in urls:
            with browser.client.get(url, base_url=HOST) as response:
                if response.status_code != 200 or response.mimetype != "text/html":
                    continue
            buttons = tuple(form.button for form in browser.open(url).forms())
            found.setdefault((rule.rule, buttons), url)
    found = {key: url for key, url in found.items() if key[1]}
    assert len(found) > 30
    return sorted(found.values())


def sent(browser: Browser, form, fields):
    response = browser.client.post(form.action, data=fields, headers=browser.says, base_url=HOST)
    response.close()
    assert response.status_code < 500, (form.action, fields)


def names_of(form):
    return sorted({name for name, _value in form.fixed} | {*form.numbers, *form.texts, *form.picks, *form.boxes})


def filled(form):
    """The fields as a person might leave them."""
    values = {name: [str(low)] for name, (low, _high) in form.numbers.items()}
    values |= {name: [each[0]] for name, each in (*form.picks.items(), *form.boxes.items())}
    values |= {name: ["ann"] for name in form.texts}
    for name, value in form.fixed:
        values[name] = [value]
    return values


def one_of(things, number):
    """One of some things by any number: what the site shows changes from example to example, and what is drawn must not."""
    return things[number % len(things)]


NUMBERS = st.integers(0, 10_000)
TEXT = pieces(*SYNTAX).map(lambda each: each.replace("\ud800", "\ufffd"))


@pytest.mark.slow
@examples
@given(page=NUMBERS, form=NUMBERS, changes=st.lists(st.tuples(NUMBERS, st.lists(TEXT, max_size=3)), max_size=4))
def test_no_form_fails_whatever_is_filled_in(page, form, changes, pages, browser):
    forms = browser.open(one_of(pages, page)).forms()
    if forms:
        form = one_of(forms, form)
        sent(browser, form, filled(form) | {one_of([*names_of(form), "sure"], name): texts for name, texts in changes})


@pytest.mark.slow
@examples
@given(page=NUMBERS, form=NUMBERS, name=NUMBERS, text=growing(*SYNTAX))
def test_a_field_is_read_in_steps_that_its_length_explains(page, form, name, text, pages, browser):
    forms = [form for form in browser.open(one_of(pages, page)).forms() if form.texts]
    if forms:
        form = one_of(forms, form)
        fields, name = filled(form), one_of(form.texts, name)
        must_be_linear(
            lambda length: sent(browser, form, fields | {name: [text.at(length).replace("\ud800", "\ufffd")]}), 100
        )


@pytest.mark.slow
@examples
@given(page=NUMBERS, body=growing("&", "=", "%", "%41", "a=1&", "+", "\r\n", "%00", "%ff", ";"))
def test_a_body_that_is_no_form_is_refused_in_steps_that_its_length_explains(page, body, pages, browser):
    forms = browser.open(one_of(pages, page)).forms()

    def send(length):
        text = body.at(length).encode("utf-8", "replace")
        for form in forms[:1]:
            response = browser.client.post(
                form.action, data=text, content_type=FORM, headers=browser.says, base_url=HOST
            )
            assert response.status_code < 500

    must_be_linear(send)
    send(LARGEST)
