"""Look-alikes: letters and signs of all scripts that a reader may take for another letter, so that a name passes for another.

The table is Unicode's list of what is confusable with one Latin letter or digit, without what the character's own name
tells, as in CYRILLIC SMALL LETTER A; and a few that people use on purpose, as in `0rgan1$er`.
"""

import re
import unicodedata
from typing import Final

_LOOKS: Final = {
    look: letter
    for letter, looks in {
        "a": "4\u2202\u0251\u0391\u03b1\u13aa\u15c5\u237a\U00016f40",
        "b": "\u0184\u0392\u0412\u042c\u13cf\u13f4\u1472\u15af\u15f7\ua4d0\ua7b4\U000102a1\U00010301",
        "c": (
            "\u0421\u0441\u13df\u2ca4\u2ca5\ua4da\uabaf\U000102a2\U00010302\U00010415\U0001043d\U0001051c"
            "\U000118e9\U000118f2\U0001f74c"
        ),
        "d": "\u0501\u13a0\u13e7\u146f\u15de\u15ea\ua4d2\ua4d3",
        "e": "3\u03b5\u20ac\u0395\u0415\u0435\u04bd\u13ac\u212e\u22ff\u2d39\U00010286\U000118a6\U000118ae",
        "f": "\u03dc\u0584\u15b4\u1e9d\ua4dd\U00010287\U000102a5\U00010525\U000118a2\U000118c2\U0001d213",
        "g": "9\u018d\u050c\u0581\u13c0\u13f3\ua4d6",
        "h": "\u0397\u041d\u04bb\u0570\u13bb\u13c2\u157c\u2c8e\ua4e7\U000102cf",
        "i": (
            "1l|!\xa1\u13c6\u2502\u4e28\u0196\u01c0\u0269\u0399\u03b9\u04c0\u04cf\u06f1\u13a5\u13de\u14aa\u2223"
            "\u2373\u23fd\u2c92\u2cd0\u2d4f\ua4e1\ua647\uab75\U0001028a\U00010320\U0001041b\U00010526\U000118a3"
            "\U000118b2\U000118c3\U00016f16\U00016f28\U0001d22a"
        ),
        "j": "\u037f\u03f3\u0408\u0458\u13ab\u148d\ua4d9",
        "k": "\u039a\u041a\u13e6\u16d5\u2c94\ua4d7\U00010518",
        "m": "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df\U000102b0\U00010311",
        "n": "\u03b7\u043f\u039d\u0578\u057c\u2c9a\ua4e0\U00010513",
        "o": (
            "0\u0cb0\u13be\u13eb\u25cb\u25ef\u039f\u03bf\u03c3\u0555\u0585\u06f5\u0966\u09e6\u0a66\u0ae6\u0b20"
            "\u0b66\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040\u10ff\u12d0"
            "\u2d54\u3007\U00010292\U000114d0\U000118b5\U000118c8\U000118d7\U000118e0"
        ),
        "p": "\u03a1\u03c1\u0420\u0440\u13e2\u146d\u2374\u2ca2\u2ca3\ua4d1\U00010295",
        "q": "\u051b\u0563\u0566\u2d55",
        "r": (
            "\xae\u044f\ua785\u01a6\u0433\u13a1\u13d2\u1587\u1d26\u2c85\ua4e3\uab47\uab81\U000104b4\U00016f35\U0001d216"
        ),
        "s": "5$\xa7\u01a8\u01bd\u0405\u0455\u054f\u13d5\u13da\ua4e2\uabaa\U00010420\U00010448\U000118c1\U00016f3a",
        "t": "\u03a4\u0422\u13a2\u22a4\u27d9\u2ca6\ua4d4\U000102b1\U00010315\U000118bc\U00016f0a\U0001f768",
        "u": "\u028b\u03c5\u054d\u057d\u1200\u144c\u222a\u22c3\ua79f\U000118b8\U000118d8\U00016f42",
        "v": (
            "\u03bd\u0474\u0475\u06f7\u13d9\u142f\u2228\u22c1\u2d38\ua4e6\ua6df\uaba9\U0001051d\U00011706"
            "\U000118a0\U000118c0\U00016f08\U0001d20d"
        ),
        "w": (
            "\u026f\u0461\u051c\u051d\u0561\u13b3\u13d4\ua4ea\uab83\U0001170a\U0001170e\U0001170f\U000118e6\U000118ef"
        ),
        "x": (
            "\xd7\u03a7\u0425\u0445\u1541\u157d\u166d\u166e\u16b7\u2573\u292b\u292c\u2a2f\u2cac\u2d5d\ua4eb\ua7b3"
            "\U00010290\U00010317\U00010322\U00010527\U000118ec"
        ),
        "y": (
            "\u0263\u03a5\u03b3\u0423\u0443\u04ae\u04af\u10e7\u13a9\u13bd\u1d8c\u2ca8\ua4ec\U000102b2\U000118a4"
            "\U000118dc\U00016f43"
        ),
        "z": "2\u03b6\u0396\u13c3\ua4dc\uab93\U000102f5\U000118a9\U000118c4\U000118e5",
    }.items()
    for look in looks
}
_LETTER_IN_NAME: Final = re.compile(r"LETTER\b.*? ([A-Z])(?: WITH\b.*)?$")


def seen_as(text: str) -> str:
    """A text as a reader may take it, in small Latin letters where it looks like them. Accents and other signs stay."""
    return "".join(map(_letter, unicodedata.normalize("NFKD", text)))


def _letter(c: str) -> str:
    small = c.casefold()
    found = _LOOKS.get(c) or _LOOKS.get(small)
    if found is not None or c.isascii():
        return found or small
    named = _LETTER_IN_NAME.search(unicodedata.name(c, ""))
    return named[1].lower() if named else small
