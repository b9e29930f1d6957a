"""Compiles the native scanner into the wheel, where that can be done.

This module owns the way from `native/` to `turnlint.fastpath._native`. Without a compiler, or with `TURNLINT_PURE` set,
the wheel holds Python alone: it finds the same, more slowly.
"""

import os
import shutil
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "turnlint.fastpath._native"


def digest(folder: Path) -> str:
    """Tells whether what was compiled is what stands there now."""
    sources = sorted(path for path in folder.iterdir() if path.suffix in {".c", ".h"})
    return blake2b(b"".join(path.read_bytes() for path in sources), digest_size=8).hexdigest()


def build(native: Path, into: Path) -> Path:
    """The compiled module. Raises whatever a compiler that is missing or fails makes setuptools raise."""
    from setuptools import Distribution, Extension

    extension = Extension(
        MODULE,
        [os.path.relpath(path) for path in sorted(native.glob("*.c"))],
        define_macros=[("TURNLINT_DIGEST", f'"{digest(native)}"')],
        extra_compile_args=[]
        if sys.platform == "win32"
        else ["-std=c11", "-O3", "-g0", "-fvisibility=hidden"],
        py_limited_api=True,
    )
    command: Any = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(into)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(MODULE))


class Native(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"
    folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        if version == "editable":
            self._clear()
        if os.environ.get("TURNLINT_PURE"):
            return
        self.folder = tempfile.mkdtemp()
        try:
            built = build(Path(self.root, "native"), Path(self.folder))
        except Exception as error:  # noqa: BLE001 - a compiler can fail in any way, and nothing depends on it
            self.app.display_warning(f"the native scanner was not compiled, and is done without: {error}")
            return
        place = Path("turnlint", "fastpath", built.name)
        if version == "editable":
            shutil.copy(built, Path(self.root, "lint", place))
            return
        build_data["force_include"][str(built)] = str(place)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _clear(self) -> None:
        """Take away what was compiled before: it is of other sources. Whoever runs with it keeps the file it has."""
        for path in Path(self.root, "lint", "turnlint", "fastpath").glob("_native.*"):
            if path.suffix in {".so", ".pyd"}:
                path.unlink()

    def finalize(self, *_: Any) -> None:
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
