"""The verifier in the handbook, as a module, for tests that give it many files."""

import json
from importlib import util
from typing import Any, Final

from pbem import paths

SCRIPT: Final = paths.handbook() / "verify_game.py"


def _loaded() -> Any:
    spec = util.spec_from_file_location("verify_game", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERIFIER: Final = _loaded()


def says(document: dict[str, Any], *fingerprints: str) -> str:
    """What the script has against a file; nothing if it is sound."""
    try:
        VERIFIER.check(json.loads(json.dumps(document), object_pairs_hook=VERIFIER.once), [*fingerprints])
    except SystemExit as fault:
        return str(fault)
    except Exception as error:  # noqa: BLE001 - as in the script
        return repr(error)
    return ""
