"""Settings: the file for a path, the precedence of settings, and errors in a file."""

import json
import random
import tomllib
from pathlib import Path

import jsonschema
import pytest

from settings import found, put, turnlint, unanswered
from turnlint.config.checking import schema, shape_faults, tool_schema
from turnlint.config.nearest import Nearest
from turnlint.config.reading import chain, document_of
from turnlint.errors import ConfigError
from turnlint.handwritten import Document

EMPTY = '{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": ""}]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs" / "kimi").mkdir(parents=True)
    put(tmp_path / "logs", **{"a.jsonl": unanswered("s-1", "c1") + "\n", "e.jsonl": EMPTY})
    put(tmp_path / "logs" / "kimi", **{"k.jsonl": unanswered("s-2", "c1") + "\n"})
    return tmp_path


def configure(folder: Path, text: str, name: str = "turnlint.yaml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_without_a_file_nothing_changes(folder: Path) -> None:
    both = found(folder, "logs"), found(folder, "logs", "--no-config")
    assert both[0] == both[1] == [
        "logs/a.jsonl:PA201:error", "logs/e.jsonl:ST110:warning", "logs/kimi/k.jsonl:PA201:error",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("turnlint.yaml", "ignore: [PA201]\n"),
        ("turnlint.yml", "ignore: [PA201]\n"),
        ("pyproject.toml", '[tool.turnlint]\nignore = ["PA201"]\n'),
        ("pyproject.toml", '[tool]\nturnlint.ignore = ["PA201"]\n'),
        ("pyproject.toml", 'tool = { "turnlint" = { ignore = ["PA201"] } }\n'),
    ],
)
def test_settings_are_in_yaml_or_in_a_table(folder: Path, name: str, text: str) -> None:
    configure(folder, text, name)
    assert found(folder, "logs") == ["logs/e.jsonl:ST110:warning"]
    assert len(found(folder, "logs", "--no-config")) == 3


def test_only_the_nearest_file_applies(folder: Path) -> None:
    configure(folder, "ignore: [PA201]\n")
    configure(folder, '[tool.turnlint]\nignore = ["ST110"]\n', "pyproject.toml")
    configure(folder / "logs" / "kimi", "severity: {PA201: info}\n")
    assert found(folder) == ["logs/e.jsonl:ST110:warning", "logs/kimi/k.jsonl:PA201:info"]
    assert found(folder / "logs", "kimi", "a.jsonl") == ["kimi/k.jsonl:PA201:info"]


def test_a_table_of_another_tool_is_ignored(folder: Path) -> None:
    configure(folder, "ignore: [PA201]\n")
    (folder / "logs" / "pyproject.toml").write_text(
        '[project]\nname = "turnlint-logs"\n[tool.other]\nx = 1\n'
    )
    assert found(folder, "logs/a.jsonl") == []


def test_the_search_ends_with_the_repository(folder: Path) -> None:
    configure(folder, "ignore: [PA201]\n")
    assert Nearest().of(str(folder / "logs")) == str(folder / "turnlint.yaml")
    (folder / "logs" / ".git").mkdir()
    assert Nearest().of(str(folder / "logs")) is None
    assert len(found(folder, "logs/a.jsonl")) == 1


def test_standard_input_has_the_settings_for_its_file_name(folder: Path) -> None:
    configure(folder / "logs", "ignore: [PA201]\n")
    text = unanswered("s-3", "c1")
    assert turnlint(folder, "lint", "-", stdin=text).returncode == 1
    assert turnlint(folder, "lint", "-", "--stdin-filename", "logs/x.jsonl", stdin=text).returncode == 0


def test_sections_apply_to_their_files_and_the_last_takes_precedence(folder: Path) -> None:
    configure(
        folder,
        """
severity: {PA201: warning}
fail-on: warning
paths:
  - path: ["logs/**"]
    fail-on: never
    severity: {ST110: info}
  - path: kimi/
    severity: {pairing: error}
  - path: a.jsonl
    severity: {unanswered-call: info}
""",
    )
    assert found(folder, "logs") == [
        "logs/a.jsonl:PA201:info", "logs/e.jsonl:ST110:info", "logs/kimi/k.jsonl:PA201:error",
    ]  # fmt: skip
    assert turnlint(folder, "lint", "logs").returncode == 0
    configure(folder, "paths: [{path: logs/kimi/, fail-on: never}, {path: logs/a.jsonl, ignore: [PA201]}]\n")
    assert turnlint(folder, "lint", "logs").returncode == 0
    assert turnlint(folder, "lint", "logs", "--fail-on", "warning").returncode == 1
    assert found(folder, "logs") == ["logs/e.jsonl:ST110:warning", "logs/kimi/k.jsonl:PA201:error"]


def test_a_format_and_a_provider_apply_to_a_section(folder: Path) -> None:
    configure(
        folder, "paths: [{path: logs/kimi/**, provider: mistral@hosted}, {path: e.jsonl, format: gemini}]\n"
    )
    assert found(folder, "logs") == [
        "logs/a.jsonl:PA201:error", "logs/e.jsonl:ST103:warning", "logs/kimi/k.jsonl:PA201:error",
        "logs/kimi/k.jsonl:PR303:error",
    ]  # fmt: skip


def test_the_command_line_takes_precedence(folder: Path) -> None:
    configure(folder, "provider: antropic\nselect: [PA206]\nignore: [PA201]\nfail-on: never\n")
    run = turnlint(folder, "lint", "logs")
    assert run.returncode == 2
    assert "turnlint.yaml:1:1: provider: unknown provider 'antropic'" in run.stderr
    assert found(folder, "logs", "--provider", "none") == []
    assert len(found(folder, "logs", "--provider", "none", "--select", "PA201")) == 2
    assert turnlint(folder, "lint", "logs", "--provider", "none", "--select", "PA201").returncode == 0
    last = turnlint(folder, "lint", "logs", "--provider", "none", "--select", "PA201", "--fail-on", "error")
    assert last.returncode == 1
    assert found(folder, "logs", "--provider", "none", "--select", "PA201", "--ignore", "pairing") == []


def test_a_file_extends_others_and_takes_precedence_over_them(folder: Path) -> None:
    (folder / "shared").mkdir()
    configure(
        folder / "shared",
        "severity: {PA201: info, ST110: error}\nfail-on: never\nignore: [PA206]\n",
        "base.yaml",
    )
    configure(folder, "extend: shared/base.yaml\nseverity: {PA201: warning}\n")
    assert found(folder, "logs") == [
        "logs/a.jsonl:PA201:warning", "logs/e.jsonl:ST110:error", "logs/kimi/k.jsonl:PA201:warning",
    ]  # fmt: skip
    assert turnlint(folder, "lint", "logs").returncode == 0
    configure(folder, '[tool.turnlint]\nextend = ["shared/base.yaml"]\nfail-on = "info"\n', "pyproject.toml")
    (folder / "turnlint.yaml").unlink()
    assert turnlint(folder, "lint", "logs").returncode == 1


def test_excluded_files_are_skipped(folder: Path) -> None:
    configure(folder, "exclude: [kimi/, /e.jsonl]\n")
    assert found(folder) == ["logs/a.jsonl:PA201:error", "logs/e.jsonl:ST110:warning"]
    assert found(folder, "logs/*/*.jsonl", "logs/a.jsonl") == ["logs/a.jsonl:PA201:error"]
    assert found(folder, "logs/kimi/k.jsonl") == ["logs/kimi/k.jsonl:PA201:error"]
    assert turnlint(folder, "lint", "logs/kimi").returncode == 3
    before = (folder / "logs" / "kimi" / "k.jsonl").read_text()
    turnlint(folder, "fix", "logs")
    assert (folder / "logs" / "kimi" / "k.jsonl").read_text() == before
    assert "logs/kimi" not in turnlint(folder, "baseline", "write").stdout
    assert "kimi" not in (folder / "turnlint.baseline").read_text()
    assert "exclude   kimi/" in turnlint(folder, "config", "show").stdout


def test_a_named_file_applies_to_all_and_its_paths_start_at_the_working_folder(folder: Path) -> None:
    configure(folder / "logs", "severity: {ST110: error}\n")
    (folder / "ci").mkdir()
    configure(folder / "ci", "paths: [{path: logs/a.jsonl, ignore: PA201}]\n", "strict.yaml")
    assert found(folder, "logs", "--config", "ci/strict.yaml") == [
        "logs/e.jsonl:ST110:warning", "logs/kimi/k.jsonl:PA201:error",
    ]  # fmt: skip


def test_fix_uses_the_same_settings(folder: Path) -> None:
    configure(folder, "level: lossless\npaths: [{path: logs/e.jsonl, ignore: [ST110]}]\n")
    assert turnlint(folder, "fix", "--check", "logs").returncode == 1  # the remaining findings
    before = (folder / "logs" / "a.jsonl").read_text()
    turnlint(folder, "fix", "logs")
    assert (folder / "logs" / "a.jsonl").read_text() == before
    assert (folder / "logs" / "e.jsonl").read_text() == EMPTY
    run = turnlint(folder, "fix", "logs", "--level", "placeholder")
    assert run.returncode == 0
    assert (folder / "logs" / "a.jsonl").read_text() != before
    assert (folder / "logs" / "e.jsonl").read_text() == EMPTY
    turnlint(folder, "fix", "logs", "--no-config")
    assert (folder / "logs" / "e.jsonl").read_text() != EMPTY


def test_a_provider_in_the_settings_is_named_for_fix(folder: Path) -> None:
    configure(folder, "provider: anthropic\n")
    log = folder / "p.jsonl"
    log.write_text(unanswered(None, "functions.run:0") + "\n")
    turnlint(folder, "fix", "p.jsonl")
    assert "functions.run:0" not in log.read_text()


def test_show_prints_each_setting_with_its_origin(folder: Path) -> None:
    configure(folder, "fail-on: warning\nignore:\n  - PA206\n  - {rule: PA201, path: logs/**, reason: the outage}\n"
              "paths:\n  - path: kimi/\n    provider: kimi\n    severity: {ST110: info}\n")  # fmt: skip
    shown = turnlint(folder, "config", "show", "logs/kimi/new.jsonl").stdout.splitlines()
    assert [" ".join(line.split()) for line in shown] == [
        "logs/kimi/new.jsonl",
        "format auto default",
        "provider kimi turnlint.yaml:7:5 (paths: kimi/)",
        "select all default",
        "fail-on warning turnlint.yaml:1:1",
        "level placeholder default",
        "ignore PA206 turnlint.yaml:3:5",
        "severity ST110: info turnlint.yaml:8:16 (paths: kimi/)",
        "ignore rule: PA201; path: logs/**; reason: the outage turnlint.yaml:4:5",
    ]
    run = json.loads(turnlint(folder, "config", "show", "other.jsonl", "--output-format", "json").stdout)
    assert [(setting["key"], setting["from"]) for setting in run[0]["settings"]][1] == ("provider", "default")
    assert turnlint(folder, "config", "show", "--no-config").stdout.endswith("no settings file found\n")


WRONG = [
    ("fail_on: error", "1:1: unknown key 'fail_on'; did you mean 'fail-on'?"),
    ("fail-on: eror", "1:10: fail-on: unknown value 'eror'; did you mean 'error'?"),
    ("paths:\n  - path: x\n    providr: kimi", "3:5: paths[0]: unknown key 'providr'; did you mean 'provider'?"),
    ("paths:\n  - provider: kimi", "2:5: paths[0]: missing 'path'"),
    ("severity: {PA201: graver}", "1:19: severity.PA201: unknown value 'graver'; expected one of error, warning, info"),
    ("severity: {unansered-call: info}",
     "1:28: severity.unansered-call: unknown rule 'unansered-call'; did you mean 'unanswered-call'?"),
    ("ignore: [PA999]", "1:10: ignore[0]: unknown rule 'PA999'; did you mean 'PA209'?"),
    ("ignore: [{rule: PA201}]", "1:10: ignore[0]: missing 'reason'"),
    ("ignore: [{reason: x, until: 2026-01-01}]", "1:10: ignore[0]: selects nothing to ignore"),
    ("ignore: [{rule: PA201, reason: ' '}]", "1:32: ignore[0].reason: is blank"),
    ("ignore: [{rule: PA201, reason: x, until: 2026-02-30}]", "1:42: ignore[0].until: not a date: '2026-02-30'"),
    ("ignore: [{pointer: messages, reason: x}]",
     "1:20: ignore[0].pointer: 'messages' is not a JSON Pointer: expected a leading slash"),
    ("ignore: [7]", "1:10: ignore[0]: expected a string or a mapping, got a number"),
    ("format: openai-caht", "1:9: format: unknown format 'openai-caht'; did you mean 'openai-chat'?"),
    ("provider: [none, kimi]", "1:11: provider: 'none' cannot be combined with other providers"),
    ("provider: mine.yaml", "1:11: provider: 'mine.yaml' is a file; put the file in `profile` and the provider's name here"),
    ("extend: gone.yaml", "1:9: extend: gone.yaml no such file or directory"),
    ("extend: turnlint.yaml", "1:9: extend: turnlint.yaml extends itself"),
    ("fail-on: error\nfail-on: info", "2:1: duplicate key 'fail-on', first in line 1"),
    ("select: []", "1:9: select: expected at least one"),
    ("- a", "1:1: expected a mapping, got a list"),
    ("a: [", "1:5: is not valid YAML:"),
    ("a: 1\n---\nb: 2", "3:1: contains several YAML documents; expected one"),
    ("rules: [{name: N, message: m, pointer: /a, when: {exists: true}}]",
     "1:16: rules[0].name: 'N' is not a valid name: use lower-case letters, digits and single hyphens"),
    ("rules: [{name: n, message: m, pointer: a, when: {exists: true}}]", "1:40: rules[0].pointer: 'a' is not a JSON Pointer"),
    ("rules: [{name: n, message: m, pointer: /a, when: {exist: true}}]",
     "1:51: rules[0].when: unknown key 'exist'; did you mean 'exists'?"),
    ("rules: [{name: n, message: m, pointer: /a, when: {absent: false}}]", "1:59: rules[0].when.absent: expected true"),
    ("rules: [{name: n, message: m, pointer: /a, when: {matches: '('}}]",
     "1:60: rules[0].when.matches: '(' is not a valid regular expression: missing ), unterminated subpattern at character 1"),
    ("rules: [{name: n, message: m, pointer: /a, when: {matches: '(?=a)'}}]",
     "1:60: rules[0].when.matches: '(?=a)' looking ahead or behind is not supported"),
    ("rules: [{name: n, message: m, each: '/**', pointer: '/**', when: {exists: true}}]",
     "1:9: rules[0]: `**` is allowed only once in `each` and the pointer below it"),
    ("rules: [{name: n, message: m, pointer: '/*', when: {absent: true}}]",
     "1:40: rules[0].pointer: `absent` needs a pointer that ends with a key"),
    ("rules: [{name: n, message: m, pointer: /a, when: {absent: true, equals: 1}}]",
     "1:59: rules[0].when.absent: `absent` cannot be combined with other conditions"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), WRONG, ids=[item[0].replace("\n", " ")[:40] for item in WRONG])
def test_an_error_is_reported_with_its_position(folder: Path, text: str, expected: str) -> None:
    configure(folder, text)
    for command in (("lint", "logs"), ("config", "show", "logs")):
        run = turnlint(folder, *command)
        assert run.returncode == 2
        assert f"turnlint.yaml:{expected}" in run.stderr
        assert run.stdout == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[tool.turnlint]\nfail-on = "warnin"', "2:1: fail-on: unknown value 'warnin'; did you mean 'warning'?"),
        ('[tool.turnlint.severity]\nPA201 = "info"\nnone-such = "error"', "3:1: severity.none-such: unknown rule"),
        ('[[tool.turnlint.ignore]]\nrule = "PA201"\nreason = "x"\n\n[[tool.turnlint.ignore]]\nrul = "PA201"\nreason = "y"',
         "6:1: ignore[1]: unknown key 'rul'; did you mean 'rule'?"),
        ("[tool]\nturnlint.fail-on = 1", "2:1: fail-on: expected one of error, warning, info, never, got a number"),
        ("[tool.turnlint]\nselect = = 1", "2:10: is not valid TOML: invalid value"),
        ('[tool.turnlint]\nignore = [{rule = "PA201",\n  reason = "x", until = 2026-13-01}]', "is not valid TOML"),
        ('[tool.turnlint]\ntext = """\nfail-on = "x"\n"""\nfail-on = "y"', "5:1: fail-on: unknown value 'y'"),
    ],
)  # fmt: skip
def test_errors_in_a_table_are_reported_with_their_lines(folder: Path, text: str, expected: str) -> None:
    configure(folder, text, "pyproject.toml")
    run = turnlint(folder, "lint", "logs")
    assert run.returncode == 2
    assert "pyproject.toml:" in run.stderr
    assert expected in run.stderr


def test_a_date_of_a_table_is_a_date(folder: Path) -> None:
    configure(
        folder,
        '[[tool.turnlint.ignore]]\nrule = "PA201"\nreason = "x"\nuntil = 2026-05-01\n',
        "pyproject.toml",
    )
    assert found(folder, "logs") == ["logs/e.jsonl:ST110:warning"]
    assert len(found(folder, "logs", "--today", "2026-05-02")) == 3


def test_files_that_extend_each_other_in_a_cycle_are_an_error(tmp_path: Path) -> None:
    for number in range(12):
        configure(tmp_path, f"extend: {number + 1}.yaml\n", f"{number}.yaml")
    with pytest.raises(ConfigError, match="more than 10 files in a chain of `extend`"):
        chain(str(tmp_path / "0.yaml"))


@pytest.mark.slow
def test_a_hostile_file_does_no_harm(folder: Path) -> None:
    for text in (
        "a: &a [*a]",
        "x: " + "[" * 5000,
        "fail-on: \x1b[31m",
        "\x00",
        "? {a: b}\n: c",
        "[" * 100_000,
    ):
        configure(folder, text)
        run = turnlint(folder, "lint", "logs")
        assert run.returncode == 2
        assert "Traceback" not in run.stderr
        assert "\x1b" not in run.stderr


VALUES = [
    None, True, 1, 1.5, "", "error", "x", "/a", [], ["x"], [1], {}, {"rule": "PA201", "reason": "x"},
    [{"rule": ["PA201"], "reason": "x", "until": "2026-01-01"}], [{"path": "a", "fail-on": "info"}],
    {"PA201": "error"}, {"exists": True}, {"equals": None}, {"kind": ["text"], "above": 1}, {"longer-than": -1},
    [{"name": "n", "message": "m", "pointer": "/a", "when": {"matches": "x"}, "where": {"/b": {"one-of": [1]}}}],
]  # fmt: skip


def test_the_schema_check_agrees_with_a_full_validator() -> None:
    """Compare the schema check of settings with a validator of the whole schema language."""
    chance = random.Random(7)  # noqa: S311 - the same documents in every run
    validator = jsonschema.Draft202012Validator(schema())
    older = jsonschema.Draft7Validator(tool_schema("turnlint"))
    keys = [*schema()["properties"], "nothing"]
    defs = schema()["$defs"]
    parts = [
        *defs["section"]["properties"],
        *defs["ignore"]["properties"],
        *defs["rule"]["properties"],
        "when",
    ]
    agreed = {True: 0, False: 0}
    for _ in range(3000):
        value = {key: chance.choice(VALUES) for key in chance.sample(keys, chance.randint(0, 2))}
        inner = {key: chance.choice(VALUES) for key in chance.sample(parts, chance.randint(1, 4))}
        if chance.random() < 0.6:
            value[chance.choice(["paths", "ignore", "rules"])] = [inner]
        valid = validator.is_valid(value)
        ours = list(shape_faults(Document(value, {(): (1, 1)})))
        assert (not ours) is valid, (value, ours)
        assert older.is_valid(value) is valid
        agreed[valid] += 1
    assert min(agreed.values()) > 100


def test_validators_of_pyproject_find_the_schema_of_the_table() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["validate_pyproject.tool_schema"]
    assert points == {"turnlint": f"{tool_schema.__module__}:{tool_schema.__name__}"}
    assert "$ref" not in json.dumps(tool_schema("turnlint"))


def test_the_schema_is_a_schema_and_describes_every_key(tmp_path: Path) -> None:
    printed = json.loads(turnlint(tmp_path, "schema", "config").stdout)
    jsonschema.Draft202012Validator.check_schema(printed)
    defs = printed["$defs"]
    for owner in (printed, defs["section"], defs["ignore"], defs["rule"], defs["condition"]):
        for key, value in owner["properties"].items():
            target = defs[value["$ref"].rsplit("/", 1)[-1]] if "$ref" in value else {}
            assert value.get("description") or target.get("description"), key


def test_positions_in_a_table_are_those_of_its_keys(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.other]\nfail-on = 1\n[tool.turnlint]\n"fail-on" = "info"\n[[tool.turnlint.paths]]\npath = "a"\n'
              "[[tool.turnlint.paths]]\npath = 'b'\n[tool.turnlint.paths.severity]\nPA201 = 'info'\n", "pyproject.toml")  # fmt: skip
    document = document_of(str(tmp_path / "pyproject.toml"))
    assert document.spot(("fail-on",)) == (4, 1)
    assert document.spot(("paths", 1, "path")) == (8, 1)
    assert document.spot(("paths", 1, "severity", "PA201")) == (10, 1)
