"""Preview, renamed, deprecated and removed rules, in every place that names rules."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from settings import put, turnlint

RULE = '''"""a call to the tool `{tool}`

What it does
    Reports it.

Why it matters
    Nobody answers.

How it happens
    A log is old.

What fix does
    Nothing.

Evidence
    None.
"""

from turnlint.api import Example, Rule, quote

RULE = Rule("{code}", "{name}", "warning", family="contract"{life})
BAD = (Example("""
    user       Go.
    assistant
      call     c1 {tool} {{}}         <- {code}
      result   c1 done
    assistant  It is done.
"""),)
GOOD = (Example("""
    user       Go.
    assistant  I went.
"""),)


def check(case):
    for asked in case.asked:
        if asked.call.name == "{tool}":
            yield RULE.at_call(case, asked, f"call {{quote(asked.call.id)}} is to a tool that is gone", key="name")
'''
RULES = {
    "plain": ("HR101", "plain-tool", ""),
    "young": ("HR102", "young-tool", ', since="2.0", state="preview"'),
    "old": ("HR103", "old-tool", ', since="1.1", state="deprecated"'),
    "moved": ("HR104", "moved-tool", ', aliases=("HR001", "ancient-tool")'),
    "fresh": ("YR105", "fresh-tool", ', state="preview"'),
}
GONE = 'REMOVED = {("HR009", "lost-tool"): "HR101 finds the same since 1.2"}\n'
ALL = {"HR101", "HR103", "HR104"}
"""The rules that run by default."""


def record(*tools: str) -> str:
    messages = [{"role": "user", "content": "go"}]
    for number, tool in enumerate(tools):
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
        ]
    return json.dumps({"id": "s-1", "messages": [*messages, {"role": "assistant", "content": "so it is"}]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    package, about = folder / "site" / "young_rules", folder / "site" / "young_rules-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    put(about, METADATA="Metadata-Version: 2.1\nName: young-rules\nVersion: 1.0\n",
        **{"entry_points.txt": "[turnlint.rules]\nyoung = young_rules\n"})  # fmt: skip
    put(package, **{"__init__.py": f'"""Rules of a team."""\n\n{GONE}'})
    for tool, (code, name, life) in RULES.items():
        put(package, **{f"{tool}.py": RULE.format(tool=tool, code=code, name=name, life=life)})
    put(folder, **{"log.jsonl": record(*RULES) + "\n"})
    return folder


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return turnlint(folder, *arguments, PYTHONPATH=str(folder / "site"), **env)


def codes(folder: Path, *arguments: str) -> set[str]:
    return set(re.findall(r"\b[HY]R\d+(?=\[)", linted(folder, *arguments).stdout))


def linted(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "lint", "log.jsonl", "--output-format", "concise", *arguments)


def configured(folder: Path, text: str) -> list[str]:
    put(folder, **{"house.yaml": text})
    return ["--config", "house.yaml"]


def test_a_rule_in_preview_runs_if_enabled_or_named(folder: Path) -> None:
    assert codes(folder) == ALL
    assert codes(folder, "--preview") == ALL | {"HR102", "YR105"}
    assert codes(folder, "--select", "HR") == ALL
    assert codes(folder, "--select", "HR,young-tool") == ALL | {"HR102"}
    assert codes(folder, "--select", "HR102") == codes(folder, "--select", "hr102") == {"HR102"}
    assert codes(folder, "--preview", "--ignore", "HR102") == ALL | {"YR105"}


def test_settings_enable_previews(folder: Path) -> None:
    assert codes(folder, *configured(folder, "preview: true\n")) == ALL | {"HR102", "YR105"}
    assert codes(folder, *configured(folder, "select: [young-tool]\n")) == {"HR102"}
    assert (
        codes(folder, *configured(folder, "preview: true\npaths: [{path: '*.jsonl', preview: false}]\n"))
        == ALL
    )
    assert codes(folder, *configured(folder, "preview: false\n"), "--preview") > ALL
    assert codes(folder, "--set", "preview=true") == ALL | {"HR102", "YR105"}


def test_a_selection_of_previews_only_is_reported(folder: Path) -> None:
    expected_text = "turnlint: 'YR' selects only rules in preview; add --preview to run them\n"
    assert linted(folder, "--select", "YR").stderr == expected_text
    assert linted(folder, *configured(folder, "select: YR\n")).stderr == expected_text
    assert linted(folder, "--select", "YR", "--preview").stderr == ""
    assert linted(folder, "--select", "HR").stderr == ""


def test_a_deprecated_rule_is_reported_where_it_is_named(folder: Path) -> None:
    expected_text = "HR103 old-tool is deprecated; `turnlint explain HR103` says why\n"
    assert linted(folder).stderr == linted(folder, "--select", "HR").stderr == ""
    for selector in ("HR103", "old-tool"):
        done = linted(folder, "--select", selector)
        assert (done.stderr, "HR103[warning]" in done.stdout) == (f"turnlint: {expected_text}", True)
    done = linted(folder, *configured(folder, "severity: {old-tool: error}\n"))
    assert (done.stderr, done.returncode) == (f"turnlint: house.yaml:1:12: {expected_text}", 1)


@pytest.mark.parametrize("name", ["HR001", "hr001", "ancient-tool"])
def test_a_former_name_still_means_its_rule(folder: Path, name: str) -> None:
    expected_text = f"turnlint: '{name}' is now called HR104 moved-tool\n"
    done = linted(folder, "--select", name)
    assert (done.stderr, done.stdout.count("\n"), "HR104[warning]" in done.stdout) == (expected_text, 1, True)
    assert codes(folder, "--ignore", name) == ALL - {"HR104"}
    assert linted(folder, "--ignore", name).stderr == expected_text
    for text, left in (
        (f"ignore: [{name}]\n", ALL - {"HR104"}),
        (f"ignore: [{{rule: [{name}], reason: known}}]\n", ALL - {"HR104"}),
        (f"paths: [{{path: '*.jsonl', ignore: {name}}}]\n", ALL - {"HR104"}),
        (f"select: {name}\n", {"HR104"}),
        (f"select: HR\nseverity: {{{name}: info}}\n", ALL),
    ):
        done = linted(folder, *configured(folder, text))
        assert set(re.findall(r"\bHR\d+(?=\[)", done.stdout)) == left, text
        assert re.fullmatch(
            rf"turnlint: house\.yaml:\d:\d+: '{name}' is now called HR104 moved-tool\n", done.stderr
        )
    assert "HR104[info]" in done.stdout
    shown = run(folder, "config", "show", *configured(folder, f"severity: {{{name}: info}}\n")).stdout
    assert re.search(r"^severity +(HR104|moved-tool): info +house.yaml:1:12$", shown, re.MULTILINE)
    explained = run(folder, "explain", name)
    assert (explained.stderr, explained.stdout.startswith("HR104 moved-tool")) == (expected_text, True)


def test_in_the_library_and_in_records_a_former_name_means_its_rule_too(folder: Path) -> None:
    program = (
        "import json; from turnlint import lint\n"
        "found = lint(json.loads(open('log.jsonl').read()), select=['HR001', 'young-tool'])\n"
        "print([one.code for one in found])\n"
        "print(sum(one.code == 'YR105' for one in lint(json.loads(open('log.jsonl').read()), preview=True)))\n"
    )
    put(folder, **{"program.py": program})
    import os
    import sys

    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "['HR102', 'HR104']\n1\n"
    metadata = {"turnlint": ["ancient-tool"]}
    put(
        folder,
        **{"own.jsonl": json.dumps({**json.loads(record("moved", "plain")), "metadata": metadata}) + "\n"},
    )
    done = run(folder, "lint", "own.jsonl", "--set", "ignores-in-records=/metadata/turnlint")
    assert "HR101" in done.stdout
    assert "HR104" not in done.stdout


def test_a_removed_rule_is_reported_with_the_reason(folder: Path) -> None:
    for name in ("HR009", "lost-tool"):
        expected_text = f"the rule '{name}' was removed: HR101 finds the same since 1.2"
        for arguments in (["lint", "log.jsonl", "--select", name], ["explain", name]):
            done = run(folder, *arguments)
            assert (done.returncode, expected_text in done.stderr) == (2, True)
        done = linted(folder, *configured(folder, f"fail-on: never\nselect: [HR, {name}]\n"))
        assert (done.returncode, f"house.yaml:2:14: select[1]: {expected_text}" in done.stderr) == (2, True)
        # An ignore of a removed rule is harmless.
        done = linted(folder, "--ignore", name)
        assert (done.returncode, done.stderr) == (0, f"turnlint: {expected_text}\n")
        assert codes(folder, "--ignore", name) == ALL
        done = linted(folder, *configured(folder, f"ignore: [{name}]\nseverity: {{{name}: info}}\n"))
        assert (done.returncode, done.stderr.count(expected_text)) == (0, 2)


def test_lists_and_pages_show_the_state_of_a_rule(folder: Path) -> None:
    table = run(folder, "rules").stdout
    assert re.search(r"^HR101 +plain-tool +warning +- +0\.1\.0 +a call", table, re.MULTILINE)
    assert re.search(r"^HR102 +young-tool +warning +- +2\.0 preview +a call", table, re.MULTILINE)
    assert re.search(r"^HR103 +old-tool +warning +- +1\.1 deprecated +a call", table, re.MULTILINE)
    rows = {row["code"]: row for row in json.loads(run(folder, "rules", "--output-format", "json").stdout)}
    assert (rows["HR102"]["state"], rows["HR102"]["since"]) == ("preview", "2.0")
    assert (rows["HR104"]["state"], rows["HR104"]["aliases"]) == ("stable", ["HR001", "ancient-tool"])
    assert {row["since"] for code, row in rows.items() if code[1] != "R"} == {"0.1.0"}
    assert run(folder, "explain", "HR103").stdout.startswith(
        "HR103 old-tool [warning, contract, deprecated since 1.1]\n"
    )
    assert "\nFormer names: HR001, ancient-tool.\n" in run(folder, "explain", "HR104").stdout
    rules = json.loads(linted(folder, "--output-format", "sarif").stdout)["runs"][0]["tool"]["driver"][
        "rules"
    ]
    moved = next(rule for rule in rules if rule["id"] == "HR104")
    assert (moved["deprecatedIds"], moved["deprecatedNames"]) == (["HR001"], ["ancient-tool"])


def test_the_page_of_rules_shows_it_too() -> None:
    from turnlint import reference
    from turnlint.api import Rule
    from turnlint.rulebook import Entry

    rule = Rule("PA299", "new-rule", "error", since="0.9", state="preview", aliases=("PA298",))
    entry = Entry(rule, "something new", "", None, None, builtin=True, module=reference)  # type: ignore[arg-type]
    text = "\n".join(reference._rule(entry))
    assert "In the state *preview* since 0.9." in text
    assert "Former names: `PA298`." in text
    assert "| [PA201](#pa201-unanswered-call) unanswered-call | error | lossy | 0.1.0 |" in reference.page(
        "rules"
    )


def test_the_examples_of_a_rule_in_preview_are_its_tests(folder: Path) -> None:
    import os
    import sys

    program = "from turnlint.testing import problems_in; print(*problems_in('young_rules'), sep='\\n')"
    env = {**os.environ, "PYTHONPATH": str(folder / "site")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_a_name_that_means_two_rules_fails_the_tests_of_a_package(folder: Path, tmp_path: Path) -> None:
    import os
    import shutil
    import sys

    shutil.copytree(folder / "site", tmp_path / "site")
    plain = tmp_path / "site" / "young_rules" / "plain.py"
    text = plain.read_text().replace(
        'family="contract"', 'family="contract", aliases=("HR001", "orphan-result", "HR009")'
    )
    plain.write_text(text)
    program = "from turnlint.testing import problems_in; print(*problems_in('young_rules'), sep='\\n')"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "HR009 is a rule, and stands among those that are gone",
        "HR001 means several rules: moved-tool, plain-tool",
        "orphan-result means several rules: orphan-result, plain-tool",
    ]
