"""axe-core, the accessibility checker: fetched from npm once, in one version with a known hash.

npm compares the download with the hash in `package-lock.json`. It is stored in `.cache/` of this checkout, never served by the
site and not part of the package.
"""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from tests.conftest import find_tool

_LOCK_FILES: Final = ("package.json", "package-lock.json")
_HERE: Final = Path(__file__).parent
_CACHE: Final = Path(__file__).parents[3] / ".cache" / "axe"
_PROGRAM: Final = _CACHE / "node_modules" / "axe-core" / "axe.min.js"

COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The rules about colours: the only ones whose result can differ between two pages that differ in colours alone."""

RUN: Final = """
async rules => {
    const only = rules.length ? {runOnly: {type: "rule", values: rules}} : {};
    const found = await axe.run(document, {iframes: false, resultTypes: ["violations"], ...only});
    return found.violations.map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node => node.html).join(" | ")}`);
}
"""


def faults_of(page: Page, *rules: str) -> list[str]:
    """The violations on a page, of all rules or only of these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: list[str] = page.evaluate(RUN, list(rules))
    return found


@cache
def _source() -> str:
    if not _is_here():
        _CACHE.mkdir(parents=True, exist_ok=True)
        for name in _LOCK_FILES:
            shutil.copy(_HERE / name, _CACHE / name)
        npm = find_tool("npm")
        assert npm is not None, "a test that looks with axe says that it needs npm"
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=5"]
        subprocess.run(command, cwd=_CACHE, check=True, capture_output=True, text=True, timeout=200)
    return _PROGRAM.read_text()


def _is_here() -> bool:
    """Whether the required version is there. An interrupted download leaves no program."""
    installed = (_CACHE / name for name in _LOCK_FILES)
    required = ((_HERE / name).read_bytes() for name in _LOCK_FILES)
    return _PROGRAM.is_file() and all(
        file.read_bytes() == content for file, content in zip(installed, required, strict=True)
    )
