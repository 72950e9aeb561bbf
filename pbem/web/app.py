"""The web application: one function that puts it together. It starts no worker, no thread and no connection."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final
from urllib.parse import quote, unquote

import structlog
from flask import Flask, Request, Response, request
from jinja2 import Environment, StrictUndefined
from jinja2.environment import TemplateModule
from werkzeug.exceptions import SecurityError
from werkzeug.routing import MapAdapter
from werkzeug.sansio.utils import get_host

from pbem import paths
from pbem.config.settings import Config
from pbem.domain.choice_links import choice_segment
from pbem.domain.duration import duration_text, extension_text
from pbem.domain.pace import read_pace
from pbem.domain.user_text import isolate
from pbem.domain.week import bound_text, usual_bound
from pbem.hints import Advise, hint_here
from pbem.i18n import sentences, speech
from pbem.mail.write import words
from pbem.plugins import foreign
from pbem.service.clocks import stopped_tables
from pbem.service.links import LinkProof
from pbem.service.server import Server
from pbem.tokens import Purpose
from pbem.web import confirmations, desk, form_time, page_cache, phrases, security, site, static_files
from pbem.web.access_log import log_requests
from pbem.web.api import endpoints, inbound, open_data
from pbem.web.art import pictures
from pbem.web.errors import handle_errors
from pbem.web.people import (
    account,
    channels,
    consent,
    disown,
    feeds,
    my_page,
    next_turn,
    session_cookie,
    sign_in,
    unsubscribe,
    unverified_reply,
)
from pbem.web.public import (
    contact,
    dev_inbox,
    dump,
    front,
    gallery,
    game_statistics,
    hall,
    handbook,
    profiles,
    rules,
    verify,
)
from pbem.web.seat import choice, ending, move, notes, page, sandbox, talk
from pbem.web.tables import groups, interventions, invitations, joining, new, replay, review
from pbem.web.tournaments import (
    by_link as tournament_link,
    calendar as tournament_calendar,
    host as tournament_host,
    public as public_tournaments,
    signed_in as own_tournaments,
)

_log = structlog.get_logger(__name__)

_LINK: Final = re.compile(rf"/+[{''.join(Purpose)}](?:/+[^/]+)+/*", re.IGNORECASE)


class _Application(Flask):
    """An application that refuses requests for other hosts than `hosts`; of the library's check no IPv6 number is ever one."""

    hosts: tuple[str, ...] = ()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Prepare to find the view of a request. Raises SecurityError if it is for another host."""
        if request is not None:
            asked = request.headers.get("host", "").lower()
            listed = asked.partition("]")[0] + "]" in self.hosts
            request.host = get_host(request.scheme, asked, request.server, None if listed else self.hosts)
            if not request.host:
                raise SecurityError(f"Host {asked!r} is not trusted.")
        return super().create_url_adapter(request)


def create_app(server: Server, config: Config, advise: Advise = hint_here) -> Flask:
    """The application of a server. `advise` makes hints, which takes seconds."""
    app = _Application("pbem.web", template_folder=str(paths.templates() / "web"), static_folder=None)
    app.hosts = config.trusted_hosts
    app.config.update(
        MAX_CONTENT_LENGTH=config.limits.request_bytes,
        MAX_FORM_MEMORY_SIZE=config.limits.request_bytes,
        MAX_FORM_PARTS=security.MOST_PARTS,
    )
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    # The templates are in English, so English needs no catalogue.
    app.jinja_env.add_extension("jinja2.ext.i18n")
    sentences.install(app.jinja_env)
    app.jinja_env.filters.update(
        isolated=isolate, segment=choice_segment, translated=speech.translate, utc=phrases.utc, day=phrases.day
    )
    app.jinja_env.globals.update(
        language=speech.tag,
        site_name=config.site.name,
        base_url=config.base_url,
        development=config.development,
        pace_in_words=words.pace_text,
        time_off_in_words=bound_text,
        usual_time_off=lambda pace: usual_bound(read_pace(pace)),
        longer=extension_text,
        duration=duration_text,
        alias=site.alias,
        part=page_cache.part,
        by_token=page_cache.by_token,
        form_time=form_time.text,
        macros=_macros(app.jinja_env),
        next_turn_line=next_turn.line,
        may_work_at_desk=session_cookie.may_work_at_desk,
        confirmation=confirmations.confirmation,
    )
    static_files.set_up(app)
    pictures.set_up(app)
    site.set_up(app, server, config, advise)
    page_cache.set_up(app)
    log_requests(app)
    security.guard(app, config)
    app.before_request(foreign.begin_visit)
    app.before_request(_repair_link)
    app.before_request(_act_by_link)
    handle_errors(app)
    app.teardown_request(lambda _error: _stop_failed_games(server))
    app.teardown_request(lambda _error: foreign.end_visit())
    public = (front, hall, contact, rules, game_statistics, profiles, handbook, verify, dump)
    people = (sign_in, my_page, account, channels, consent, disown, feeds, unsubscribe, unverified_reply)
    tables = (new, joining, groups, invitations, interventions, replay, review)
    seats = (page, choice, move, talk, notes, ending, sandbox)
    tournaments = (public_tournaments, tournament_calendar, tournament_link, own_tournaments, tournament_host)
    for module in (*public, *people, *tables, *seats, *tournaments, inbound):
        app.register_blueprint(module.pages)
    for blueprint in (endpoints.routes, open_data.routes, *desk.BLUEPRINTS):
        app.register_blueprint(blueprint)
    if config.development:
        app.register_blueprint(dev_inbox.pages)
        app.register_blueprint(gallery.pages)
    return app


def _repair_link() -> Response | None:
    """Lead to a link as it was sent, if an email program has changed its spelling. Its page checks the token."""
    if request.method not in ("GET", "HEAD") or (link := _as_sent(request.path)) is None:
        return None
    return site.go_to(link)


def _act_by_link() -> None:
    """Let a form behind a link be acted on only while the link works. A page follows its link when it reads."""
    token = (request.view_args or {}).get("token")
    if token is not None and request.method == "POST" and request.url_rule is not None:
        site.act_with(LinkProof(token, Purpose(request.url_rule.rule[1])))


def _as_sent(path: str) -> str | None:
    """The path of a link without capitals, second quoting or extra slashes; None if it has none, or is no link."""
    unquoted = unquote(unquote(path)).strip()
    plain = "/" + "/".join(filter(None, unquoted.split("/")))
    # If the first letter is no capital, others were typed on purpose: a choice may be typed with capitals.
    if _LINK.fullmatch(unquoted) is None or (plain == path and plain[1].islower()):
        return None
    return quote(plain.lower())


def _stop_failed_games(server: Server) -> None:
    """Stop the tables whose games have failed. After a GET, which changes nothing, a worker does so."""
    if request.method in ("GET", "HEAD"):
        return
    try:
        stopped_tables.stop_failed(server)
    except Exception:  # noqa: BLE001 - the answer is made, and no error may get in its way
        _log.exception("table_not_stopped")


def _macros(templates: Environment) -> Callable[[str], TemplateModule]:
    """Return the macros of a template. An `import` would compare the globals of two templates each time."""
    return cache(lambda name: templates.get_template(name).module)
