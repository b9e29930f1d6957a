"""Texts that users read are plain technical English."""

import ast
import re
from pathlib import Path

import click
import pytest

from turnlint import rulebook
from turnlint.cli import COMMANDS, cli

ROOT = Path(__file__).parent.parent
RULES = ROOT / "rules" / "turnlint_rules"
BANNED = re.compile(
    r"\b(whoever|whomever|somebody|nobody|vouch(ed|es)?|refuses to|what is (read|written|told)"
    r"|stands? (at|in|away|beside|behind|before)|so many)\b",
    re.IGNORECASE,
)
MAX_WORDS = 25
"""Of a sentence in README.md."""
MAX_README_LINES = 200


def strings_of(path: Path) -> list[str]:
    """Return the string literals of a module that are no docstrings, also the fixed parts of f-strings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    ]


def prose_of(markdown: str) -> list[str]:
    """Return the sentences of a page, without code, tables and the targets of links."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "#"))]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    text = re.sub(r"`[^`]*`", "code", text).replace("**", "")
    blocks = re.split(r"\n\s*\n|\n- ", text.strip())
    return [part for block in blocks for part in re.split(r"(?<=[.?!:])\s+", block.strip())]


def pages_of(command: click.Command, name: str) -> list[tuple[str, str]]:
    """Return the help of a command and of all commands below it."""
    context = click.Context(command, info_name=name)
    pages = [(name, command.get_help(context))]
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            pages += pages_of(below, f"{name} {verb}") if below is not None else []
    return pages


@pytest.mark.parametrize(
    "path",
    [
        path
        for family in ("state", "pairing", "projection")
        for path in sorted((RULES / family).glob("[a-z]*.py"))
    ],
    ids=lambda path: path.stem,
)
def test_messages_of_rules_are_plain(path: Path) -> None:
    found = [text for text in strings_of(path) if BANNED.search(text)]
    assert not found


def test_headlines_of_rules_are_plain() -> None:
    found = [entry.headline for entry in rulebook.load(rulebook.BUILTIN) if BANNED.search(entry.headline)]
    assert not found


@pytest.mark.parametrize("entry", rulebook.load(rulebook.BUILTIN), ids=lambda entry: entry.rule.name)
def test_descriptions_of_rules_are_plain_and_their_sentences_short(entry: rulebook.Entry) -> None:
    """Evidence quotes providers and is left out."""
    described, _, evidence = entry.docs.partition("\nEvidence\n")
    assert evidence
    sentences = prose_of(re.sub(r"^[A-Z][\w ]+$", "", described, flags=re.MULTILINE))
    assert len(sentences) >= 5
    assert not [
        sentence for sentence in sentences if len(sentence.split()) > MAX_WORDS or BANNED.search(sentence)
    ]


def test_help_is_plain_and_shows_an_example() -> None:
    pages = dict(pages_of(cli, "turnlint"))
    assert set(COMMANDS) <= {name.removeprefix("turnlint ") for name in pages}
    assert not {
        name: found[0] for name, text in pages.items() if (found := BANNED.search(" ".join(text.split())))
    }
    for name, text in pages.items():
        if name in ("turnlint lint", "turnlint fix", "turnlint why", "turnlint ids", "turnlint explain"):
            assert f"Example: {name} " in text


def test_the_readme_is_short_and_its_sentences_too() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_README_LINES
    sentences = prose_of(text)
    assert len(sentences) > 30
    assert not [sentence for sentence in sentences if len(sentence.split()) > MAX_WORDS]
    assert not [sentence for sentence in sentences if BANNED.search(sentence)]


@pytest.mark.parametrize("name", ["mission", "reading", "repairs", "settings"])
def test_guides_have_short_sentences(name: str) -> None:
    text = (ROOT / "lint" / "turnlint" / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert not [item for item in prose_of(text) if len(item.split()) > MAX_WORDS or BANNED.search(item)]


def test_unreleased_changes_are_plain() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.partition("## Unreleased")[2].partition("\n## ")[0]
    assert not BANNED.search(unreleased)


def test_the_check_finds_violations() -> None:
    assert BANNED.search("this stands before it")
    assert BANNED.search("Nobody answers")
    assert not BANNED.search("is not directly after its call")
    (sentence, *_) = prose_of("# Title\n\nOne `two three` four.\n\n```sh\nnot this\n```\n")
    assert sentence == "One code four."
