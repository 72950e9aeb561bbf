"""Gettext for the templates of pages and emails."""

from functools import lru_cache
from gettext import NullTranslations
from typing import Final

from jinja2 import Environment, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from pbem.i18n import speech

CACHE_SIZE: Final = 5000
"""The number of cached sentences without values: a few hundred bytes each."""


def install(environment: Environment) -> None:
    """Let the templates of an environment, which must have Jinja's i18n extension, use the current language."""
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        speech.translate, speech.translate_plural, newstyle=True
    )
    # Jinja's own function takes three calls through the context, several dozen times on a page, and does not drop a double
    # full stop. Nor do its functions get along with a mistake in a catalogue.
    environment.globals.update(_=_sentence, gettext=_sentence, ngettext=_plural)


@pass_eval_context
def _sentence(context: EvalContext, message: str, /, **values: object) -> str:
    """A translated sentence, with its values escaped in templates that escape."""
    if not context.autoescape:
        return speech.gettext(message, **values)
    if not values:
        return _cached_sentence(speech.language(), message)
    return speech.fill(speech.translate(message), message, values, Markup)


@pass_eval_context
def _plural(context: EvalContext, one: str, many: str, number: int, /, **values: object) -> str:
    """One of two translated sentences, likewise."""
    return speech.fill_plural(one, many, number, values, Markup if context.autoescape else str)


@lru_cache(maxsize=CACHE_SIZE)
def _cached_sentence(language: NullTranslations, message: str) -> str:
    return speech.fill(language.gettext(message) if message else "", message, {}, Markup)
