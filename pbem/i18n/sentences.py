"""How templates of pages and mails say their sentences: by gettext, in the language that is spoken."""

from functools import lru_cache
from gettext import NullTranslations
from typing import Final

from jinja2 import Environment, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from pbem.i18n import speech

MOST_REMEMBERED: Final = 5000
"""Sentences without values that are remembered in the language in which they were said: a few hundred bytes each."""


def speak(environment: Environment) -> None:
    """Let the templates of an environment, which has Jinja's extension for that, speak the language that is spoken."""
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        speech.translated, speech.translated_by_number, newstyle=True
    )
    # Jinja's own function does this in three calls by way of the context, several dozen times on a page, and cannot see
    # that a value brings its own full stop.
    environment.globals.update(_=_said, gettext=_said)


@pass_eval_context
def _said(context: EvalContext, message: str, /, **values: object) -> str:
    """A sentence of a template, with its values escaped where the template escapes."""
    if not context.autoescape:
        return speech.gettext(message, **values)
    if not values:
        return _alone(speech.language(), message)
    return Markup(speech.stopped_once(speech.translated(message), values)) % values  # noqa: S704 - a template's, or a catalogue's


@lru_cache(maxsize=MOST_REMEMBERED)
def _alone(language: NullTranslations, message: str) -> Markup:
    return Markup(language.gettext(message) if message else "") % {}  # noqa: S704 - the same
