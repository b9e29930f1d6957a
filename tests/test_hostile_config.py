"""Malformed settings of any kind: a sentence with a position, never a traceback."""

import random
import re
from pathlib import Path

import pytest

from turnlint.config.settings import Config
from turnlint.errors import ConfigError

YAML = """\
fail-on: warning
severity: {empty-turn: info}
ignore:
  - PA206
  - {rule: unanswered-call, conversation: s-17, reason: the outage, until: 2026-06-30}
paths:
  - path: logs/kimi/
    provider: kimi
rules:
  - name: no-keys
    each: /messages/*
    where: {/role: {equals: user}}
    pointer: /content
    when: {matches: 'sk-[a-z]{3,}|(a+)+', longer-than: 3}
    message: a key
"""
TOML = '''\
[project]
name = "x"
[tool.turnlint]
fail-on = "warning"
[tool.turnlint.severity]
PA201 = "info"
[[tool.turnlint.ignore]]
rule = "PA201"
reason = """a
b"""
until = 2026-01-01
[[tool.turnlint.paths]]
path = 'a'
[tool.turnlint.paths.severity]
ST110 = "info"
[[tool.turnlint.rules]]
name = "n"
message = "m"
pointer = "/a"
when = {matches = "a", one-of = [1, {a = 2}]}
'''
ODD = ["[", "]", "{", "}", ":", "=", "null", "1", "-", "\0", "é", "'", '"', "&a", "*a", "!!x", "<<", "2026-01-01", "\t",
       "(", "**", "1e999", "nan", "0x", "\ufeff", "\x1b[31m", "?", "|", "#"]  # fmt: skip


def broken(text: str, chance: random.Random) -> str:
    pieces = re.split(r"""(\s+|[\[\]{},:="'])""", text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(pieces))
        change = chance.randrange(4)
        pieces[at : at + 1] = (
            [],
            [chance.choice(pieces)],
            [chance.choice(ODD), pieces[at]],
            [pieces[at][::-1]],
        )[change]
    return "".join(pieces)


@pytest.mark.parametrize(("name", "text"), [("turnlint.yaml", YAML), ("pyproject.toml", TOML)])
@pytest.mark.parametrize("seed", range(4))
def test_broken_settings_are_reported_with_their_position(
    tmp_path: Path, name: str, text: str, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same files in every run
    path = tmp_path / name
    outcomes = {"taken": 0, "refused": 0}
    for _ in range(150):
        path.write_text(broken(text, chance), encoding="utf-8")
        try:
            Config(str(path)).of(str(tmp_path / "logs" / "kimi" / "a.jsonl"))
            outcomes["taken"] += 1
        except ConfigError as error:
            outcomes["refused"] += 1
            for line in error.lines:
                assert re.search(rf"{name}:\d+:\d+: \S", line) or "more" in line, line
    assert min(outcomes.values()) > 10
