"""The lines of a reply that its writer wrote, without our quoted email.

Mail programs quote in many ways: with `>` before each line, below a line such as `On Monday Ann wrote:`, below a block of
`From:` and `Sent:`, below a line of dashes; above, below or around the reply; in every language. Quotes, their
introductions, signatures and advertisements of programs are removed.

Doubtful prose stays: a line counts as a command only as a whole, so a scrap of prose does no harm. A doubtful quote is cut,
since a quoted command must not be taken for the writer's own. Lines are only joined if a mail program has broken them in the
middle of a sentence, so that no command is ever put together from two lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pbem.domain.reply_commands import Word, ends_message


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, and whether it is quoted. A `whole` line was not broken by a program."""

    text: str
    quoted: bool = False
    whole: bool = False


MARKER: Final = re.compile(r"\[pbem[\s>]+[\w-]{1,40}[\s>]+t(\d{1,9})\s*\]")
"""The marker in our emails below which everything is quoted; its number is that of the turn the writer saw."""

_MARKED: Final = re.compile(r"^[>\s]*\[pbem\s|\[pbem [\w-]+ t\d+\]|^\W*-{3} .{5,80} -{3}(?:\s|$)")

# Some programs put the quoted writer's initials before the mark.
_QUOTE_MARKS: Final = re.compile(r"^(?:\s{0,3}(?:[A-Za-z]{1,3})?[>＞])+")
_WORDS_OF_A_SENTENCE: Final = 4

_RULE: Final = "_=*~–—-"
_SHORTEST_RULE: Final = 5
_NAMED_RULE: Final = re.compile(r"-{2,40}\s?[^-\s].{0,100}\S\s?-{2,40}")
_FORWARDED: Final = re.compile(
    r"(?:Begin forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)|Début du message (?:réexpédié|transféré)"
    r"|Inicio del mensaje reenviado|Início da mensagem (?:encaminhada|reencaminhada)|Inizio messaggio inoltrato"
    r"|転送されたメッセージ)\s*[:：]",
    re.IGNORECASE,
)

_SIGNATURE: Final = re.compile(r"[-–—]{2,3}\s*")

_HEADER: Final = re.compile(
    r"[\s*_]*+(?P<name>From|Sent|Date|To|Cc|Subject|Reply-To"
    r"|Von|Gesendet|Datum|An|Kopie|Betreff|Antwort an"
    r"|De|Envoyé(?: le)?|Date|À|Objet|Répondre à"
    r"|Enviado(?: el| em)?|Enviada(?: em)?|Fecha|Para|CC|Asunto|Assunto|Data|Responder a"
    r"|Da|Inviato|A|Oggetto|Van|Verzonden|Aan|Onderwerp"
    r"|差出人|送信者|送信日時|日付|日時|宛先|件名)[\s*_]*[:：].*",
    re.IGNORECASE,
)

# Outlook heads a quote in the language of its user, with different words and a colon after each. One line has the date, and
# one an address or the time of day. Our own commands are no such words.
_LABELLED: Final = re.compile(r"[\W_]*+([^\W\d_][^:：\d@<>/]{0,40})[:：].*")
_MOST_WORDS_OF_A_LABEL: Final = 4
_COMMANDS: Final = frozenset(word.split()[0] for word in Word)
_FEWEST_LABELS: Final = 3
_DATE: Final = re.compile(r"(?<!\d)\d{4}(?!\d)|(?<!\d)\d{1,2}([./-])\d{1,2}\1\d{2}(?!\d)")
_TIME: Final = re.compile(r"(?<!\d)\d{1,2}[:.]\d\d(?!\d)")
_ADDRESS: Final = re.compile(r"\S@\S")

# "Wrote" in the common languages; a year and an address in brackets need no language.
_WROTE: Final = re.compile(
    r"\b(?:wrote|writes|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|geschreven)\b|のメール|書きました|書いた",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"(?:On|Am|Le|El|Em|Il|Op)\b")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_BRACKETED: Final = re.compile(r"<[^\s<>@]{1,100}@[^\s<>@]{1,100}>")
_SINCE: Final = re.compile(r"[\d@]")
_LONGEST_INTRODUCTION: Final = 400
_MOST_INTRODUCING: Final = 4
"""Lines over which a program may break an introduction."""

MOST_PARAGRAPHS: Final = 200
"""Paragraphs of one reply; a longer text has no commands."""

MOST_LINES: Final = 4000
"""Lines of one reply that are looked at: those of several of our longest emails."""

_PROGRAM_LINE: Final = re.compile(
    # Programs that sign within the text add lines around it.
    r"-+BEGIN PGP SIGNED MESSAGE-+|Hash: [\w, -]{1,60}"
    r"|\W*+(?:Sent (?:from|via|with|using)\b.*|Get Outlook for\b.*"
    r"|(?:Von|Aus) (?:meinem|meiner|unterwegs|Outlook|mir)\b.*\bgesendet\b.*|Gesendet (?:von|mit|über|aus)\b.*"
    r"|(?:Diese Nachricht wurde von meinem|Holen Sie sich Outlook|Outlook für)\b.*"
    r"|Envoyé (?:de(?:puis)?|à partir de|avec|par)\b.*|(?:Obtenez|Télécharger) Outlook\b.*"
    r"|Enviado (?:desde|do|de|com|con|a partir)\b.*|(?:Obtener|Obter|Obtenha|Baixe o) Outlook\b.*"
    r"|Inviato da\b.*|(?:Verstuurd|Verzonden) (?:vanaf|vanuit|met|via)\b.*"
    r"|.{0,40}(?:iPhone|iPad|Android|スマホ|携帯)\S{0,12}から送信.*)",
    re.IGNORECASE,
)

# Between pairs of tildes, perhaps over several lines or on lines of their own; between tags, whose text goes on to the end if
# none closes it; or letter by letter with a stroke over each.
_STRUCK: Final = re.compile(
    r"(?:(?<![\w~])~~(?=[^\s~])|^[^\w\n~]*~~[^\S\n]*$)(?:(?!~~).)+~~(?:(?<=\S~~)|(?!\w))"
    r"|<(?P<tag>s|strike|del)\b[^<>\n]{0,100}>.*?(?:</(?P=tag)>|\Z)"
    r"|\[(?P<code>s|strike|del)\].*?(?:\[/(?P=code)\]|\Z)"
    r"|(?:[^\n][\u0334-\u0338\u20d2\u20d3\u20e5\u20eb]+)+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)

_ENDS_A_SENTENCE: Final = tuple('.!?:;,…。！？)»”"')
_BROKEN_FROM: Final = 66
_BROKEN_TO: Final = 80
"""Programs break lines between these columns. A sentence was broken if its next word would not have fitted before the first."""


def split_lines(text: str) -> list[Line]:
    """The lines of a text in which `>` marks quotes."""
    return [Line(line, bool(_QUOTE_MARKS.match(line))) for line in text.split("\n")]


def own_paragraphs(lines: Sequence[Line]) -> tuple[str, ...]:
    """The writer's own paragraphs without what was struck through; a line that no program has broken is one."""
    text = "\n".join(islice(_joined(_own(lines[:MOST_LINES])), MOST_PARAGRAPHS))
    unstruck = _STRUCK.sub(lambda found: "\n" * found[0].count("\n"), text)
    return tuple(line.strip() for line in unstruck.split("\n") if line.strip())


def _own(lines: Sequence[Line]) -> Iterator[Line]:
    """The writer's own lines; an empty line replaces everything removed."""
    at, in_signature = 0, False
    while at < len(lines):
        line = lines[at]
        text = line.text.strip()
        if line.quoted:
            # A reply may continue below the signature, around quotes.
            in_signature = False
            at = _past_broken_quote(lines, at)
            yield Line("")
            continue
        if _MARKED.search(text):
            return
        program_line = len(text) <= _LONGEST_INTRODUCTION and _PROGRAM_LINE.fullmatch(text)
        if text and not program_line and (introducing := _introducing(lines, at)) > 0:
            at += introducing
            if not _quoted_next(lines, at):
                return
            yield Line("")
            continue
        in_signature = in_signature or bool(_SIGNATURE.fullmatch(text))
        hidden = in_signature or program_line
        yield Line("") if hidden else Line(text, whole=line.whole)
        at += 1


def _past_broken_quote(lines: Sequence[Line], at: int) -> int:
    """The index after a quoted line, and after the unmarked rest that a program has broken off it."""
    text = Line(_QUOTE_MARKS.sub("", lines[at].text).strip(), whole=lines[at].whole)
    at += 1
    if at < len(lines) and not lines[at].quoted and (_is_cut(text, lines[at]) or _breaks(lines[at - 1], lines[at])):
        at += 1
        while at < len(lines) and not lines[at].quoted and _breaks(lines[at - 1], lines[at]):
            at += 1
    return at


def _is_cut(quoted: Line, after: Line) -> bool:
    """Whether the quoted line is the beginning of one of our sentences, and not a heading or a short command."""
    text = quoted.text
    if quoted.whole or not after.text.strip() or text.endswith((*_ENDS_A_SENTENCE, "]")):
        return False
    return len(text.split()) >= _WORDS_OF_A_SENTENCE and not text.isupper()


def _introducing(lines: Sequence[Line], at: int) -> int:
    """The number of lines from here on that introduce a quote."""
    if not _may_introduce(lines, at):
        return 0
    block = [line.text.strip() for line in _unquoted(lines, at)]
    if _is_separator(block[0]):
        return 1 + _introducing_more(lines, at + 1)
    headers = max(_headers(block), _foreign_headers(block))
    if headers:
        return headers
    for count in range(1, min(_MOST_INTRODUCING, len(block)) + 1):
        if not block[count - 1]:
            break
        sentence = " ".join(block[:count])
        rest = " ".join(block[1:count])
        if _introduces(rest) and (_OPENING.match(rest) or _evidence(rest) == _evidence(sentence)):
            # The rest introduces the quote as well without this line, which is the writer's.
            return 0
        # Without a date and an address it could be the writer's own, unless a quote follows.
        if _introduces(sentence) and (_SINCE.search(sentence) or _quoted_next(lines, at + count)):
            return count
    return 0


def _may_introduce(lines: Sequence[Line], at: int) -> bool:
    """Whether a line may introduce a quote, as few do: by its colon, as a separator, or with the end of a sentence below."""
    text = lines[at].text
    ends = (line.text.rstrip().endswith((":", "：", ">")) for line in lines[at : at + _MOST_INTRODUCING])
    return ":" in text or "：" in text or _is_separator(text.strip()) or any(ends)


def _is_separator(text: str) -> bool:
    """Whether a line is a row of dashes, with or without words between them, or announces a forwarded message."""
    bare = text.replace(" ", "")
    if len(bare) >= _SHORTEST_RULE and not bare.strip(_RULE):
        return True
    return bool(_NAMED_RULE.fullmatch(text) or _FORWARDED.fullmatch(text))


def _introduces(text: str) -> bool:
    """Whether a sentence introduces a quote: it names the writer, with a date or an address."""
    if len(text) > _LONGEST_INTRODUCTION or not text.endswith((":", "：", ">")):
        return False
    dated, addressed, wrote = _evidence(text)
    if text.endswith(">"):
        return dated and addressed and "年" in text
    return (dated and addressed) or wrote


def _evidence(text: str) -> tuple[bool, bool, bool]:
    """Whether there is a year in a sentence, an address, and a word for writing."""
    return bool(_YEAR.search(text)), bool(_BRACKETED.search(text)), bool(_WROTE.search(text))


def _introducing_more(lines: Sequence[Line], at: int) -> int:
    """The number of lines after a separator that are empty or a block of headers."""
    block = [line.text.strip() for line in _unquoted(lines, at)]
    empty = next((n for n, text in enumerate(block) if text), len(block))
    headers = max(_headers(block[empty:]), _foreign_headers(block[empty:]))
    return empty + headers if headers else 0


def _headers(block: Sequence[str]) -> int:
    """The number of lines in a block of headers: at least two different ones, which may be broken or spaced out."""
    names, last = set(), 0
    for at, text in enumerate(block):
        match = _HEADER.fullmatch(text)
        if match is not None:
            names.add(match["name"].casefold())
            last = at + 1
        elif at == 0 or at - last >= 2:
            break
    return last if len(names) >= 2 else 0


def _foreign_headers(block: Sequence[str]) -> int:
    """The number of lines in a block of headers of any language; none if its first line may be the writer's own."""
    adds_nothing = not _ADDRESS.search(block[0] if block else "") and _labelled(block[1:])
    return 0 if adds_nothing else _labelled(block)


def _labelled(block: Sequence[str]) -> int:
    """The number of lines with labels, which may be broken or spaced out, if these are headers."""
    names: set[str] = set()
    last = 0
    for at, text in enumerate(block):
        name = _label(text)
        if name and name not in names:
            names.add(name)
            last = at + 1
        elif at == 0 or at - last >= 2:
            break
    headers = block[:last]
    dated = [text for text in headers if _DATE.search(text)]
    addressed = any(_ADDRESS.search(text) for text in headers) or any(_TIME.search(text) for text in dated)
    return last if len(names) >= _FEWEST_LABELS and dated and addressed else 0


def _label(text: str) -> str:
    """The words before the colon of a line, if it could be a header; empty if it could be a command."""
    match = _LABELLED.fullmatch(text)
    words = [] if match is None else match[1].casefold().strip("*_ ").split()
    is_command = bool(words) and words[0] in _COMMANDS
    return "" if is_command or len(words) > _MOST_WORDS_OF_A_LABEL else " ".join(words)


def _unquoted(lines: Sequence[Line], at: int, most: int = 16) -> list[Line]:
    found: list[Line] = []
    for line in lines[at : at + most]:
        if line.quoted:
            break
        found.append(line)
    return found


def _quoted_next(lines: Sequence[Line], at: int) -> bool:
    """Whether the next line that is not empty is quoted."""
    return next((lines[n].quoted for n in range(at, len(lines)) if lines[n].text.strip()), False)


def _joined(lines: Iterator[Line]) -> Iterator[str]:
    last: Line | None = None
    text = ""
    for line in lines:
        if last is not None and line.text and _breaks(last, line):
            text = f"{text} {line.text}"
        else:
            if text:
                yield text
            text = line.text
        last = line
    if text:
        yield text


def _breaks(last: Line, line: Line) -> bool:
    """Whether a program has broken a sentence between these lines: the first is full, and does not end one."""
    text, words = last.text.rstrip(), line.text.split()
    if last.whole or not text or not words or text.endswith(_ENDS_A_SENTENCE):
        return False
    is_full = len(text) <= _BROKEN_TO and len(text) + 1 + len(words[0]) > _BROKEN_FROM
    return is_full and not ends_message(line.text)


def quoted_turn(text: str) -> int | None:
    """The turn of our email that a text quotes; None if it quotes none."""
    match = MARKER.search(text)
    return None if match is None else int(match[1])
