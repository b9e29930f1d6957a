"""Resolve the settings of one path, and keep the origin of each value.

A file takes precedence over the files that it extends, and a section over the settings for all files. A later
section takes precedence over an earlier one.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from turnlint.config.given import layer_of
from turnlint.config.meaning import faults, texts
from turnlint.config.reading import Layer, chain, lines_of, shown
from turnlint.config.selectors import BY_RULE, renew
from turnlint.errors import ConfigError
from turnlint.globs import file_steps, matches, pointer_steps
from turnlint.handwritten import Path
from turnlint.ignores import Ignore
from turnlint.own_rules.rules import Condition, OwnRule

if TYPE_CHECKING:
    from turnlint.model import Severity

REPLACED = (
    "format", "provider", "select", "preview", "fail-on", "level", "baseline", "max-record-size", "ignores-in-records",
)  # fmt: skip
"""Keys of which only the value with the highest precedence applies; values of the other keys are combined."""


class Said(Struct, frozen=True):
    """The value of a key in one file, with its origin."""

    value: Any
    origin: str
    section: str = ""
    """Pattern of the section that contains it."""


class Settings(Struct, frozen=True):
    """The settings that apply to a path; empty where no file sets anything."""

    file: str = ""
    """Settings file that was found for the path."""
    format: Said | None = None
    provider: Said | None = None
    select: Said | None = None
    preview: Said | None = None
    fail_on: Said | None = None
    level: Said | None = None
    levels: tuple[Said, ...] = ()
    """Pairs of a rule and its limit for repairs, in ascending precedence."""
    baseline: Said | None = None
    max_record_size: Said | None = None
    ignores_in_records: Said | None = None
    profiles: tuple[Said, ...] = ()
    ignore: tuple[Said, ...] = ()
    """Rules that are not applied."""
    severities: tuple[Said, ...] = ()
    """Pairs of a rule and its severity, in ascending precedence."""
    ignores: tuple[Ignore, ...] = ()
    rules: tuple[OwnRule, ...] = ()
    excluded: tuple[Said, ...] = ()

    def texts(self, said: Said | None) -> tuple[str, ...] | None:
        return None if said is None else tuple(texts(said.value))


class Config:
    """A settings file and the files that it extends, checked. Raises `ConfigError`."""

    def __init__(self, path: str, root: str | None = None, given: tuple[str, ...] = ()) -> None:
        self.path = path
        self.root = root or os.path.dirname(path)
        """Folder to which the patterns for files are relative."""
        self.layers = chain(path) if path else []
        self.given = layer_of(given) if given else None
        """Settings of the command line, which take precedence over all files."""
        self.layers += [self.given] if self.given else []
        own = frozenset(
            rule["name"] for layer in self.layers for rule in layer.document.value.get("rules", ())
        )
        for layer in self.layers:
            if wrong := list(faults(layer, own)):
                raise ConfigError(lines_of(layer.path, wrong))
        self.remarks = tuple(remark for layer in self.layers for remark in renew(layer))
        """Remarks about the rules that the settings name; none of them is an error."""
        self.sections = [
            (layer, ("paths", index), tuple(map(file_steps, texts(section["path"]))))
            for layer in self.layers
            for index, section in enumerate(layer.document.value.get("paths", ()))
        ]
        self.excluded = tuple(
            said
            for layer in self.layers
            for said in _listed(layer, ("exclude",), layer.document.value.get("exclude", ()), "")
        )
        self.ignores = tuple(one for layer in self.layers for one in _ignores(layer))
        self.rules = tuple({rule.name: rule for layer in self.layers for rule in _rules(layer)}.values())
        self.made: dict[tuple[tuple[int, ...], tuple[int, ...]], Settings] = {}

    def parts_of(self, path: str) -> tuple[str, ...]:
        """Return the path of a file in parts, relative to the root, for matching with patterns."""
        return tuple(os.path.relpath(path, self.root).split(os.sep))

    def leaving_out(self, path: str) -> Said | None:
        """Return the pattern that excludes a file found in a folder."""
        parts = self.parts_of(path) if self.excluded else ()
        return next((one for one in self.excluded if matches(file_steps(one.value), parts)), None)

    def of(self, path: str) -> Settings:
        """Return the settings of a file. Files with the same sections and ignores share one object."""
        parts = self.parts_of(path)
        held = tuple(
            number
            for number, one in enumerate(self.sections)
            if any(matches(steps, parts) for steps in one[2])
        )
        ignores = tuple(number for number, one in enumerate(self.ignores) if one.is_about(parts))
        if (held, ignores) not in self.made:
            self.made[held, ignores] = self._made(held, ignores)
        return self.made[held, ignores]

    def _made(self, held: tuple[int, ...], ignores: tuple[int, ...]) -> Settings:
        parts: list[tuple[Layer, Path]] = [(layer, ()) for layer in self.layers if layer is not self.given]
        parts += [self.sections[number][:2] for number in held]
        parts += [(self.given, ())] if self.given else []
        found: dict[str, Said] = {}
        profiles: list[Said] = []
        ignored: list[Said] = []
        by_rule: dict[str, list[Said]] = {key: [] for key in BY_RULE}
        for layer, path in parts:
            value = layer.document.value if not path else layer.document.value[path[0]][path[1]]
            section = ", ".join(texts(value["path"])) if path else ""
            for key in REPLACED:
                if key in value:
                    found[key.replace("-", "_")] = _said(layer, (*path, key), value[key], section)
            profiles += _listed(layer, (*path, "profile"), value.get("profile", ()), section)
            ignored += _listed(layer, (*path, "ignore"), value.get("ignore", ()), section)
            for key, some in by_rule.items():
                for rule, one in value.get(key, {}).items():
                    some.append(_said(layer, (*path, key, rule), (rule, one), section))
        return Settings(
            self.path, **found, profiles=tuple(profiles), ignore=tuple(ignored), severities=tuple(by_rule["severity"]),
            levels=tuple(by_rule["levels"]),
            ignores=tuple(self.ignores[number] for number in ignores), rules=self.rules, excluded=self.excluded,
        )  # fmt: skip


def _said(layer: Layer, path: Path, value: Any, section: str) -> Said:
    if path[-1] == "baseline" or "profile" in path:
        value = shown(os.path.join(layer.folder, value))
    return Said(value, layer.at(path, key=isinstance(path[-1], str)), section)


def _listed(layer: Layer, path: Path, value: Any, section: str) -> Iterator[Said]:
    if isinstance(value, str):
        yield _said(layer, path, value, section)
        return
    for index, one in enumerate(value):
        if isinstance(one, str):
            yield _said(layer, (*path, index), one, section)


def _ignores(layer: Layer) -> Iterator[Ignore]:
    for index, one in enumerate(layer.document.value.get("ignore", ())):
        if isinstance(one, dict):
            yield Ignore(
                " ".join(one["reason"].split()),
                tuple(texts(one.get("rule", ()))),
                tuple(texts(one.get("path", ()))),
                tuple(texts(one.get("conversation", ()))),
                tuple(texts(one.get("call", ()))),
                tuple(texts(one.get("pointer", ()))),
                tuple(texts(one.get("fingerprint", ()))),
                tuple(texts(one.get("model", ()))),
                one.get("before", ""),
                one.get("after", ""),
                one.get("until", ""),
                layer.at(("ignore", index)),
            )


def _rules(layer: Layer) -> Iterator[OwnRule]:
    for index, one in enumerate(layer.document.value.get("rules", ())):
        severity: Severity = one.get("severity", "warning")
        yield OwnRule(
            one["name"],
            " ".join(one["message"].split()),
            severity,
            pointer_steps(one.get("each", "")),
            tuple((pointer_steps(where), _condition(asked)) for where, asked in one.get("where", {}).items()),
            pointer_steps(one["pointer"]),
            _condition(one["when"]),
            one.get("about", ""),
            layer.at(("rules", index)),
        )


def _condition(asked: dict[str, Any]) -> Condition:
    tests = {**asked}
    absent = tests.pop("absent", False)
    tests.pop("exists", None)
    if isinstance(tests.get("kind"), str):
        tests["kind"] = [tests["kind"]]
    return Condition(tuple(tests.items()), absent)
