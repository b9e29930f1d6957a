"""The distribution: two import packages, all their files, and no other."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    return out


def test_the_wheel_has_two_names(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"turnlint", "turnlint_rules"}


def test_the_wheel_has_every_file_of_both(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for base in (ROOT / "lint", ROOT / "rules"):
        for path in base.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert str(path.relative_to(base)) in names
    (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
    text = zipfile.ZipFile(wheel).read(entry_points).decode()
    assert "[turnlint.rules]\nbuiltin = turnlint_rules" in text
    assert "turnlint = turnlint.cli:main" in text


def test_the_source_distribution_has_the_tests_and_their_fixtures(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    for folder in ("lint/turnlint", "rules/turnlint_rules", "tests", "fixtures", "playground"):
        assert any(f"/{folder}/" in name for name in names), folder


def test_nothing_importable_is_beside_the_packages() -> None:
    """An editable install puts both roots on the path: a file in them would be a top-level module."""
    for base, package in ((ROOT / "lint", "turnlint"), (ROOT / "rules", "turnlint_rules")):
        assert [path.name for path in base.iterdir() if path.name != "__pycache__"] == [package]
