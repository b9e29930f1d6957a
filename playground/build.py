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
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

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
TIMEOUT_ASKING = 20
PACKAGES = ("build", "hatchling", "setuptools")
NEEDS = (
    f"needs: pip, {', '.join(PACKAGES)}; a connection to {urlsplit(PYODIDE[0]).netloc} (Pyodide, about 6 MB) and to the "
    "package index of pip (msgspec); 20 MB of disk"
)


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


def missing() -> list[str]:
    """What the build needs and this machine does not have, with the command that helps."""
    needs = {"pip": "python -m ensurepip", **{name: f"python -m pip install {name}" for name in PACKAGES}}
    found = [f"{name} is not installed: {helps}" for name, helps in needs.items() if find_spec(name) is None]
    request = urllib.request.Request(PYODIDE[0], method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=TIMEOUT_ASKING).close()
    except OSError as error:
        found.append(f"{PYODIDE[0]} cannot be reached: {getattr(error, 'reason', error)}")
    return found


def fill(out: Path) -> None:
    """Put everything into a folder."""
    for name in PAGE:
        shutil.copyfile(HERE / name, out / name)
    runtime(out / "pyodide")
    msgspec(out / "msgspec.whl")
    turnlint(out / "turnlint.whl")


def main(arguments: list[str]) -> None:
    """Build beside the folder that was asked for, and rename in the end: a build that fails leaves nothing behind."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise SystemExit("usage: python playground/build.py OUT")
    out = Path(arguments[0])
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SystemExit(f"{out} exists and is not an empty folder")
    print(NEEDS, file=sys.stderr)
    if lacks := missing():
        raise SystemExit("cannot build:\n" + "\n".join(f"  {one}" for one in lacks))
    above = out.resolve().parent
    made = [one for one in (above, *above.parents) if not one.exists()]
    above.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=above))
    try:
        fill(unfinished)
        unfinished.chmod(0o755)
        if out.exists():
            out.rmdir()
        unfinished.rename(out)
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"cannot build: `{' '.join(map(str, error.cmd[1:4]))} …` failed; it says why above"
        ) from None
    except OSError as error:
        raise SystemExit(f"cannot build: {error}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        for one in () if out.exists() else made:
            one.rmdir()
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size / 1e6:.1f} MB; serve it, for one with `python -m http.server --directory {out}`")


if __name__ == "__main__":
    main(sys.argv[1:])
