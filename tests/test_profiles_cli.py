"""`turnlint profiles`: the output is the effective profile, and can be read back."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from commands import run_cli
from hostile import POISONS, assert_ended_well, assert_safe
from turnlint.cli.profile_text import text_of
from turnlint.own_profiles import read
from turnlint.profiles import Capabilities, CapabilitySource, Known, Profile, Weight
from turnlint.providers import Providers
from turnlint.rulebook import BUILTIN

PROVIDERS = Providers([BUILTIN])
NAMES = PROVIDERS.names()
LABELS = [profile.label for name in NAMES for profile in PROVIDERS.versions(name)]


def turnlint(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    return run_cli(*arguments, cwd=cwd, env={**os.environ, "PYTHONIOENCODING": "utf-8", **env})


def assert_means_the_same(one: Profile, other: Profile) -> None:
    """Compare all parts of a profile that a run uses."""
    for name in ("name", "title", "version", "about", "wires", "hosts", "models", "paths", "capabilities"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.by_code == other.by_code
    assert one.weights == other.weights
    assert one.known == other.known


def read_back(text: str, folder: Path) -> tuple[Profile, ...]:
    path = folder / "saved.yaml"
    path.write_text(text, encoding="utf-8")
    (found,) = read([str(path)], [BUILTIN]).values()
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_provider_that_is_saved_and_read_is_equal(name: str, tmp_path: Path) -> None:
    versions = PROVIDERS.versions(name)
    again = read_back(text_of(versions), tmp_path)
    assert len(again) == len(versions)
    for one, other in zip(versions, again, strict=True):
        assert_means_the_same(one, other)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("label", LABELS)
def test_one_version_that_is_saved_and_read_is_equal(label: str, tmp_path: Path) -> None:
    (profile,) = PROVIDERS.named(label if "@" in label else f"{label}@")
    (again,) = read_back(text_of((profile,)), tmp_path)
    assert_means_the_same(profile, again)


@pytest.mark.slow
def test_all_providers_fit_into_one_file(tmp_path: Path) -> None:
    everything = tuple(profile for name in NAMES for profile in PROVIDERS.versions(name))
    assert [item.label for item in read_back(text_of(everything), tmp_path)] == LABELS


@pytest.mark.parametrize("poison", POISONS)
def test_hostile_text_is_read_back_and_controls_no_terminal(poison: str, tmp_path: Path) -> None:
    text = POISONS[poison][:9000]
    profile = Profile(
        name="x", title=text, about=f"{text}\n\t'\"\\: # - ", wires=("openai-chat",), hosts=(text, "", "yes", "- a"),
        capabilities=Capabilities(
            format=text, quirks=(text, "null", "1.0", "~", " ", "a: b", "\n", "::error::"),
            sources=(CapabilitySource(of=("format", "quirks"), source=text, date=text),),
        ),
        weights=(Weight(rule="orphan-result", source=text, date="2026-11-05", says="no: {id} #"),),
        known=(Known(pattern="a", rules=(), sample=f"a {text}", source="\\n", date="", status="recalled"),),
    )  # fmt: skip
    written = text_of((profile,))
    assert_safe(written.encode("utf-8", "surrogatepass"), "yaml") if "surrogate" not in poison else None
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text) or "\0" in text:
        return  # YAML cannot spell these
    (again,) = read_back(written, tmp_path)
    assert_means_the_same(profile, again)


def test_a_profile_is_printed_with_its_evidence(tmp_path: Path) -> None:
    run = turnlint("profiles", "anthropic", cwd=tmp_path)
    assert_ended_well(run)
    assert run.returncode == 0
    text = run.stdout.decode()
    assert "\nclauses:\n# PR301: Call ids contain only these characters.\n- rule: id-charset\n" in text
    assert text.count("  source: ") >= text.count("- rule: ") > 0
    (tmp_path / "mine.yaml").write_bytes(run.stdout)
    again = turnlint(
        "profiles", "anthropic", "--profile", "mine.yaml", "--output-format", "json", cwd=tmp_path
    )
    built_in = turnlint("profiles", "anthropic", "--output-format", "json", cwd=tmp_path)
    assert json.loads(again.stdout)[0]["known"] == json.loads(built_in.stdout)[0]["known"]
    assert len(json.loads(again.stdout)) == 2 * len(json.loads(built_in.stdout))


def test_the_list_names_every_provider(tmp_path: Path) -> None:
    rows = json.loads(turnlint("profiles", "--output-format", "json", cwd=tmp_path).stdout)
    assert [row["profile"] for row in rows] == NAMES
    for row in rows:
        assert row["clauses"] == len(PROVIDERS.versions(row["profile"])[0].clauses)
    for kind, mark in (("table", "  "), ("markdown", "|")):
        lines = turnlint("profiles", "--output-format", kind, cwd=tmp_path).stdout.decode().splitlines()
        for name in NAMES:
            assert any(name in line.replace(mark, " ").split() for line in lines), name


def test_the_matrix_shows_known_and_unknown_capabilities(tmp_path: Path) -> None:
    rows = {
        row["profile"]: row
        for row in json.loads(
            turnlint("profiles", "--matrix", "--output-format", "json", cwd=tmp_path).stdout
        )
    }
    assert set(NAMES) <= {label.partition("@")[0] for label in rows}
    assert rows["shared"]["parallel_calls"] is False
    for kind in ("table", "markdown"):
        lines = (
            turnlint("profiles", "--matrix", "--output-format", kind, cwd=tmp_path)
            .stdout.decode()
            .splitlines()
        )
        (line,) = [line for line in lines if line.lstrip("| ").startswith("shared ")]
        assert {"no", "?", "openai-chat"} <= set(line.replace("|", " ").split())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("antropic",), "did you mean 'anthropic'?"),
        (("shared@9",), "unknown version '9' of shared"),
        (("shared", "--matrix"), "it takes no NAME"),
        (("shared", "--output-format", "markdown"), "a single profile"),
        (("--output-format", "xml"), "unknown output format 'xml'"),
        (("--profile", "missing.yaml"), "missing.yaml: no such file"),
        (("\x1b[31m",), "\\x1b[31m"),
    ],
)
def test_an_unknown_profile_is_a_usage_error(
    arguments: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    run = turnlint("profiles", *arguments, cwd=tmp_path)
    assert_ended_well(run)
    assert (run.returncode, run.stdout) == (2, b"")
    assert expected in run.stderr.decode()
