"""The playground: a page that loads only its own files."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from playing import OFFERS, PAGE, ROOT, answering, module
from turnlint import carriers
from turnlint.cli.fix import command as fix_command
from turnlint.cli.lint import command as lint_command
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.repair.choosing import LEVELS

SCRIPTS = ("playground.js", "worker.js", "engine.js")
SHOWN = ("index.html", "playground.css", *SCRIPTS)
VOID = {"meta", "link", "input", "br"}


def read(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


class Page(HTMLParser):
    """The page's elements, and its options by their list."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.options: dict[str, list[str]] = {}
        self.list = ""
        self.inside: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "select":
            self.list = dict(attrs)["id"] or ""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        here = self.open[-1] if self.open else ""
        self.inside[here] = self.inside.get(here, "") + data
        if here == "option":
            self.options.setdefault(self.list, []).append(data)


@pytest.fixture(scope="module")
def page() -> Page:
    made = Page()
    made.feed(read("index.html"))
    made.close()
    return made


def test_the_page_is_well_formed(page: Page) -> None:
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    named = {
        name
        for _, attrs in page.elements
        for key in ("for", "aria-labelledby", "aria-describedby")
        for name in (attrs.get(key) or "").split()
    }
    assert named
    assert named <= set(ids)


def test_the_script_names_existing_elements(page: Page) -> None:
    ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    named = set(re.findall(r'\bat\("([^"]+)"\)', read("playground.js")))
    assert len(named) > 10
    assert named <= ids


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_well_formed(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not there")
    copy = tmp_path / f"{name}.mjs"  # the suffix of a module
    shutil.copyfile(PAGE / name, copy)
    run = subprocess.run([node, "--check", str(copy)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_policy_blocks_all_other_sources(page: Page) -> None:
    (policy,) = [
        attrs["content"] or ""
        for tag, attrs in page.elements
        if tag == "meta" and (attrs.get("http-equiv") or "").lower() == "content-security-policy"
    ]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules == {
        "default-src": ["'none'"],
        "script-src": ["'self'", "'wasm-unsafe-eval'"],
        "worker-src": ["'self'", "blob:"],
        "connect-src": ["'self'"],
        "style-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    tags = [tag for tag, _ in page.elements]
    first = next(index for index, (_, attrs) in enumerate(page.elements) if "http-equiv" in attrs)
    assert first < min(tags.index("link"), tags.index("script")), (
        "the policy does not apply to elements before it"
    )


def test_no_script_and_no_style_is_inline(page: Page) -> None:
    for tag, attrs in page.elements:
        assert not [name for name in attrs if name.startswith("on") or name == "style"], tag
    assert not page.inside.get("script", "").strip()
    assert "style" not in page.inside


@pytest.mark.parametrize("name", SHOWN)
def test_no_external_address_is_named(name: str) -> None:
    text = read(name)
    assert not re.search(r"(?i)\b(?:https?|wss?|ftp):|data:\w+/", text)
    assert not re.search(r"""["'`(=]\s*//""", text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_output_is_text_and_nothing_is_stored(name: str) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|createContextualFragment|setHTML",
        r"\beval\b|new Function|setAttribute",
        r"localStorage|sessionStorage|indexedDB|\bcaches\b|cookie|serviceWorker|sendBeacon|XMLHttpRequest|WebSocket",
    )
    for pattern in forbidden:
        assert not re.search(pattern, read(name)), pattern


def test_the_policy_of_the_page_applies_to_the_worker() -> None:
    """A worker from an address has the policy of that address; one from a blob has that of the page that created it."""
    assert re.findall(r"new Worker\((\w+)", read("playground.js")) == ["address"]
    assert "const address = URL.createObjectURL(" in read("playground.js")


def test_every_option_of_the_page_exists(page: Page) -> None:
    assert set(page.options) == {"format", "provider", "level", "content"}
    for name, options in page.options.items():
        assert set(options) <= set(OFFERS[name]), name
    assert page.options["level"] == list(LEVELS)
    assert page.options["content"] == list(OFFERS["content"])


def test_the_options_are_those_of_the_command_line() -> None:
    named: dict[str, Any] = {param.name: param.type for param in (*lint_command.params, *fix_command.params)}
    assert tuple(OFFERS["format"]) == named["format_name"].names == ("auto", *carriers.NAMES)
    assert tuple(OFFERS["level"]) == named["level"].names
    assert tuple(OFFERS["content"]) == named["show_content"].names
    assert OFFERS["provider"] == ["auto", "none", *Providers(packages()).names()]


def test_the_page_and_the_engine_have_one_limit() -> None:
    (bound,) = re.findall(r"const MOST_BYTES = ([\d_]+);", read("playground.js"))
    assert int(bound) == OFFERS["most_bytes"] == answering.MOST_BYTES
    assert f"{int(bound) // 1_000_000} MB at most" in read("index.html")


def test_the_build_has_all_files_that_the_page_loads(page: Page) -> None:
    build = module("build")
    linked = {attrs.get("src") or attrs.get("href") or "" for _, attrs in page.elements} - {""}
    scripts = "".join(map(read, SCRIPTS))
    loaded = set(re.findall(r'"(?:\./)?([\w-]+\.(?:js|py|jsonl))"', scripts)) - {
        "transcript.jsonl",
        "session.jsonl",
    }
    assert linked | loaded == set(build.PAGE) - {"index.html"}
    assert all((PAGE / name).is_file() for name in build.PAGE)


def test_a_build_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    command = [sys.executable, str(PAGE / "build.py")]
    for arguments in ([str(tmp_path)], [], ["--help"]):
        run = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert run.returncode == 1
        assert run.stderr.count("\n") == 1, run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_the_build_first_names_missing_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build = module("build")
    monkeypatch.setattr(build, "find_spec", lambda name: None if name == "hatchling" else name)
    monkeypatch.setattr(build, "PYODIDE", ("http://127.0.0.1:9/pyodide.tgz", ""))
    with pytest.raises(SystemExit) as ended:
        build.main([str(tmp_path / "new" / "out")])
    assert "hatchling is not installed: python -m pip install hatchling" in str(ended.value)
    assert "http://127.0.0.1:9/pyodide.tgz cannot be reached" in str(ended.value)
    assert capsys.readouterr().err.startswith("needs: ")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("fails", [True, False])
def test_a_build_is_whole_or_leaves_nothing(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = module("build")

    def download(into: Path) -> None:
        into.mkdir()
        if fails:
            raise OSError("the connection was closed")

    monkeypatch.setattr(build, "missing", list)
    monkeypatch.setattr(build, "runtime", download)
    monkeypatch.setattr(build, "msgspec", Path.touch)
    monkeypatch.setattr(build, "turnlint", Path.touch)
    out = tmp_path / "new" / "out"
    if fails:
        with pytest.raises(SystemExit, match="cannot build: the connection was closed"):
            build.main([str(out)])
        assert [*tmp_path.iterdir()] == []
    else:
        build.main([str(out)])
        assert {path.name for path in out.iterdir()} == {
            *build.PAGE,
            "pyodide",
            "msgspec.whl",
            "turnlint.whl",
        }
        assert [*out.parent.iterdir()] == [out]


def test_the_example_is_that_of_the_readme() -> None:
    assert read("example.jsonl") == (ROOT / "fixtures" / "examples" / "session.jsonl").read_text(
        encoding="utf-8"
    )
