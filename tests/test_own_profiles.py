"""Profiles of users: their meaning, and the errors in invalid ones.

Beside each bad sample in `fixtures/profiles` is a file with its errors; `--bless` rewrites it.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli
from hostile import assert_ended_well
from turnlint.errors import ProfilesError
from turnlint.own_profiles import read
from turnlint.own_profiles.shape import schema
from turnlint.profiles import Profile
from turnlint.providers import Providers
from turnlint.rulebook import BUILTIN
from turnlint.testing import rows_of

SAMPLES = Path(__file__).parent.parent / "fixtures" / "profiles"
BAD = sorted(path for path in SAMPLES.glob("*.yaml") if path.with_suffix(".txt").exists())
GOOD = sorted(path for path in SAMPLES.glob("*.yaml") if path not in BAD)


def profiles_in(text: str, folder: Path) -> tuple[Profile, ...]:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    (found,) = read([str(path)], [BUILTIN]).values()
    return found


def sample(name: str) -> tuple[Profile, ...]:
    (found,) = read([str(SAMPLES / f"{name}.yaml")], [BUILTIN]).values()
    return found


def built_in(name: str) -> Profile:
    return Providers([BUILTIN]).versions(name)[0]


def turnlint(*arguments: str, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return run_cli(*arguments, cwd=cwd, input=stdin, env={**os.environ, "PYTHONIOENCODING": "utf-8"})


def lint(wire: str, messages: list[Any], own: Path, *more: str) -> list[dict[str, Any]]:
    log = own.parent / "log.jsonl"
    log.write_text(json.dumps({"model": "m", "messages": messages}) + "\n")
    arguments = ("lint", str(log), "--format", wire, "--output-format", "json", *more)
    run = turnlint(*arguments, cwd=own.parent)
    assert run.returncode in (0, 1), run.stderr
    findings: list[dict[str, Any]] = json.loads(run.stdout)["findings"]
    return findings


def call(name: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "1"}]},
    ]


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_profile_is_reported_in_sentences_with_positions(
    path: Path, bless: bool, tmp_path: Path
) -> None:
    run = turnlint("lint", ".", "--profile", path.name, cwd=SAMPLES)
    printed = run.stderr.decode().partition("\n\nError: ")[2]
    expected = path.with_suffix(".txt")
    if bless:
        expected.write_text(printed, encoding="utf-8")
    assert (run.returncode, run.stdout) == (2, b"")
    assert_ended_well(run)
    assert printed == expected.read_text(encoding="utf-8")
    assert all(line.startswith(path.name) for line in printed.splitlines())
    assert turnlint("profiles", "--profile", path.name, cwd=SAMPLES).returncode == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_profile_is_accepted_and_matches_the_schema(path: Path) -> None:
    from jsonschema import Draft202012Validator
    from ruamel.yaml import YAML

    assert read([str(path)], [BUILTIN])[str(path)]
    for document in YAML(typ="safe", pure=True).load_all(path.read_text(encoding="utf-8")):
        if document is not None:
            text = json.dumps(document, default=str)
            Draft202012Validator(schema()).validate(json.loads(text.replace('"version": 1.1', '"version": "1.1"')
                                                    .replace('"version": 1.2', '"version": "1.2"')))  # fmt: skip


def test_good_and_bad_samples_exist() -> None:
    assert len(GOOD) >= 4
    assert len(BAD) >= 20


def test_a_profile_that_extends_another_has_only_differences() -> None:
    (mine,) = sample("extends-a-provider")
    other = built_in("anthropic")
    assert mine.wires == other.wires
    assert mine.paths == other.paths
    assert mine.hosts == ("llm.example.com",)
    assert mine.models == ""
    assert mine.capabilities.max_calls == 4
    assert mine.capabilities.schema == other.capabilities.schema
    replaced = {"PR301", "PR302"}
    assert {code: found for code, found in mine.by_code.items() if code not in replaced} == {
        code: found for code, found in other.by_code.items() if code not in replaced
    }
    assert [clause.source for code in sorted(replaced) for clause in mine.by_code[code]] == [
        "your own profile"
    ] * 2
    assert mine.weights == other.weights
    assert mine.known[:-1] == other.known
    assert mine.known[-1].rules == ("id-length",)


def test_an_empty_profile_is_the_conservative_one() -> None:
    (mine,) = sample("only-a-name")
    shared = built_in("shared")
    assert (mine.title, mine.wires, mine.capabilities) == ("nobody", shared.wires, shared.capabilities)
    assert (mine.clauses, mine.weights, mine.known, mine.hosts) == ((), (), (), ())


def test_given_capabilities_replace_the_defaults(tmp_path: Path) -> None:
    (mine,) = profiles_in("name: x\nwires: [anthropic]\ncapabilities: {max_calls: 3}\n", tmp_path)
    assert (mine.capabilities.format, mine.capabilities.max_calls) == ("anthropic", 3)
    assert mine.capabilities.parallel_calls is None
    assert mine.capabilities.quirks == ()


def test_a_null_removes_a_value_of_the_extended_profile(tmp_path: Path) -> None:
    (mine,) = profiles_in("name: x\nextends: anthropic\ncapabilities: {max_messages: null}\n", tmp_path)
    assert built_in("anthropic").capabilities.max_messages is not None
    assert mine.capabilities.max_messages is None


def test_documents_may_share_anchors_and_extend_each_other() -> None:
    first, other, second = sample("several-documents")
    assert [item.label for item in (first, other, second)] == ["first@1.10", "first@1.2", "second"]
    assert [clause.date for clause in first.clauses] == ["2026-11-05"] * 2
    assert second.clauses == ()


def test_a_later_file_may_extend_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\nclauses: [{rule: id-length, most: 3}]\n")
    (tmp_path / "b.yaml").write_text("name: b\nextends: a\n")
    paths = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
    found = read(paths, [BUILTIN])
    assert found[paths[1]][0].clauses == found[paths[0]][0].clauses
    with pytest.raises(ProfilesError, match="unknown provider 'a'"):
        read(paths[::-1], [BUILTIN])


def test_a_profile_with_a_built_in_name_takes_precedence(tmp_path: Path) -> None:
    before = {row.finding.severity for row in rows_of(_orphan(), "anthropic", "anthropic")}
    assert before == {"error"}
    own = SAMPLES / "overrides-a-built-in.yaml"
    (tmp_path / "own.yaml").write_bytes(own.read_bytes())
    messages = json.loads(_orphan())["messages"]
    for more in ((), ("--provider", "anthropic")):
        found = lint("anthropic", messages, tmp_path / "own.yaml", "--profile", "own.yaml", *more)
        (orphan,) = [item for item in found if item["rule"] == "orphan-result"]
        assert (orphan["severity"], orphan["provider"]) == ("info", "anthropic")
        assert orphan["provider_error"] == "no call has the id toolu_9"


def _orphan() -> bytes:
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "1"}
    return json.dumps({"model": "claude-x", "messages": [{"role": "user", "content": [result]}]}).encode()


def test_a_weight_of_an_own_profile_applies_to_its_provider_only(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: mine\nextends: anthropic\nweights: [{rule: orphan-result, severity: info}]\n")
    messages = json.loads(_orphan())["messages"]
    levels = {
        provider: {item["severity"] for item in found if item["rule"] == "orphan-result"}
        for provider in ("mine", "anthropic")
        if (found := lint("anthropic", messages, own, "--profile", "own.yaml", "--provider", provider))
        or True
    }
    assert levels == {"mine": {"info"}, "anthropic": {"error"}}


@pytest.mark.parametrize(
    "arguments", [("--profile", "own.yaml", "--provider", "gateway"), ("--provider", "own.yaml")]
)
def test_a_clause_of_a_user_is_checked_and_reported_in_the_users_words(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    own = tmp_path / "own.yaml"
    own.write_bytes((SAMPLES / "extends-a-provider.yaml").read_bytes())
    assert not [
        event for event in lint("anthropic", call("abc"), own, *arguments) if event["code"] == "PR301"
    ]
    found = [event for event in lint("anthropic", call("abc_1"), own, *arguments) if event["code"] == "PR301"]
    assert found
    assert {item["provider"] for item in found} == {"gateway"}


def test_without_a_provider_an_unreachable_profile_is_reported(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("name: mine\n")
    (tmp_path / "log.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    run = turnlint("lint", "log.jsonl", "--profile", "own.yaml", cwd=tmp_path)
    assert run.returncode == 0
    assert b"add --provider mine" in run.stderr
    quiet = turnlint("lint", "log.jsonl", "--profile", "own.yaml", "--provider", "mine", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, b"")


HOSTILE = {
    "large": b"name: mine\nabout: " + b"x" * (10 << 20) + b"\n",
    "binary": bytes(range(256)) * 64,
    "nul": b"name: mine\n\0",
    "utf-16": "name: mine\n".encode("utf-16"),
    "deep-flow": b"name: mine\nhosts: " + b"[" * 100_000,
    "deep-flow-that-closes": b"name: mine\nhosts: " + b"[" * 5000 + b"]" * 5000,
    "deep-block": b"- " * 100_000,
    "deep-mapping": b"name: mine\ncapabilities: " + b"{a: " * 5000 + b"1" + b"}" * 5000,
    "long-number": b"name: mine\ncapabilities: {max_calls: " + b"9" * 10_000 + b"}\n",
    "many-keys": b"name: mine\n" + b"".join(b"k%d: 1\n" % number for number in range(20_000)),
    "many-documents": b"---\nname: a\n" * 20_000,
    "late-yaml": b"%YAML 9.1\n---\nname: mine\n",
    "long-expression": b"name: mine\nmodels: '" + b"(" * 20_000 + b"'\n",
    "empty": b"",
    "sets": b"name: mine\nhosts: !!set {a}\n",
    "bytes": b"name: !!binary bWluZQ==\n",
}


LARGE = ("many-documents", "many-keys", "deep-flow-that-closes")


@pytest.mark.parametrize(
    "kind", [pytest.param(item, marks=pytest.mark.slow) if item in LARGE else item for item in HOSTILE]
)
def test_any_file_gives_at_most_an_error_sentence(kind: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_bytes(HOSTILE[kind])
    run = turnlint("profiles", "--profile", "own.yaml", cwd=tmp_path)
    assert_ended_well(run)
    assert (run.returncode, run.stdout) == (2, b"")
    printed = run.stderr.partition(b"Error: ")[2]
    assert printed.startswith(b"own.yaml")
    assert len(printed) < 8000


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_special_file_is_a_usage_error(name: str, tmp_path: Path) -> None:
    run = turnlint("profiles", "--profile", name, cwd=tmp_path)
    assert_ended_well(run)
    assert run.returncode == 2
    assert name.encode() in run.stderr


def test_the_schema_names_every_kind_of_clause_and_explains_it(tmp_path: Path) -> None:
    run = turnlint("schema", "profile", cwd=tmp_path)
    assert json.loads(run.stdout) == json.loads(json.dumps(schema()))
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema())
    definitions = schema()["$defs"]
    kinds = [ref["$ref"].rsplit("/", 1)[-1] for ref in schema()["properties"]["clauses"]["items"]["anyOf"]]
    assert len(kinds) == 26
    for kind in kinds:
        assert definitions[kind]["description"]
        assert definitions[kind]["properties"]["rule"]["enum"] == [kind]
        assert definitions[kind]["additionalProperties"] is False
        assert not {"source", "date"} & set(definitions[kind]["required"])
    notes = [
        value
        for definition in definitions.values()
        for value in definition["properties"].values()
        if "description" in value
    ]
    assert len(notes) > 100
