"""Rules of the configuration: their findings, their positions, and linear time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settings import found, put, turnlint
from turnlint import globs
from turnlint.config.settings import Config
from turnlint.errors import ExpressionError
from turnlint.own_rules.expressions import MAX_NODES, Expression
from turnlint.own_rules.watching import find, places

RECORD: dict[str, Any] = {
    "model": "m-1",
    "temperature": 0.5,
    "messages": [
        {"role": "user", "content": "my key is sk-abcdef"},
        {"role": "assistant", "content": None, "name": "bot",
         "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a long result", "a/b": {"~": True}},
    ],
}  # fmt: skip


def pointers_of(tmp_path: Path, rule: str) -> list[str]:
    """The positions that a rule, written as in a file, reports in the record."""
    (tmp_path / "turnlint.yaml").write_text(f"rules:\n  - {{name: n, message: m, {rule}}}\n")
    (made,) = Config(str(tmp_path / "turnlint.yaml")).rules
    return ["/".join(map(str, ("", *at))) for at in places(made, RECORD)]


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        ("pointer: /model, when: {equals: m-1}", ["/model"]),
        ("pointer: /model, when: {not-equals: m-1}", []),
        ("pointer: /model, when: {one-of: [m-2, m-1]}", ["/model"]),
        ("pointer: /model, when: {none-of: [m-2]}", ["/model"]),
        ("pointer: /temperature, when: {above: 0.4, below: 0.6}", ["/temperature"]),
        ("pointer: /temperature, when: {above: 0.5}", []),
        ("pointer: '/messages/*/content', when: {matches: 'sk-[a-z]+'}", ["/messages/0/content"]),
        ("pointer: '/messages/*/content', when: {not-matches: 'sk-[a-z]+'}", ["/messages/2/content"]),
        ("pointer: '/messages/*/content', when: {longer-than: 13}", ["/messages/0/content"]),
        ("pointer: '/messages/*/content', when: {shorter-than: 14}", ["/messages/2/content"]),
        ("pointer: '/messages/*/content', when: {kind: 'null'}", ["/messages/1/content"]),
        ("pointer: '/messages/*', when: {longer-than: 3, kind: object}", ["/messages/1", "/messages/2"]),
        ("pointer: '/messages/*/name', when: {exists: true}", ["/messages/1/name"]),
        ("pointer: '/messages/*/name', when: {absent: true}", ["/messages/0", "/messages/2"]),
        ("pointer: /user, when: {absent: true}", [""]),
        ("pointer: /user/id, when: {absent: true}", []),
        ("pointer: '/**/name', when: {exists: true}",
         ["/messages/1/name", "/messages/1/tool_calls/0/function/name"]),
        ("pointer: '/**', when: {equals: c1}", ["/messages/1/tool_calls/0/id", "/messages/2/tool_call_id"]),
        ("pointer: '/messages/?/tool_c*', when: {kind: [text, list]}",
         ["/messages/1/tool_calls", "/messages/2/tool_call_id"]),
        ("pointer: '/messages/2/a~1b/~0', when: {equals: true}", ["/messages/2/a/b/~"]),
        ("pointer: '/messages/2/a~1b/~0', when: {equals: 1}", []),
        ("pointer: '/**', when: {equals: {'~': true}}", ["/messages/2/a/b"]),
        ("each: '/messages/*', where: {/role: {equals: tool}}, pointer: /content, when: {longer-than: 5}",
         ["/messages/2/content"]),
        ("each: '/messages/*', where: {'/**/arguments': {equals: '{}'}}, pointer: /id, when: {absent: true}",
         ["/messages/1"]),
        ("each: '/messages/*', where: {/role: {equals: user}, /id: {exists: true}}, pointer: /id, when: {exists: true}",
         []),
        ("each: '/messages/*', where: {/tool_calls: {absent: true}}, pointer: /role, when: {exists: true}",
         ["/messages/0/role", "/messages/2/role"]),
        ("where: {/model: {matches: '^m-'}}, pointer: '/messages/0/role', when: {equals: user}", ["/messages/0/role"]),
        ("where: {/model: {matches: '^n-'}}, pointer: '/messages/0/role', when: {equals: user}", []),
        ("pointer: '', when: {kind: object}", [""]),
    ],
)  # fmt: skip
def test_a_rule_reports_positions(tmp_path: Path, rule: str, at: list[str]) -> None:
    assert pointers_of(tmp_path, rule) == at


RULES = """
rules:
  - name: no-keys
    pointer: /messages/*/content
    when: {matches: 'sk-[a-z]+'}
    message: a key stands in a message
    severity: error
  - name: tagged
    pointer: /metadata
    when: {absent: true}
    message: nobody can tell whose record this is
    severity: info
"""


def test_findings_of_own_rules_are_reported_like_others(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": RULES, "a.jsonl": json.dumps({"id": "s-1", **RECORD}) + "\n"})
    run = json.loads(turnlint(tmp_path, "lint", "a.jsonl", "--output-format", "json").stdout)
    rows = {row["rule"]: row for row in run["findings"]}
    key = rows["own/no-keys"]
    assert (key["code"], key["severity"], key["message_index"]) == ("own/no-keys", "error", 0)
    assert (key["pointer"], key["conversation"]) == ("/messages/0/content", {"id": "s-1", "index": 0})
    assert rows["own/tagged"]["pointer"] == ""
    assert rows["own/tagged"]["conversation"]["id"] == "s-1"
    assert len({row["fingerprint"] for row in run["findings"]}) == len(run["findings"])
    text = turnlint(tmp_path, "lint", "a.jsonl").stdout
    assert "own/no-keys[error]: a key stands in a message" in text
    assert "^^^^^^" in text
    assert "sk-abcdef" not in text


def test_rules_are_selected_by_name_and_as_a_family(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": RULES, "a.jsonl": json.dumps(RECORD) + "\n"})
    both = ["a.jsonl:own/tagged:info", "a.jsonl:own/no-keys:error"]
    assert found(tmp_path, "a.jsonl") == both
    assert found(tmp_path, "a.jsonl", "--select", "own") == both
    assert found(tmp_path, "a.jsonl", "--select", "own/no-keys") == both[1:]
    assert found(tmp_path, "a.jsonl", "--select", "PA") == []
    assert found(tmp_path, "a.jsonl", "--ignore", "own/no-keys") == both[:1]
    assert turnlint(tmp_path, "lint", "a.jsonl", "--select", "own/no-kyes").returncode == 2
    put(tmp_path, **{"turnlint.yaml": RULES + "ignore: [own/tagged]\nseverity: {own: warning}\n"})
    assert found(tmp_path, "a.jsonl") == ["a.jsonl:own/no-keys:warning"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_conversations_over_many_records_have_their_findings(tmp_path: Path, name: str) -> None:
    lines = [json.dumps(message) for message in RECORD["messages"]]
    text = "\n".join(lines) if name == "a.jsonl" else f"[{', '.join(lines)}]"
    at = "/content" if name == "a.jsonl" else "/*/content"
    rule = f"rules: [{{name: n, message: m, pointer: '{at}', when: {{matches: 'sk-'}}}}]\n"
    put(tmp_path, **{"turnlint.yaml": rule, name: text + "\n"})
    run = json.loads(turnlint(tmp_path, "lint", name, "--output-format", "json", "--select", "own").stdout)
    (row,) = run["findings"]
    assert (row["line"], row["message_index"], row["conversation"]["index"]) == (1, 0, 0)


def test_records_without_a_conversation_are_checked_too(tmp_path: Path) -> None:
    rule = "rules: [{name: n, message: m, pointer: /x, when: {exists: true}}]\n"
    put(tmp_path, **{"turnlint.yaml": rule, "a.jsonl": json.dumps(RECORD) + '\n{"x": 1}\n{"x": \n'})
    rows = turnlint(
        tmp_path, "lint", "a.jsonl", "--output-format", "concise", "--select", "own"
    ).stdout.splitlines()
    assert [row.split(" ")[0] for row in rows] == ["a.jsonl:2:7:"]


def test_each_of_several_conversations_in_a_record_has_its_findings(tmp_path: Path) -> None:
    rule = "rules: [{name: n, message: m, pointer: '/**/content', when: {equals: x}}]\n"
    one = {"id": "A", "messages": [{"role": "user", "content": "a"}]}
    two = {"id": "B", "messages": [{"role": "user", "content": "x"}]}
    put(tmp_path, **{"turnlint.yaml": rule, "a.json": json.dumps([one, two])})
    run = json.loads(
        turnlint(tmp_path, "lint", "a.json", "--output-format", "json", "--select", "own").stdout
    )
    assert [row["conversation"]["id"] for row in run["findings"]] == ["B"]
    assert run["findings"][0]["pointer"] == "/1/messages/0/content"


def test_fix_does_not_change_their_findings(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": RULES, "a.jsonl": json.dumps(RECORD) + "\n"})
    before = (tmp_path / "a.jsonl").read_text()
    assert turnlint(tmp_path, "fix", "a.jsonl").returncode == 0
    assert (tmp_path / "a.jsonl").read_text() == before


def test_texts_of_a_rule_cannot_control_a_terminal(tmp_path: Path) -> None:
    rule = 'rules: [{name: n, message: "\\e[31m::error::", pointer: /model, when: {exists: true}}]\n'
    put(tmp_path, **{"turnlint.yaml": rule, "a.jsonl": json.dumps(RECORD) + "\n"})
    for kind in ("text", "concise", "json"):
        assert "\x1b" not in turnlint(tmp_path, "lint", "a.jsonl", "--output-format", kind).stdout


PIECES = ["a", "b", "[ab]", "[^a]", ".", "a*", "b+", "(ab)?", "(a|b)*", "^", "$", r"\b", r"\A", r"\Z", "a{2,3}", "(?i:A)",
          "(?s:.)", "(?m:^)", "(?m:$)", r"\w", r"\W", r"\d", r"\D", r"\s", "(a|)", "x*?", "(?i:S)", "s", "k", "(?i:[A-B])", "(?i:[^A])", "é",
          "(?x: b #c\n)", r"\x61", r"\142", "(?#c)", "a{,2}", "b{1,}", "{", "[]a]", "[^]b]", "(?i-s:.B)", "(?P<n>a)", r"\ ", "(?:a|b){0}"]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda item: item.count("?P<n>") < 2),
    st.text("abABé \n1_{]", max_size=9),
)
def test_expressions_match_like_those_of_python(pattern: str, text: str) -> None:
    assert Expression(pattern).is_in(text) is (re.search(pattern, text) is not None)


def steps_of(pattern: str, text: str) -> int:
    """The number of computed steps of a search; cached steps are not counted."""
    expression = Expression(pattern)
    count = 0
    think = expression._step

    def counted(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        return think(*arguments)

    expression._step = counted  # type: ignore[method-assign]
    expression.is_in(text)
    return count


@pytest.mark.parametrize(
    "pattern",
    ["(a|a)*b", "(a*)*b", "(a|aa)+$", "a*a*a*a*a*b", "a.*a.*b", r"(?x)a+ $", "(.*)*(.*)*x", "(?i:a+)+c"],
)
def test_no_text_makes_a_search_slow(pattern: str) -> None:
    assert steps_of(pattern, "a" * 20_000) == steps_of(pattern, "a" * 200) < 20


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a**",
        r"(a)\1",
        "(?=a)",
        "(?<!a)b",
        "a++",
        "(?>a)",
        r"(?P<n>a)(?P=n)",
        "(a)?(?(1)b)",
        "(?a:x)",
        "(?a)x",
    ],
)
def test_expressions_that_need_more_than_one_pass_are_refused(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(pattern)


def test_the_size_of_an_expression_is_limited() -> None:
    Expression(f"a{{{MAX_NODES // 2}}}")
    for pattern in (f"a{{{MAX_NODES}}}", "((a{50}){50}){50}", "(" * 3000 + "a" + ")" * 3000):
        with pytest.raises(ExpressionError, match="too large"):
            Expression(pattern)


NAMES = st.sampled_from(["a", "b", "ab", "*", "**", "?", "a*"])


@given(st.lists(NAMES, max_size=4), st.lists(st.sampled_from(["a", "b", "ab"]), max_size=5))
def test_patterns_over_paths_match_like_a_plain_matcher(steps: list[str], names: list[str]) -> None:
    def plainly(steps: list[str], names: list[str]) -> bool:
        if not steps:
            return not names
        if steps[0] == "**":
            return any(plainly(steps[1:], names[at:]) for at in range(len(names) + 1))
        one = re.compile(steps[0].replace("*", ".*").replace("?", "."))
        return bool(names) and one.fullmatch(names[0]) is not None and plainly(steps[1:], names[1:])

    assert globs.matches(tuple(steps), names) is plainly(steps, names)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a.jsonl", "x/a.jsonl", True), ("/a.jsonl", "x/a.jsonl", False), ("*.jsonl", "x/y/a.jsonl", True),
        ("logs/", "x/logs/a", True), ("logs", "x/logs/a", True), ("/logs", "x/logs/a", False),
        ("logs/*", "logs/x/a", False), ("logs/*", "logs/a", True), ("logs/**", "logs/x/a", True),
        ("logs/kimi", "logs/kimi/a", True), ("logs/kimi", "x/logs/kimi/a", False), ("./logs", "logs/a", True),
        ("**/old/*.json", "a/b/old/c.json", True), ("a[0-9].json", "x/a7.json", True), ("log", "logs", False),
    ],
)  # fmt: skip
def test_patterns_over_files_are_those_of_gitignore(pattern: str, path: str, matches: bool) -> None:
    assert globs.matches(globs.file_steps(pattern), path.split("/")) is matches


def passed(value: Any, pattern: str) -> Iterator[Any]:
    return find(value, globs.pointer_steps(pattern))


def test_a_deep_record_is_walked_once() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = {"a": value}
    assert sum(1 for _ in passed(value, "/**/**/a/**")) == 5000
