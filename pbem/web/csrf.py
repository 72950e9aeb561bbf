"""Forged forms: those that another site sends in a reader's name, and those that a program sends instead of a person.

No form has a secret field. Browsers say where a form comes from and whether a person clicked, and links carry tokens of their
own, which no other site knows. But a token says nothing of whose browser it is: a form that signs one in or out must come from
our own page, or another site could sign a reader in as someone else.
"""

from typing import Final

from flask import g, request

from pbem.config.checks import host_of, is_local
from pbem.domain.errors import Forbidden
from pbem.i18n.speech import gettext as _
from pbem.web import site

UNSUBSCRIBE: Final = "unsubscribe.choose"
"""The only form that others may send: email programs do, in two encodings (RFC 8058)."""


CHANGES_COOKIES: Final = frozenset({"sign_in.sign_in", "disown.end_everything", "consent.confirm"})
"""Forms behind a token that sign a browser in or out."""


def refuse_scripts() -> None:
    """Raise Forbidden for a form that was plainly sent by a script."""
    if _pressed_by_a_script():
        # Browsers do not report the second half of a double click as a click, and show only the answer to that half.
        g.back_to = _address_of_the_form()
        raise Forbidden(
            _("This didn't look like a person's click."),
            why=_("Some mail scanners press buttons. This press changed nothing."),
            remedy=_("If it was you, the previous page will return and show whether an earlier press counted.")
            if g.back_to
            else _("If it was you, go back and see whether an earlier press counted."),
        )


def refuse_other_sites() -> None:
    """Raise Forbidden for a form that another site sent."""
    if request.endpoint is not None and _from_other_site() and not is_one_click():
        raise _sent_from_elsewhere()


def refuse_other_pages() -> None:
    """Raise Forbidden unless our own page sent this form: before any cookie is changed, whatever the form."""
    if not from_our_page():
        raise _sent_from_elsewhere()


def is_one_click() -> bool:
    """Whether an email program sent this request to unsubscribe its user."""
    return request.endpoint == UNSUBSCRIBE and request.form.get("List-Unsubscribe") == "One-Click"


def a_person_clicked() -> bool:
    """Whether a person's click sent this form, as far as the browser says.

    Some browsers never say, and neither do scanners that press buttons. They are believed once the person has confirmed (the
    field `sure`). A request that is plainly a script's has been refused before.
    """
    return _may_be_a_click() or request.form.get("sure") == "yes"


def our_button_was_pressed() -> bool:
    """Whether a person's click sent this form, and with the field that our form for a move has (`press`, or `sure`).

    A program that posts to each address it finds, without reading the form there, has no such field.
    """
    return a_person_clicked() and "yes" in (request.form.get("press"), request.form.get("sure"))


def _pressed_by_a_script() -> bool:
    """Whether this form was sent without a person's click, by a browser that always reports one.

    Chromium, which alone sends Sec-CH-UA, and Firefox report clicks; WebKit does not. No script of this site presses a
    button, so a script that does is a scanner, and it would press the button of a second page as well.
    """
    reports_clicks = _header("SEC_CH_UA") is not None or "Firefox/" in (_header("USER_AGENT") or "")
    return reports_clicks and not _may_be_a_click()


def _may_be_a_click() -> bool:
    mode = _header("SEC_FETCH_MODE")
    return mode is None or (mode == "navigate" and _header("SEC_FETCH_USER") == "?1")


def _header(header: str) -> str | None:
    """A header of this request. It is read for every form, so from the environment directly, which is fast."""
    value: str | None = request.environ.get(f"HTTP_{header}")
    return value


def _address_of_the_form() -> str:
    """The page that a form was sent from, as the browser says; empty if it is on another site."""
    page = (request.referrer or "").partition("://")[2]
    # With the host before it, no path can lead to another site.
    return f"//{page}" if page.startswith(f"{request.host}/") and page.isascii() else ""


def _sent_from_elsewhere() -> Forbidden:
    return Forbidden(
        _("This form was sent from another site."),
        why=_("Other sites can't act for you."),
        remedy=_("Nothing changed. Open the link again and use the button on its page."),
    )


def _from_other_site() -> bool:
    """Whether the browser says that another site sent this form, or hides it where a token is not enough."""
    if "token" in (request.view_args or {}) and request.endpoint not in CHANGES_COOKIES:
        return _header("ORIGIN") not in (None, "null") and not from_our_page()
    return not from_our_page()


def from_our_page() -> bool:
    """Whether our own page sent this form. Browsers that say nothing, which are very old or show only text, are believed."""
    origin, sender = _header("ORIGIN"), _header("SEC_FETCH_SITE")
    if origin is not None and origin != "null":
        return _is_ours(origin)
    if sender is not None:
        return sender in ("same-origin", "none")
    page = _header("REFERER")
    return origin is None and (page is None or _is_ours("/".join(page.split("/")[:3])))


def _is_ours(origin: str) -> bool:
    """Whether this is the site, by any of its names.

    Where the site is encrypted, an unencrypted page isn't ours, since anyone in between could have sent it, unless it never left
    this machine.
    """
    base, (scheme, _at, host) = site.config().base_url, origin.partition("://")
    if origin != base and host != request.host:
        return False
    return scheme == "https" or not base.startswith("https:") or is_local(host_of(f"//{request.host}"))
