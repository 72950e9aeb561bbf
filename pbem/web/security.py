"""At the door of every request: what is too large, broken or from elsewhere is turned away; what leaves is wrapped up.

The pages load nothing but our own style sheet, run nothing, and are shown in nobody's frame. What hangs on a token is
kept by no cache and no search engine.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_to_bytes

from flask import Flask, Response, g, request

from pbem.config import Config
from pbem.domain.errors import BadInput, Forbidden
from pbem.i18n.speech import gettext as _
from pbem.service.archive import verify_upload
from pbem.web import site

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

POLICY_WITH_SCRIPT: Final = f"{POLICY}; script-src 'self'"
"""For pages of whoever has signed in: scripts that we serve ourselves, and never one within a page."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    # Not no-referrer: that makes a browser call our own forms' origin null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "interest-cohort=(), browsing-topics=()",
}

_NOT_KEPT: Final = {"Cache-Control": "no-store"}

PRIVATE: Final = _NOT_KEPT | {"X-Robots-Tag": "noindex, nofollow"}

PUBLIC: Final = frozenset({"front.show", "rules.of_game", "help.contents", "help.show"})
"""Pages that search engines may show. They are the same for everybody, and stay."""

MOST_FIELDS: Final = 200
"""The largest real form, that of a Ranking with everything else, has a few dozen fields."""

UPLOAD: Final = "verify.check"
"""The only form that brings a file, and so the only one that has parts and may be long."""

MOST_UPLOADED: Final = verify_upload.MOST_BYTES + 2**16
"""A file, and what a form has around it."""

_FILES: Final = "multipart/form-data"
_FORM: Final = "application/x-www-form-urlencoded"
_ONLY_HTTPS: Final = {"Strict-Transport-Security": f"max-age={365 * 24 * 60 * 60}"}


def watch(app: Flask, config: Config) -> None:
    """Let every request of an application with these settings pass this door."""
    app.before_request(_let_in)
    app.after_request(_wrapping_up(config))


def must_be_ours() -> None:
    """Refuse a form that another site sent: for pages that carry no authority of their own."""
    if _from_elsewhere(strictly=True):
        raise _elsewhere()


def must_not_be_foreign() -> None:
    """Refuse a form of a page with a token only if the browser names another site; the token is the authority."""
    if _from_elsewhere(strictly=False):
        raise _elsewhere()


def a_person_clicked() -> bool:
    """Whether a person's click sent this form, as far as the browser tells.

    A browser that does not tell is believed, once it has been asked (the form's field `sure`): it may be a scanner that
    presses buttons, or one of those that never tell. What is plainly a script does not come this far.
    """
    return _may_be_a_click() or request.form.get("sure") == "yes"


def _pressed_by_a_script() -> bool:
    """Whether this form was sent without a person's click, by a browser that always tells of one.

    Chromium, which alone sends Sec-CH-UA, and Firefox tell; WebKit does not. No script of ours presses a button, so that
    what does is a scanner, and it would press the second page's button as well.
    """
    tells = _told("SEC_CH_UA") is not None or "Firefox/" in (_told("USER_AGENT") or "")
    return tells and not _may_be_a_click()


def _may_be_a_click() -> bool:
    mode = _told("SEC_FETCH_MODE")
    return mode is None or (mode == "navigate" and _told("SEC_FETCH_USER") == "?1")


def _told(header: str) -> str | None:
    """What a program tells of its request, as a server hands it on: for every form, and so without the detour by Flask's own."""
    told: str | None = request.environ.get(f"HTTP_{header}")
    return told


def _let_in() -> None:
    asked = request.environ
    path, query = asked.get("PATH_INFO", "").encode("latin-1"), unquote_to_bytes(request.query_string)
    if why := _unreadable(path) or _unreadable(query):
        raise BadInput(_("The address cannot be read."), why=why)
    if asked["REQUEST_METHOD"] in ("GET", "HEAD", "OPTIONS") or path.startswith(b"/api/"):
        return
    endpoint = request.endpoint
    if endpoint == "inbound.take":
        # A mail and no form: its route reads it, and knows how large one may be.
        return
    if _pressed_by_a_script():
        # Browsers do not tell of the second half of a double click as of a click, and show only what came of that one.
        g.back_to = _address_of_the_form()
        raise Forbidden(
            _("This did not look like a person's click."),
            why=_("Some mail programs try out every button to protect you. This press has changed nothing."),
            remedy=_("If it was you, the page before comes back in a moment, and shows if an earlier press counts.")
            if g.back_to
            else _("If it was you, please go back and look whether an earlier press counts."),
        )
    if endpoint == UPLOAD:
        request.max_content_length = request.max_form_memory_size = MOST_UPLOADED
    # Reading the body is what refuses one that is too large.
    body = request.get_data(cache=True)
    if body and request.mimetype == _FORM:
        if why := _unreadable(unquote_to_bytes(body)):
            raise BadInput(_("The form cannot be read."), why=why)
        if body.count(b"&") >= MOST_FIELDS:
            raise BadInput(
                _("The form has too many fields."),
                why=_("No page of ours has more than %(most_fields)s.", most_fields=MOST_FIELDS),
            )
    elif body and endpoint != "stop.stop" and (endpoint, request.mimetype) != (UPLOAD, _FILES):
        raise BadInput(_("This is not one of our forms."), why=_("Our pages send %(form)s.", form=_FORM))


def _address_of_the_form() -> str:
    """The page from which a form was sent, as the browser says; nothing where it was none of ours."""
    page = (request.referrer or "").partition("://")[2]
    # With the host before it, no path can lead elsewhere.
    return f"//{page}" if page.startswith(f"{request.host}/") and page.isascii() else ""


def _unreadable(data: bytes) -> str:
    """Why this is no text; nothing if it is one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _("Its letters are not in UTF-8.")
    return _("It holds a character that stands for nothing.") if "\0" in text else ""


def _wrapping_up(config: Config) -> Callable[[Response], Response]:
    """What wraps up each answer of an application with these settings."""
    always = HEADERS | (_ONLY_HTTPS if config.base_url.startswith("https:") else {})
    of_all, private, public = (tuple((always | more).items()) for more in ({}, PRIVATE, _NOT_KEPT))
    ours = {name.lower() for name, _ in private}

    def wrap_up(response: Response) -> Response:
        endpoint, headers = request.endpoint, response.headers
        if endpoint == "static":
            wanted = of_all
        else:
            wanted = public if endpoint in PUBLIC and response.status_code == 200 else private
        # What a page says for itself stands.
        said = {name.lower() for name, _ in headers}
        headers.extend(wanted if said.isdisjoint(ours) else [each for each in wanted if each[0].lower() not in said])
        if response.status_code >= 400 and (back := g.get("back_to")):
            headers["Refresh"] = f"1; url={back}"
        return response

    return wrap_up


def _from_elsewhere(*, strictly: bool) -> bool:
    origin = _told("ORIGIN")
    if origin is not None and origin != "null":
        return origin != site.config().base_url and origin.partition("://")[2] != request.host
    return strictly and (origin == "null" or _told("SEC_FETCH_SITE") not in (None, "same-origin", "none"))


def _elsewhere() -> Forbidden:
    return Forbidden(
        _("This form was sent from another site."),
        why=_("Nobody else may act in your name."),
        remedy=_("Nothing was changed; please open the link again and use the button there."),
    )
