"""Character sets of email: those that mail programs write, by list, and nothing else that Python has a codec for.

Some codecs take minutes for a megabyte (`punycode`), are no character sets at all, or unpack what they are given; and Python
remembers every unknown name for ever. So a label is looked up here, and only what is found goes to a codec.
"""

import re
from email.errors import HeaderParseError
from email.header import decode_header
from encodings.aliases import aliases
from typing import Final

LONGEST_HEADER_TEXT: Final = 1000
"""Characters of a header that are decoded for people to read; our longest subject has 200."""

_CODECS: Final = frozenset(
    {
        *("ascii", "utf_8", "utf_16", "utf_16_be", "utf_16_le"),
        *(f"iso8859_{part}" for part in (*range(1, 12), *range(13, 17))),
        *(f"cp{page}" for page in (437, 850, 852, 866, 874, *range(1250, 1259))),
        *("koi8_r", "koi8_u", "mac_roman", "mac_cyrillic", "tis_620"),
        *("gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950"),
        *("shift_jis", "cp932", "euc_jp", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_3"),
        *("euc_kr", "cp949", "iso2022_kr"),
    }
)

_LABEL: Final = re.compile(r"=\?([^?*]*)(?:\*[^?]*)?\?")

# Labels in mail programs. Python does not know all of them.
_LABELS: Final = {
    **{codec: codec for codec in _CODECS},
    **{alias: codec for alias, codec in aliases.items() if codec in _CODECS},
    **{f"windows_{page}": f"cp{page}" for page in (874, *range(1250, 1259))},
    "windows_31j": "cp932",
    "windows_949": "cp949",
    "ks_c_5601": "cp949",
    "iso_2022_jp_ms": "iso2022_jp",
    "iso_8859_8_i": "iso8859_8",
    "x_sjis": "shift_jis",
    "x_euc_jp": "euc_jp",
    "x_gbk": "gbk",
    # Text labelled Latin-1 often has the quotes and dashes of Windows; the letters are the same.
    **{alias: "cp1252" for alias, codec in [("latin_1", "latin_1"), *aliases.items()] if codec == "latin_1"},
}


def codec_of(label: str) -> str | None:
    """Python's codec for a label in an email; None if it is not on our list."""
    return _LABELS.get(label.strip().lower().replace("-", "_").replace(" ", "_"))


def relabelled(text: str) -> str:
    """A header whose encoded words name only codecs on our list, so that a library may decode them."""
    return _LABEL.sub(lambda found: f"=?{codec_of(found[1]) or 'ascii'}?", text)


def decode(data: bytes, label: str) -> str:
    """A text in a labelled character set, with replacement characters for what can't be read."""
    return data.decode(codec_of(label) or "utf-8", "replace")


def header_text(text: str) -> str:
    """The beginning of a header with its encoded words decoded. If one of them is broken, none is decoded."""
    text = text[:LONGEST_HEADER_TEXT]
    try:
        # As Latin-1, because the library would escape other letters between encoded words.
        pieces = decode_header(text.encode("utf-8", "replace").decode("latin-1"))
    except HeaderParseError:
        return text
    whole = (
        decode(piece if isinstance(piece, bytes) else piece.encode("latin-1"), label or "") for piece, label in pieces
    )
    return " ".join("".join(whole).split())
