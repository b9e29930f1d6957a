"""Issue 17, spec 003 §8: capabilities with sources, and conservative defaults for an unknown provider."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import turnlint
from turnlint.api import OverLimit
from turnlint.clauses import ToolsMissing
from turnlint.cli import cli
from turnlint.errors import InputError, TurnlintError
from turnlint.own_profiles import read
from turnlint.packages import packages
from turnlint.profiles import Profile
from turnlint.providers import Providers

KNOWN = Providers(packages())
PROFILES = [profile for name in KNOWN.names() for profile in KNOWN.versions(name)]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"})


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.label)
def test_each_capability_value_has_a_source_with_a_date(profile: Profile) -> None:
    assert profile.capability_sources.keys() == profile.capabilities.told.keys()
    for source, date in profile.capability_sources.values():
        assert len(source) > 5
        assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", date)
    keys = [key for one in profile.capabilities.sources for key in one.of]
    assert len(keys) == len(set(keys)), "a value has one source"


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.label)
def test_capabilities_agree_with_the_clauses(profile: Profile) -> None:
    limits = [
        one for one in profile.clauses if isinstance(one, OverLimit) and not (one.models or one.other_models)
    ]
    if profile.name != "shared":  # assumes less than its clause rejects
        for one in limits:
            assert getattr(profile.capabilities, f"max_{one.what}", one.most) == one.most
    needs_tools = any(isinstance(one, ToolsMissing) and one.history for one in profile.clauses)
    assert (profile.capabilities.requires_schema is True) == needs_tools


def test_the_matrix_shows_requires_schema_and_sources() -> None:
    rows = {
        row["profile"]: row
        for row in json.loads(run("profiles", "--matrix", "--output-format", "json").stdout)
    }
    assert (rows["bedrock"]["requires_schema"], rows["openai"]["requires_schema"]) == (True, False)
    assert rows["kimi@k2"]["requires_schema"] is None
    assert rows["openai"]["sources"]["max_tools"] == {
        "source": "openai-openapi f85dbe2; Tools4AI 16, zed 32946", "date": "2026-08",
    }  # fmt: skip
    table = run("profiles", "--matrix").stdout.splitlines()
    assert "tools required" in table[0]
    shown = run("profiles", "openai").stdout
    assert "  requires_schema: false\n" in shown
    assert "  - of: [requires_schema]\n    source: '57 recorded requests" in shown


def calls(count: int) -> list[dict[str, Any]]:
    asked = [
        {"id": f"c{n}", "type": "function", "function": {"name": "count", "arguments": "{}"}}
        for n in range(count)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "1"} for n in range(count)]
    user = {"role": "user", "content": "Count."}
    return [user, {"role": "assistant", "content": None, "tool_calls": asked}, *results, user]


@pytest.mark.parametrize(
    ("count", "expected"), [(2, []), (128, []), (129, [("PR319", "warning", "own-server")])]
)
def test_conservative_defaults_apply_to_an_unknown_provider(count: int, expected: list[Any]) -> None:
    with pytest.warns(
        UserWarning, match="unknown provider 'own-server': conservative defaults apply"
    ) as caught:
        found = turnlint.lint(calls(count), provider="own-server")
    assert [(one.code, one.severity, one.provider) for one in found] == expected
    assert Path(caught[0].filename).name == Path(__file__).name


@pytest.mark.parametrize("host", ["", "api.own-server.example"])
def test_conservative_defaults_apply_to_a_record_of_an_unknown_provider(host: str) -> None:
    found = turnlint.lint({"host": host, "request": {"model": "own-server-1", "messages": calls(129)}})
    assert [(one.code, one.severity, one.provider) for one in found] == [("PR319", "warning", "shared")]


def test_an_unknown_provider_is_a_remark_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.json").write_text(json.dumps({"messages": calls(129)}))
    remark = "turnlint: unknown provider 'own-server': conservative defaults apply; `turnlint profiles` lists the known providers\n"
    linted = run("lint", "log.json", "--provider", "own-server", "--output-format", "concise")
    assert (linted.exit_code, linted.stderr) == (0, remark)
    assert "PR319[warning] over-limit at own-server" in linted.stdout
    fixed = run("fix", "log.json", "--provider", "own-server", "--check")
    assert (fixed.exit_code, fixed.stderr) == (0, remark)
    assert "would be accepted by own-server: unknown; its rules are not known" in fixed.stdout
    shown = run("profiles", "own-server")
    assert (shown.exit_code, shown.stderr) == (0, remark)
    assert "  parallel_calls: false\n" in shown.stdout
    assert "  max_calls: 1\n" in shown.stdout
    assert run("ids", "log.json", "--provider", "own-server").stderr == remark
    Path("turnlint.yaml").write_text("provider: own-server\n")
    assert run("lint", "log.json").stderr == remark
    assert run("why", "no such text", "log.json", "--provider", "own-server").exit_code == 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("opnai", "did you mean 'openai'"), ("ANTHROPIC", "did you mean 'anthropic'"), ("gemni", "did you mean 'gemini'"),
        ("openai@41", "unknown version '41' of openai"), ("own-server@2", "unknown provider 'own-server'"),
        ("own-server.json", "unknown provider 'own-server.json'"), ("a b", "unknown provider 'a b'"), ("-", "unknown provider '-'"),
    ],
)  # fmt: skip
def test_a_misspelled_provider_is_an_error_with_the_nearest_name(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        turnlint.lint(calls(1), provider=name)


def test_a_profile_of_a_user_has_a_source_for_each_value(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nextends: openai\ncapabilities: {max_calls: 5, requires_schema: true}\nclauses: []\n"
    )
    (profile,) = read([str(file)], packages())[str(file)]
    base = KNOWN.versions("openai")[0]
    assert (profile.capabilities.max_calls, profile.capabilities.requires_schema) == (5, True)
    assert profile.capability_sources["requires_schema"] == ("your own profile", "")
    assert profile.capability_sources["max_calls"] == ("your own profile", "")
    assert profile.capability_sources["parallel_calls"] == base.capability_sources["parallel_calls"]
    file.write_text(run("profiles", "openai@40").stdout)
    (again,) = read([str(file)], packages())[str(file)]
    assert again.capability_sources == base.capability_sources
    file.write_text("name: bad\ncapabilities: {sources: [{of: [schema], source: 1}]}\n")
    with pytest.raises(TurnlintError):
        read([str(file)], packages())
