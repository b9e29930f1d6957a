"""Explanation of each setting, from the schema: every key, its values, and a valid example."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from settings import put, turnlint
from turnlint.cli.setting_text import document, lines
from turnlint.cli.yaml_text import lines_of
from turnlint.config.checking import schema
from turnlint.config.keys import Key, keys
from turnlint.config.settings import Config
from turnlint.handwritten import documents

KEYS = keys()


def below(node: dict[str, Any]) -> set[str]:
    """All names under `properties` anywhere in a schema."""
    found = set(node.get("properties", ()))
    for value in node.values():
        for item in value if isinstance(value, list) else [value]:
            found |= below(item) if isinstance(item, dict) else set()
    return found


def test_every_key_of_the_schema_is_explained() -> None:
    assert {name.rpartition(".")[2] for name in KEYS} == below(schema()) - {"$schema"}
    assert {"level", "paths.level", "ignore.until", "rules.when.matches", "ignores-in-records"} <= set(KEYS)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.name)
def test_an_example_of_a_key_is_valid(key: Key, tmp_path: Path) -> None:
    explained = document(key)
    assert explained["summary"]
    assert explained["takes"]
    text = explained["yaml"]
    assert YAML(typ="safe").load(text) == explained["example"]
    assert text.strip() == "\n".join(
        line.removeprefix("    ") for line in "\n".join(lines(key)).partition("Example\n")[2].split("\n")
    )
    put(tmp_path, **{"turnlint.yaml": ""})  # the example of `extend` names it
    (tmp_path / "own").mkdir()
    put(tmp_path / "own", **{"turnlint.yaml": text})
    config = Config(str(tmp_path / "own" / "turnlint.yaml"))
    assert config.of(str(tmp_path / "own" / "a.jsonl")).file
    jsonschema.Draft202012Validator(schema()).validate(explained["example"])
    value: Any = explained["example"]
    for part in key.name.split("."):
        value = (value[-1] if isinstance(value, list) else value)[part]
    jsonschema.Draft202012Validator({**explained["schema"], "$defs": schema()["$defs"]}).validate(value)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.name)
def test_all_examples_and_the_default_of_a_key_match_its_schema(key: Key) -> None:
    for value in (*key.node.get("examples", ()), *([] if key.default is None else [key.default])):
        jsonschema.Draft202012Validator({**key.node, "$defs": schema()["$defs"]}).validate(value)


def test_a_setting_is_explained(tmp_path: Path) -> None:
    done = turnlint(tmp_path, "config", "explain", "paths.level")
    assert (done.returncode, done.stdout) == (0, """\
paths.level [setting]
The highest level of repairs that `turnlint fix` applies.

takes          one of lossless, placeholder, lossy
default        placeholder
also           level

Example
    paths:
      - {path: logs/kimi/**, level: placeholder}
""")  # fmt: skip
    assert turnlint(tmp_path, "explain", "paths.level").stdout == done.stdout
    assert "required       yes" in turnlint(tmp_path, "config", "explain", "ignore.reason").stdout
    several = turnlint(tmp_path, "config", "explain", "level", "FAIL-ON").stdout
    assert re.findall(r"^(\S+) \[setting\]$", several, re.MULTILINE) == ["level", "fail-on"]


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("levl", "level"),
        ("fail_on", "fail-on"),
        ("path.level", "paths.level"),
        ("ignore.untill", "ignore.until"),
    ],
)
def test_an_unknown_setting_is_reported_with_the_nearest(tmp_path: Path, wrong: str, near: str) -> None:
    done = turnlint(tmp_path, "config", "explain", wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"unknown setting '{wrong}'; did you mean '{near}'?" in done.stderr
    assert turnlint(tmp_path, "explain", wrong).stderr.endswith(
        f"unknown rule {wrong!r}; did you mean {near!r}?\n"
    )


def test_a_setting_is_explained_as_json(tmp_path: Path) -> None:
    done = turnlint(tmp_path, "config", "explain", "provider", "--output-format", "json")
    (explained,) = json.loads(done.stdout)
    assert (explained["kind"], explained["name"], explained["default"], explained["required"]) == (
        "setting",
        "provider",
        "auto",
        False,
    )
    assert explained["takes"] == "a text or a list of texts"
    assert explained["example"] == {"provider": "anthropic"}
    assert "$ref" not in json.dumps(explained["schema"])
    assert [json.loads(turnlint(tmp_path, "explain", "provider", "--output-format", "json").stdout)] == [
        [explained]
    ]


def test_rules_pages_and_settings_are_explained_at_once(tmp_path: Path) -> None:
    put(
        tmp_path,
        **{
            "turnlint.yaml": "rules: [{name: n, message: m, pointer: /a, when: {exists: true}, about: why}]\n"
        },
    )
    words = ["PA201", "orphan-result", "PA201", "level", "own/n", "pytest"]
    done = turnlint(tmp_path, "explain", *words, "--output-format", "json")
    report = json.loads(done.stdout)
    assert [(item["kind"], item["name"]) for item in report] == [
        ("rule", "unanswered-call"), ("rule", "orphan-result"), ("setting", "level"), ("own", "own/n"), ("page", "pytest"),
    ]  # fmt: skip
    rule = report[0]
    assert (rule["code"], rule["severity"], rule["fix"], rule["state"], rule["since"]) == (
        "PA201", "error", "lossy", "stable", "0.1.0",
    )  # fmt: skip
    assert [*rule["sections"]] == [
        "What it does", "Why it matters", "How it happens", "What fix does", "Evidence",
    ]  # fmt: skip
    assert {example["title"] for example in rule["examples"]} == {"Wrong", "Right"}
    text = turnlint(tmp_path, "explain", *words).stdout
    places = [
        text.index(head) for head in ("PA201 unans", "PA202 orphan", "level [", "own/n [", "Pytest\n====")
    ]
    assert places == sorted(places)
    assert text.count("PA201 unanswered-call [") == 1


def test_a_beginning_of_codes_or_a_family_is_explained_rule_by_rule(tmp_path: Path) -> None:
    for word in ("PA2", "pairing"):
        report = json.loads(turnlint(tmp_path, "explain", word, "--output-format", "json").stdout)
        assert len(report) >= 9
        assert {item["fault"] for item in report} == {"pairing"}
    done = turnlint(tmp_path, "explain", "PA201", "nope")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    "text",
    ["", " ", "true", "no", "~", "1.10", "0x1f", "2026-01-01", "a: b", "- x", "#", "'", '"', "=", "<<", "x\ny", "é\u202e", "\x1b[31m"],
)  # fmt: skip
def test_settings_are_written_as_one_safe_line_and_read_back(text: str) -> None:
    (line,) = lines_of({"key": [text, text]})
    assert line.isascii()
    assert line.isprintable()
    assert documents(line.encode())[0].value == {"key": [text, text]}
