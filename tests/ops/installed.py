"""An environment as an operator has it: our two wheels and a game's, installed, and nothing of this checkout.

The libraries come from the environment of the tests, so that nothing is fetched; what is ours comes from the wheels, which
stand before it on the path.
"""

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.ops.processes import WAIT

ROOT = Path(__file__).resolve().parents[2]
TOY = ROOT / "tests" / "engine" / "toys" / "published"


@dataclass(frozen=True)
class Environment:
    """A virtual environment and the commands in it."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def pbem(self) -> Path:
        """The server's command."""
        return self.folder / "bin" / "pbem"

    def pip(self, *words: str) -> None:
        """Run pip for it; nothing is fetched."""
        _run(sys.executable, "-m", "pip", "--python", str(self.python), *words)


def build(source: Path, wheels: Path) -> Path:
    """Build the wheel of a project; the file."""
    before = set(wheels.glob("*.whl"))
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(source))
    (made,) = set(wheels.glob("*.whl")) - before
    return made


def environment(folder: Path, *wheels: Path) -> Environment:
    """A new environment with these wheels."""
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    made = Environment(folder)
    inside = next((folder / "lib").glob("python*/site-packages"))
    # Only what stands in a file of this kind is put behind the environment's own packages.
    (inside / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    made.pip("install", "--quiet", "--no-deps", "--no-index", "--no-compile", *map(str, wheels))
    return made


def _run(*words: str) -> None:
    done = subprocess.run(
        words, cwd=ROOT.anchor, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WAIT, check=False
    )
    assert done.returncode == 0, done.stdout
