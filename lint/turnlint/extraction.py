"""Compute the facts about a conversation that was parsed and paired.

One pass over the messages and one over the pairs collect all fields of `ConversationFacts`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from turnlint.bounded_cache import BoundedCache
from turnlint.documents.decode import without_space
from turnlint.facts import (
    ITEM_PATTERNS,
    NO_KEYS,
    ConversationFacts,
    Empty,
    Labels,
    Mark,
    Said,
    Step,
    are_linked,
    request_facts,
)
from turnlint.harmless import has_only_foreign_names, is_kept_elsewhere
from turnlint.keys import ReadKeys
from turnlint.ledger import Interaction, Ledger, is_missing, usable
from turnlint.ledger.values import LONGEST_WORD, has_redaction
from turnlint.model import (
    Arguments,
    Call,
    Content,
    Message,
    Origin,
    Result,
    Text,
    Thinking,
    Transcript,
    Written,
)
from turnlint.names import NO_NAMES, Names, names_of, tool_names_of


def facts_of(
    transcript: Transcript, ledger: Ledger, opened: dict[int, Any] | None = None
) -> ConversationFacts:
    """Return the facts about a conversation and its pairs. `opened` caches decoded records, as `Case.opened` does."""
    found = _Gathered(transcript)
    for index, message in enumerate(transcript.messages):
        found.add(index, message)
    found.close()
    _add_pairing(found, ledger)
    return found.facts({} if opened is None else opened)


_SOUND = frozenset({"object", "nothing", "free"})
_NOTHING = frozenset({b"", b"null", b'""', b"[]"})
_UNSIGNED = frozenset({"absent", "blank"})
_START: Labels = frozenset({"start"})


_Kind = tuple[str, bool, str, Content]
"""The role of a message as written, whether it has calls, its label for results, and its content."""
_Summary = tuple[frozenset[str], frozenset[Said], frozenset[str]]
_summaries: BoundedCache[tuple[_Kind, ...], _Summary] = BoundedCache(1000, 1 << 16)
"""By the kinds of messages of a conversation; bounded by the characters of the roles."""


class _Gathered:
    """The facts about the messages up to some position."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.joins = transcript.wire.joins
        self.triggers: set[str] = set()
        self.marks: set[Mark] = set()
        self.kinds: dict[_Kind, Labels] = {}
        self.labels: list[Labels] = []
        self.spoken: list[bool] = []
        """Whether each message has more than thoughts."""
        self.speaking = [0]
        """For each position, the number of earlier messages that are empty or have more than calls, results
        and thoughts.
        """
        self.empties: set[tuple[Empty, str]] = set()
        self.mixed_roles: set[str] = set()
        self.authors: set[str] = set()
        self.ids: set[str] = set()
        self.call_ids: list[str] = []
        self.names: set[str] = set()
        self.result_names: set[str] = set()
        self.server_names: set[str] = set()
        self.server_ids: set[str] = set()
        self.calls = self.most_calls = self.longest_result = 0
        self.arguments: set[tuple[Written, Arguments]] = set()
        self.results: set[tuple[str, Written]] = set()
        self.result_parts: set[str] = set()
        self.nameless_results: set[str] = set()
        self.idless_results: set[str] = set()
        self.items: dict[str, int] = {}
        """Position of each item, by its id."""
        self.item_kinds: set[str] = set()
        self.odd_items: set[str] = set()
        self.index = -1
        self.role = ""
        """Role of the previous message."""
        self.has_row = False
        """Whether two messages of the assistant are neighbours."""
        self.has_prefix = self.is_linked = False
        self.is_behind_words = False
        """Whether the next message is joined to earlier ones, which have more than results."""
        self.is_behind_call = False
        """Whether the current turn of the assistant has a call."""
        self.ends_in_thinking = False
        self.is_unsigned = False
        """Whether the first call of a message behind the last words of the user has no signature."""
        self.starts_bare: bool | None = None
        """Whether the current turn begins with a call and without a thought; `None` before the assistant speaks."""
        self.is_behind_reasoning = False
        """Whether the previous message is a reasoning item with an id."""
        self.has_reasoning = self.is_reasoned = self.has_call_alone = False
        self.origin: Origin | None = None
        self.response: str | None = None
        """The response of the last call, until a result follows."""
        self.responses: set[str] = set()
        """The responses with calls."""

    def add(self, index: int, message: Message) -> None:
        role, written, blocks = message.role, message.written_role, message.blocks
        is_assistant, is_same = role == "assistant", role == self.role
        self.index, self.role = index, role
        if is_same and is_assistant:
            self.has_row = True
        if self.ends_in_thinking and not (is_assistant and self.joins):
            self.marks.add("final-thinking")
        if self.has_prefix:
            self.marks.add("prefix-before-end")
        self.has_prefix = message.prefix
        if not is_assistant or not self.joins or index == self.transcript.answer_at:
            self.is_behind_call = False
        if not (is_same and role == "user" and self.joins):
            self.is_behind_words = False
        first_call: Call | None = None
        first_thought: tuple[int, Thinking] | None = None
        own_calls, own_result, other, speaks, answers, media = 0, -1, -1, not blocks, False, False
        for place, block in enumerate(blocks):
            if type(block) is Result:
                answers = True
                if self._add_result(block):
                    own_result = place
                continue
            if other < 0:
                other = place
            if type(block) is Text:
                speaks = True
                if self.is_behind_call:
                    self.marks.add("text-after-call")
                if block.call_marker is not None:
                    self.triggers.add("marker")
            elif type(block) is Call:
                first_call = first_call or block
                if self._add_call(block):
                    own_calls += 1
                    self.is_behind_call = is_assistant
            elif type(block) is Thinking:
                first_thought = first_thought or (place, block)
                if is_assistant:
                    self._add_thought(block)
                if block.item:
                    self._add_item_id(block.item, block.kind)
            else:
                speaks = media = True
                if block.dialect is not None:  # type: ignore[union-attr]
                    self.triggers.add("dialect")
        calls = first_call is not None
        results = "result" if answers else ""
        if answers and type(blocks[-1]) is Result and blocks[-1].server:
            results = "server-result"
        key = written, calls, results, message.content
        label = self.kinds.get(key)
        if label is None:
            label = self.kinds[key] = _label(written, calls, results)
        self.labels.append(label)
        self.spoken.append(speaks or calls or answers)
        self.speaking.append(self.speaking[-1] + speaks)
        if calls or answers or media or first_thought is not None:
            self.mixed_roles.add(written)
        self.most_calls = max(self.most_calls, own_calls)
        self._add_blanks(message)
        if own_result >= 0 and role in ("user", "tool"):
            self._add_place(message, own_result, other)
        self.is_behind_words = self.is_behind_words or other >= 0 or bool(message.blanks)
        if is_assistant:
            self._add_speech(message, first_thought, calls=calls)
        else:
            self.ends_in_thinking = False
            if not answers:
                self.starts_bare = None
                if role == "user" and ((speaks and blocks) or first_thought is not None):
                    self.is_unsigned = False
        if first_call is not None and not first_call.server and first_call.signature in _UNSIGNED:
            self.is_unsigned = True
        if message.kind or message.item or self.is_reasoned or self.is_behind_reasoning:
            self._add_item(message, first_call)
        if message.origin is not None:
            self.triggers.update(("switch",) if self.origin not in (None, message.origin) else ())
            self.origin = message.origin
        if answers:
            self.response = None
        if calls and message.response and usable(message.response):
            self._add_response(message.response)
        self._add_rest(message)

    def _add_blanks(self, message: Message) -> None:
        if not message.blocks:
            self.empties.add(("message", message.written_role))
        for blank in message.blanks:
            if blank.white:
                self.empties.add(("white", message.written_role))
            elif blank.at != ("content",):
                self.empties.add(("text", message.written_role))

    def _add_place(self, message: Message, result: int, other: int) -> None:
        """Compare the position of the last result of the caller's own tools with that of the first other content."""
        if self.is_behind_words:
            self.marks.add("result-behind")
        if other >= 0 or message.blanks:
            self.marks.add("result-beside")
            if 0 <= other < result or any(blank.before <= result for blank in message.blanks):
                self.marks.add("result-behind")

    def _add_speech(self, message: Message, thought: tuple[int, Thinking] | None, *, calls: bool) -> None:
        """Add a message of the assistant."""
        blocks, blanks = message.blocks, message.blanks
        if thought is not None:
            place, block = thought
            if place or any(blank.before == 0 and blank.at < block.at for blank in blanks):
                self.marks.add("late-thought")
        self.ends_in_thinking = (
            thought is not None
            and type(blocks[-1]) is Thinking
            and not any(blank.before >= len(blocks) for blank in blanks)
        )
        if self.starts_bare is None:
            self.starts_bare = calls and thought is None
        if calls and message.reasoning in ("absent", "null"):
            self.marks.add("call-without-reasoning-field")

    def _add_response(self, response: str) -> None:
        """Add the response of a message with calls."""
        if response != self.response and response in self.responses:
            self.triggers.add("split")
        self.response = response
        self.responses.add(response)

    def _add_rest(self, message: Message) -> None:
        """Add the fields of a message beside its blocks."""
        if message.name is not None:
            self.authors.add(message.name)
        if message.no_calls:
            self.marks.add("no-calls")
        if message.has_odd_text:
            self.marks.add("odd-text")
        if message.reasoning != "absent":
            self.marks.add("reasoning-field")
        if message.empty:
            self.triggers.add("empty")
        if message.dialect:
            self.triggers.add("dialect")
        if message.inner_calls:
            self.triggers.add("echo")
        if message.parent_at:
            self.is_linked = True

    def _add_call(self, call: Call) -> bool:
        """Add a call; return whether it is of the caller's own tools."""
        identifier, name, marks, triggers = call.id, call.name, self.marks, self.triggers
        if call.arguments not in _SOUND:
            triggers.add("arguments")
        if not name:
            triggers.add("name")
        if call.dialect is not None:
            triggers.add("dialect")
        if is_missing(identifier):
            marks.add("idless-server-call" if call.server else "idless-call")
            if call.needs_id:
                triggers.add("id")
        elif len(identifier) > LONGEST_WORD or usable(identifier):  # type: ignore[arg-type]
            (self.server_ids if call.server else self.ids).add(identifier)  # type: ignore[arg-type]
        self.arguments.add((call.written, call.arguments))
        if b'""' in call.body:
            marks.add("empty-key")
        if not call.kind:
            marks.add("untyped-call")
        if call.item:
            self._add_item_id(call.item, call.kind)
        if call.server:
            self.server_names.add(name or "")
            return False
        self.calls += 1
        self.call_ids.append(identifier or "")
        if name:
            self.names.add(name)
        if call.signature == "unfit":
            marks.add("unfit-signed-call")
        return True

    def _add_result(self, result: Result) -> bool:
        """Add a result; return whether it is of the caller's own tools."""
        identifier, triggers = result.id, self.triggers
        if is_missing(identifier):
            self.idless_results.add(result.kind)
            if result.needs_id:
                triggers.add("id")
        elif len(identifier) > LONGEST_WORD or usable(identifier):  # type: ignore[arg-type]
            (self.server_ids if result.server else self.ids).add(identifier)  # type: ignore[arg-type]
        if result.name:
            self.result_names.add(result.name)
        else:
            self.nameless_results.add(result.kind)
            if result.kind == "function":
                triggers.add("name")
        if result.dialect is not None:
            triggers.add("dialect")
        if result.value is not None and _has_odd_marks(result):
            triggers.add("lifecycle")
        if result.item:
            self._add_item_id(result.item, result.kind)
        body = result.body
        self.longest_result = max(self.longest_result, len(body))
        if result.error or body[:1] == b"[" or body[:1].isspace():
            said = without_space(body.strip())
            if said == b"[]":
                self.marks.add("empty-list-result")
            if result.error and said in _NOTHING:
                self.marks.add("failed-hollow-result")
        if result.server:
            return False
        self.results.add((result.kind, result.written))
        self.result_parts.update(result.parts)
        if result.may_be_file:
            self.marks.add("file-result")
        return True

    def _add_thought(self, thought: Thinking) -> None:
        """Add a thought of the assistant."""
        self.marks.add("thought")
        if not thought.summed:
            self.marks.add("reasoning-without-summary")
        if thought.cipher:
            return
        if thought.signature == "unfit":
            self.marks.add("unfit-signed-thought")
        elif thought.signature in _UNSIGNED:
            if not thought.words:
                self.marks.add("empty-thought")
            else:
                self.marks.add(
                    "unsigned-thought" if thought.signature == "absent" else "blank-signed-thought"
                )

    def _add_item(self, message: Message, call: Call | None) -> None:
        """Add a message that is an item."""
        kind, item = message.kind, message.item
        is_reasoning = kind == "reasoning"
        if self.is_behind_reasoning and not (is_reasoning or item):
            self.marks.add("stranded-reasoning")
        self.is_behind_reasoning = is_reasoning and bool(item)
        self.is_reasoned = is_reasoning or (self.is_reasoned and message.role != "user")
        if item == "":  # the native side leaves such records to Python
            self.item_kinds.add(kind)
            self.odd_items.add(kind)
        if not item:
            return
        self._add_item_id(item, kind)
        if is_reasoning:
            self.has_reasoning = True
            if not any(type(block) is Thinking and block.cipher for block in message.blocks):
                self.marks.add("unencrypted-reasoning")
        if call is not None and not self.is_reasoned and item.startswith("fc_"):
            self.has_call_alone = True

    def close(self) -> None:
        transcript = self.transcript
        messages = transcript.messages
        if self.ends_in_thinking:
            self.marks.add("final-thinking")
        if not self._are_counted():
            self.marks.add("uncounted-call")
        if self.is_unsigned:
            self.marks.add("unsigned-call")
        if self.is_behind_reasoning and not transcript.open_end:
            self.marks.add("stranded-reasoning")
        if self.has_reasoning and self.has_call_alone:
            self.marks.add("call-without-reasoning")
        if self.starts_bare and self.role != "assistant":
            self.marks.add("unthought-turn")
        last = messages[-1].blocks[-1:] if messages else ()
        if last and type(last[0]) is Text and last[0].trailing:
            self.marks.add("trailing-space")
        if transcript.dead:
            self.triggers.add("dead")
        if transcript.misfits:
            self.triggers.add("misfit")
        links = transcript.links or (messages if self.is_linked else ())
        if links and not are_linked((one.id, one.parent) for one in links):
            self.triggers.add("link")

    def _are_counted(self) -> bool:
        """Whether the ids of the calls are `NAME:N`, where `N` counts them, and results have no other ids."""
        for number, one in enumerate(self.call_ids):
            name, _, rest = one.partition(":")
            if not name or rest != str(number):
                return False
        return self.ids.issubset(self.call_ids)

    def _add_item_id(self, item: str, kind: str) -> None:
        """Add the id of an item, once for its message and once for its block."""
        self.item_kinds.add(kind)
        if self.items.setdefault(item, self.index) != self.index:
            self.marks.add("item-twice")
        pattern = ITEM_PATTERNS.get(kind)
        if pattern is not None and not re.fullmatch(pattern, item) and not has_redaction(item):
            self.odd_items.add(kind)

    def facts(self, opened: dict[int, Any]) -> ConversationFacts:
        transcript, kinds = self.transcript, self.kinds
        messages, request = transcript.messages, transcript.request
        last = messages[-1] if messages else None
        is_asked = request is not None and bool(request.key)
        steps, answers = self._steps()
        heads, tails = _parts_of(self.server_ids) if self.server_ids else (frozenset[str](), NO_NAMES)
        roles, contents, spoken = _summary_of(kinds)
        return ConversationFacts(  # in the order of the fields: names would double the time
            frozenset(self.triggers),
            request_facts(request),
            len(messages),
            is_asked and last is not None and request.whole and not transcript.open_end,  # type: ignore[union-attr]
            is_asked and last is not None and last.at[:-1] == (*request.at, request.key),  # type: ignore[union-attr]
            transcript.is_log,
            transcript.headless,
            transcript.open_end,
            roles,
            contents,
            (last.content, last.written_role, "call" in self.labels[-1]) if last else None,
            frozenset(self.empties),
            frozenset(self.mixed_roles),
            frozenset(self.marks),
            steps,
            answers,
            self.labels[0] if self.labels else frozenset(),
            spoken,
            _labels_of_last(last),
            names_of(self.authors),
            names_of(self.ids),
            tool_names_of(self.names),
            tool_names_of(self.result_names),
            frozenset(self.server_names),
            heads,
            tails,
            self.calls,
            self.most_calls,
            frozenset(self.arguments),
            frozenset(self.results),
            frozenset(self.result_parts),
            frozenset(self.nameless_results),
            frozenset(self.idless_results),
            self.longest_result,
            frozenset(self.item_kinds),
            frozenset(self.odd_items),
            max(map(len, self.items)) if self.items else 0,
            ReadKeys(transcript, opened) if is_asked else NO_KEYS,
        )

    def _steps(self) -> tuple[frozenset[Step], frozenset[Step]]:
        """Return the pairs of successive turns, and the same pairs with the last message of the first turn.

        That message is the last one with more than thoughts.
        """
        if not (self.joins and self.has_row):
            found = frozenset(pairwise([_START, *self.labels]))
            return found, found
        turns = list(self._turns())
        whole = frozenset(pairwise([_START, *(turn for turn, _ in turns)]))
        pairs = ((before, here) for (_, before), (here, _) in pairwise(turns))
        return whole, frozenset([(_START, turns[0][0]), *pairs])

    def _turns(self) -> Iterator[Step]:
        whole: Labels = frozenset()
        last: Labels | None = None
        before = ""
        for message, labels, speaks in zip(self.transcript.messages, self.labels, self.spoken, strict=True):
            if message.role == before == "assistant":
                whole |= labels
            else:
                if before:
                    yield whole, last or whole
                whole, last, before = labels, None, message.role
            if speaks:
                last = labels
        yield whole, last or whole


def _summary_of(kinds: dict[_Kind, Labels]) -> _Summary:
    """Return roles, contents, and all labels."""
    key = tuple(kinds)
    found = _summaries.get(key)
    if found is None:
        found = (
            frozenset([role for role, _, _, _ in key]),
            frozenset([(content, role, calls) for role, calls, _, content in key]),
            frozenset().union(*kinds.values()),
        )
        _summaries.put(key, found, sum(len(role) for role, _, _, _ in key))
    return found


def _has_odd_marks(result: Result) -> bool:
    """Whether the marks of a result may contradict each other: a value or an error alone is complete."""
    is_partial = result.complete is False or result.status == "pending"
    return is_partial or bool(result.value) is bool(result.error)


def _parts_of(ids: set[str]) -> tuple[frozenset[str], Names]:
    """Return the start of ids up to their first `_`, and a summary of the rest."""
    cuts = [(one, one.find("_") + 1) for one in ids]
    return frozenset([one[:cut] for one, cut in cuts]), names_of([one[cut:] for one, cut in cuts])


def _labels_of_last(message: Message | None) -> frozenset[str]:
    if message is None:
        return frozenset()
    found = frozenset((message.role, message.written_role))
    return found | {"prefix"} if message.prefix else found


def _add_pairing(found: _Gathered, ledger: Ledger) -> None:
    """Add the facts about the positions of calls and results, and about their pairs."""
    places: dict[int, int] = {}
    speaking, is_anywhere = found.speaking, found.transcript.wire.anywhere
    for one in ledger.interactions:
        asked, answer = one.asked, one.answer
        if answer is None or asked.call.server:
            continue
        if places.setdefault(asked.turn, answer.message) != answer.message:
            found.marks.add("scattered-results")
        is_spoken = speaking[answer.message] > speaking[asked.message + 1]
        if is_spoken:
            found.marks.add("spoken-between")
        if is_anywhere and (is_spoken or answer.turn != asked.turn):
            found.triggers.add("outside")
    odd: set[str] = set(ledger.odd)
    if "orphan" in odd and is_kept_elsewhere(found.transcript):
        odd.discard("orphan")
    if "renamed" in odd and has_only_foreign_names(found.transcript, ledger):
        odd.discard("renamed")
    if "taken" in odd and _are_distinct(ledger.interactions):
        odd.discard("taken")
    if "by-position" in odd and _are_in_order(ledger.interactions):
        odd.discard("by-position")
    found.triggers |= odd


def _are_distinct(interactions: tuple[Interaction, ...]) -> bool:
    """Whether no two calls share an id. Calls without an id share none."""
    ids = [one.asked.call.id for one in interactions if usable(one.asked.call.id)]
    return len(set(ids)) == len(ids)


def _are_in_order(interactions: tuple[Interaction, ...]) -> bool:
    """Whether results that are paired by position have the order of their calls, in each turn."""
    latest = turn = -1
    for one in interactions:
        if one.asked.turn != turn:
            turn, latest = one.asked.turn, -1
        if one.answer is not None and one.how == "by-position":
            if one.answer.seq < latest:
                return False
            latest = one.answer.seq
    return True


def _label(role: str, calls: bool, results: str) -> Labels:
    found = {role, "call"} if calls else {role}
    return frozenset({*found, "result", results} if results else found)
