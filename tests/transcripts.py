"""Random conversations, sound and broken, on the plain chat wire.

Generated from a seed: users, assistants, calls and results with valid and invalid ids, missing results, repeated
results, results under another id, and turns in a wrong position.
"""

import string
from random import Random
from typing import Any

Messages = list[dict[str, Any]]
ALPHABET = string.ascii_letters + string.digits
ODD_IDS = ("call_123", "abc", "aB3dE6gH9x", "null", "", "a b c d e", "ünïcödeé")
ODD_NAMES = ("a.b", "two words", "x" * 65)
HARM = (0.0, 0.0, 0.06, 0.2)
"""The probability of each fault in one conversation; half of them stay sound."""


class Maker:
    """A conversation during its generation."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.harm = rng.choice(HARM)
        self.messages: Messages = []

    def has_fault(self, weight: float = 1.0) -> bool:
        return self.rng.random() < self.harm * weight

    def is_drawn(self, chance: float) -> bool:
        return self.rng.random() < chance

    def add_message(self, role: str, content: str | None = "hm", **more: Any) -> None:
        self.messages.append({"role": role, "content": content, **more})

    def identifier(self) -> str:
        if self.has_fault(0.5):
            return self.rng.choice(ODD_IDS)
        return "".join(self.rng.choices(ALPHABET, k=9))

    def conversation(self) -> Messages:
        for _ in range(self.rng.randrange(3)):
            if self.is_drawn(0.5):
                self.add_message("system")
        for _ in range(self.rng.randint(1, 3)):
            self.round()
        if not self.messages or not self.has_fault():
            self.add_message("user")
        elif self.messages[-1]["role"] == "assistant" and self.is_drawn(0.3):
            self.messages[-1]["prefix"] = True
        if self.has_fault(2) and len(self.messages) > 1:
            self.shuffle()
        return self.messages

    def round(self) -> None:
        if not self.has_fault():
            self.add_message("user")
        if self.is_drawn(0.15):
            self.add_message("user")
        if self.is_drawn(0.6):
            self.add_results(self.add_calls())
        if self.is_drawn(0.7):
            self.add_message("assistant", self.rng.choice(["", None]) if self.has_fault(0.2) else "Done.")

    def add_calls(self) -> list[str]:
        """A turn of calls, and the ids that need results."""
        ids = [self.identifier() for _ in range(self.rng.randint(1, 3))]
        if self.has_fault(0.5):
            ids[-1] = ids[0]
        calls: list[dict[str, Any]] = []
        for identifier in ids:
            name = self.rng.choice(ODD_NAMES) if self.has_fault(0.3) else "look_up"
            arguments = self.rng.choice(["{}", '{"a": 1}'])
            function = {"name": name, "arguments": arguments}
            calls.append({"id": identifier, "type": "function", "function": function})
        if self.has_fault(0.2):
            del calls[0]["id"]
        self.add_message("assistant", self.rng.choice(["I will look.", "", None]), tool_calls=calls)
        if self.is_drawn(0.4):
            del self.messages[-1]["content"]
        return ids

    def add_results(self, ids: list[str]) -> None:
        given = list(ids)
        if self.is_drawn(0.2):
            self.rng.shuffle(given)
        if self.has_fault():
            given.pop(self.rng.randrange(len(given)))
        if given and self.has_fault():
            given.append(self.rng.choice(given))
        if given and self.has_fault():
            given[self.rng.randrange(len(given))] = self.rng.choice([self.identifier(), *ids])
        for identifier in given:
            self.add_message("tool", "ok", tool_call_id=identifier)
            if self.is_drawn(0.2):
                self.messages[-1]["name"] = "a b" if self.has_fault(0.3) else "look_up"
            if self.has_fault(0.2):
                del self.messages[-1]["tool_call_id"]

    def shuffle(self) -> None:
        """Move one message to a wrong position."""
        messages = self.messages
        place = self.rng.randrange(len(messages) - 1)
        how = self.rng.randrange(4)
        if how == 0:
            messages[place], messages[place + 1] = messages[place + 1], messages[place]
        elif how == 1:
            del messages[place]
        elif how == 2:
            messages.insert(place, {"role": "system", "content": "Be brief."})
        else:
            messages.insert(place, dict(messages[place + 1]))


def conversations(count: int, seed: int) -> list[Messages]:
    rng = Random(seed)  # noqa: S311 - the same ones in every run
    return [Maker(rng).conversation() for _ in range(count)]
