"""Define the grammars of calls in texts: the mark that begins a call in each, and the syntax behind it.

The marks are those that do not occur in normal text, from chat templates and parsers (vLLM, SGLang, trl, read 2026-11).
Several grammars share `<tool_call>`; the first character behind it decides.
"""

import re
from functools import cache
from typing import Literal

from msgspec import Struct

from turnlint.extensions import load
from turnlint.packages import GRAMMARS as GROUP
from turnlint.packages import additions

Syntax = Literal["json", "xml", "custom"]


class Grammar(Struct, frozen=True, kw_only=True):
    """A grammar of calls in texts."""

    name: str
    title: str
    opens: str
    """An expression without groups for the mark that begins a call. Few texts may have the mark and no call."""
    syntax: Syntax
    """The syntax of a call: JSON, elements with names of arguments, or another."""


class Marked(Struct, frozen=True):
    """The first mark of a call in a text, and the grammar to which it belongs."""

    mark: str
    grammar: str


MAX_MARK_CHARACTERS = 40
_NAME = r"[\w.-]+"

BUILTIN = (
    Grammar(name="hermes", title="Hermes, Qwen 2.5 and 3", syntax="json", opens=r"<tool_call>(?=\s*\{)"),
    Grammar(name="qwen-coder", title="Qwen3-Coder, Nemotron 3, MiMo", syntax="xml",
            opens=rf"<tool_call>(?=\s*<function=)|<function={_NAME}>"),
    Grammar(name="glm", title="GLM 4.5 and later", syntax="xml",
            opens=rf"<tool_call>(?={_NAME}\s*(?:<arg_key>|</tool_call>))"),
    Grammar(name="granite", title="Granite 3", syntax="json", opens=r"<tool_call>(?=\s*\[)|<\|tool_call\|>"),
    Grammar(name="hunyuan", title="Hunyuan 3", syntax="xml", opens=rf"<tool_call>(?={_NAME}<tool_sep>)"),
    Grammar(name="tool-call", title="a tag that several models share", syntax="custom", opens=r"<tool_call>"),
    Grammar(name="tool-calls", title="Jamba, Hunyuan A13B", syntax="json", opens=r"<tool_calls>"),
    Grammar(name="lfm", title="LFM 2", syntax="custom", opens=r"<\|tool_call_start\|>"),
    Grammar(name="gemma", title="Gemma 4", syntax="custom", opens=r"<\|tool_call>call:"),
    Grammar(name="kimi", title="Kimi K2", syntax="json", opens=r"<\|tool_calls_section_begin\|>"),
    Grammar(name="llama", title="Llama 3", syntax="json", opens=r"<\|python_tag\|>"),
    Grammar(name="mistral", title="Mistral", syntax="json", opens=r"\[TOOL_CALLS\]"),
    Grammar(name="deepseek", title="DeepSeek V3 and R1", syntax="json", opens=r"<[｜|]tool[▁_]calls?[▁_]begin[｜|]>"),
    Grammar(name="deepseek-dsml", title="DeepSeek V3.2 and later", syntax="xml",
            opens=r"<[｜|]DSML[｜|] ?(?:function_calls|tool_calls|calls)>"),
    Grammar(name="minimax", title="MiniMax M2", syntax="xml", opens=r"<minimax:tool_call>"),
    Grammar(name="seed", title="Seed-OSS", syntax="xml", opens=r"<seed:tool_call>"),
    Grammar(name="xai", title="xAI", syntax="xml", opens=r"<xai:function_call name=|<x\.ai:tool_call>"),
    Grammar(name="invoke", title="Claude, and models that imitate it", syntax="xml",
            opens=r"<(?:antml:)?function_calls>\s*<(?:antml:)?invoke|<invoke name="),
    Grammar(name="cohere", title="Command R and A", syntax="json", opens=r"<\|START_ACTION\|>"),
    Grammar(name="functiongemma", title="FunctionGemma", syntax="custom", opens=r"<start_function_call>call:"),
    Grammar(name="internlm", title="InternLM 2", syntax="json", opens=r"<\|action_start\|>"),
    Grammar(name="qwen-agent", title="Qwen-Agent", syntax="custom", opens=r"✿FUNCTION✿"),
    Grammar(name="functools", title="Phi 4", syntax="json", opens=r"functools\[\{"),
    Grammar(name="harmony", title="gpt-oss", syntax="json", opens=r"<\|channel\|>commentary to=functions\."),
)  # fmt: skip
"""Where two marks begin at one place, the first grammar of this table counts."""


@cache
def grammars() -> tuple[Grammar, ...]:
    """Return all grammars: the built-in ones, then those of other packages. Raises `BrokenAdditionError`."""
    names = additions(GROUP)
    return (*BUILTIN, *(load(GROUP, name, module, Grammar, _check) for name, module in names.items()))


def _check(grammar: Grammar) -> None:
    """Raise an error for a grammar that cannot be used."""
    if grammar.name in {one.name for one in BUILTIN}:
        raise ValueError(f"{grammar.name!r} is the name of a built-in grammar")
    mark = re.compile(grammar.opens)
    if mark.groups:
        raise ValueError("its mark has a group; (?:…) is none")
    if mark.match(""):
        raise ValueError("its mark matches an empty text")


def any_mark() -> str:
    """Return an expression for the marks of all grammars, without groups."""
    return "|".join(one.opens for one in grammars())


@cache
def _walk() -> re.Pattern[str]:
    """Return the expression for marks and for the ends of code; the group of a mark has the grammar's number."""
    marks = "|".join(f"({one.opens})" for one in grammars())
    return re.compile(f"{marks}|(?P<fence>```)|(?P<tick>`)|(?P<line>\n)")


def mark_in(text: str) -> Marked | None:
    """Return the first mark of a call in a text, outside fenced and quoted code."""
    fenced = quoted = False
    for found in _walk().finditer(text):
        if found["fence"]:
            fenced = not fenced
        elif found["tick"]:
            quoted = not quoted
        elif found["line"]:
            quoted = False
        elif not fenced and not quoted:
            return Marked(found[0][:MAX_MARK_CHARACTERS], grammars()[(found.lastindex or 1) - 1].name)
    return None


def syntax_of(name: str) -> Syntax:
    """Return the syntax of a grammar."""
    return next((one.syntax for one in grammars() if one.name == name), "custom")
