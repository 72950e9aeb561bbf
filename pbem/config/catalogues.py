"""Catalogues of translations in gettext's layout: one compiled file for each language, in a folder of the organiser's.

    catalogues/de/LC_MESSAGES/pbem.mo

English needs none, since code and templates are in English. A sentence that a catalogue lacks stays English.
"""

import struct
from gettext import GNUTranslations
from pathlib import Path

from pbem.domain.errors import BadInput
from pbem.i18n.speech import ENGLISH, Language


def language(tag: str, folder: Path | None) -> Language:
    """A language with its translations. Raises BadInput if there is no readable catalogue."""
    if tag == ENGLISH.tag:
        return ENGLISH
    if folder is None:
        raise BadInput(
            f"there is no catalogue for {tag}.", remedy="Name the folder of the catalogues in PBEM_CATALOGUES."
        )
    path = folder / tag.replace("-", "_") / "LC_MESSAGES" / "pbem.mo"
    try:
        with path.open("rb") as file:
            return Language(tag, GNUTranslations(file))
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror or 'it cannot be opened'}.",
            remedy="Correct PBEM_CATALOGUES, or put the compiled catalogue there.",
        ) from None
    except (struct.error, ValueError, LookupError, SyntaxError):
        # The errors of gettext for a broken file: cut short, wrongly encoded, or with an invalid plural rule.
        raise BadInput(f"{path} is no compiled catalogue.", remedy="Compile it anew with msgfmt or pybabel.") from None
