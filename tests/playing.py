"""The Python side of the playground, loaded from its folder."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "playground"
FIXTURES = ROOT / "fixtures"


def module(name: str) -> Any:
    spec = spec_from_file_location(f"playground_{name}", PAGE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


answering = module("answering")
OFFERS = json.loads(answering.offers())
