"""a message holds a kind of content that its role may not have

What it does
    Reports content blocks of a kind that the provider does not take in messages of that role.

Why it matters
    The provider refuses the whole request.

How it happens
    A client writes a picture, a document or a tool call into a `system` message of the history.

What fix does
    lossy: gives the message the role `user`, where it holds nothing but texts, pictures and documents.

Evidence
    Anthropic: "role 'system' supports text, tool_addition, and tool_removal blocks only" (probes of nine models on
    2026-09-10, of claude-opus-5-5 on 2026-10-06; claude-code 73821).
"""

from collections.abc import Iterator

from turnlint.api import Case, ContentKind, Finding, Fix, Put, Raw, Rule, Text, quote

RULE = Rule("PR325", "content-kind", "error", fix="lossy", triggers=frozenset())

_TALK = (
    b'{"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, {"role": '
    b'"system", "content": [%s]}]}\n'
)  # fmt: skip

BAD = (
    Raw(
        "anthropic",
        _TALK % b'{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}',
        (("PR325", 1),),
        provider="anthropic",
    ),
)
GOOD = (
    Raw("anthropic", _TALK % b'{"type": "text", "text": "Be brief."}', provider="anthropic"),
)  # fmt: skip

_ANYBODYS = frozenset({"text", "image", "document"})
"""Kinds that a user message takes on every wire."""


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ContentKind):
        for index, message in enumerate(case.messages):
            if message.written_role != clause.role:
                continue
            kinds = [("text" if isinstance(one, Text) else one.kind, one) for one in message.blocks]
            wrong = next((block for kind, block in kinds if kind not in clause.kinds), None)
            if wrong is None:
                continue
            kind = quote(getattr(wrong, "kind", ""))
            movable = {kind for kind, _ in kinds} <= _ANYBODYS
            fix = Fix("lossy", "give the message the role `user`", (Put(("role",), b'"user"', index),))
            yield RULE.at_message(
                case, index, f"{quote(clause.role)} message holds a block of kind {kind}", below=wrong.at,
                label=f"not in a {quote(clause.role)} message", under=clause, fix=fix if movable else None,
            )  # fmt: skip
