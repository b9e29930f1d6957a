"""Puts the playground into a folder that any static server can serve: `python playground/build.py OUT`.

This module owns what is downloaded, in which versions, and what stands where. What is downloaded is checked for its
digest, and only here: the page loads nothing from elsewhere.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = (
    "index.html",
    "playground.css",
    "playground.js",
    "worker.js",
    "engine.js",
    "answering.py",
    "example.jsonl",
)
PYODIDE = (
    "https://registry.npmjs.org/pyodide/-/pyodide-314.0.7.tgz",
    "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0",
)
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "package.json",
)
"""What of it a browser loads; the last names its licence and its sources."""
MSGSPEC = "msgspec==0.22.0 --hash=sha256:a66b1766311e42371e509c996c3933b161c7ae0eabdf361af5316dec197e1022"
PLATFORM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "314", "--implementation", "cp", "--abi", "cp314")  # fmt: skip
TIMEOUT = 300


def runtime(into: Path) -> None:
    address, digest = PYODIDE
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        data = answer.read()
    if sha256(data).hexdigest() != digest:
        raise SystemExit(f"{address} is not what it was")
    into.mkdir()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for name in RUNTIME:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            (into / name).write_bytes(member.read())


def msgspec(into: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text(MSGSPEC + "\n")
        python(
            "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", *PLATFORM,
            "--dest", folder, "--requirement", str(wanted),
        )  # fmt: skip
        (wheel,) = Path(folder).glob("*.whl")
        shutil.copyfile(wheel, into)


def turnlint(into: Path) -> None:
    """The wheel without the native scanner, which is compiled for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        python("-m", "build", "--wheel", "--no-isolation", "--outdir", folder, str(HERE.parent))
        (wheel,) = Path(folder).glob("*-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as archive:
            assert not [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        shutil.copyfile(wheel, into)


def python(*arguments: str) -> None:
    environment = {**os.environ, "TURNLINT_PURE": "1"}
    subprocess.run([sys.executable, *arguments], check=True, stdout=sys.stderr, env=environment)


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise SystemExit("usage: python playground/build.py OUT")
    out = Path(arguments[0])
    if out.exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is there and not empty")
    out.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copyfile(HERE / name, out / name)
    runtime(out / "pyodide")
    msgspec(out / "msgspec.whl")
    turnlint(out / "turnlint.whl")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 1e6:.1f} MB; serve it, for one with `python -m http.server --directory {out}`")


if __name__ == "__main__":
    main(sys.argv[1:])
