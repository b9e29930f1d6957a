"""The native scanner parses JSON as strictly as the exact reader, accepts plain records, and stays inside its bytes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from budgets import examples
from turnlint import carriers, compiled
from turnlint.documents import census
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.fastpath.choice import choose_scanner
from turnlint.fastpath.passed import Counting
from turnlint.model import Record

ROOT = Path(__file__).parent.parent
COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(compiled.load() is None, reason="the native scanner is not compiled")


def scanner_of(wire: str, *providers: str) -> Counting:
    carrier = carriers.carrier(wire)
    options = Options(format=wire, providers=providers)
    first = [Record(1, 0, b'{"messages":[]}')]
    found = choose_scanner(carrier, carrier.open(), first, Book(options), Source("-", None), told=True)
    assert found
    return found


def is_accepted(line: bytes, wire: str = "openai-chat") -> bool:
    return scanner_of(wire).scan(line, 1, 0).passed == 1


def request_with_text(text: str | bytes) -> bytes:
    """A request with this text, as spelled between quotes."""
    raw = text if isinstance(text, bytes) else json.dumps(text).encode()[1:-1]
    return b'{"messages":[{"role":"user","content":"go on, ' + raw + b'"}]}'


def given_input(value: bytes) -> bytes:
    """A request with a call with this input."""
    call = b'{"type":"tool_use","id":"toolu_aaaaaaaaaaaa","name":"read","input":' + value + b"}"
    result = b'{"type":"tool_result","tool_use_id":"toolu_aaaaaaaaaaaa","content":"x"}'
    return (
        b'{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"read","input_schema":{"type":"object"}}],'
        b'"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[' + call + b"]},"
        b'{"role":"user","content":[' + result + b"]}]}"
    )


@pytest.mark.skipif(not (ROOT / "hatch_build.py").exists(), reason="an installed copy")
def test_the_compiled_module_is_that_of_this_checkout() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from hatch_build import digest
    finally:
        sys.path.remove(str(ROOT))
    native = compiled.load()
    assert native
    now = digest(ROOT / "native")
    assert now == native.DIGEST, "install it again: pip install --editable ."


@settings(deadline=None)
@given(st.text(), st.booleans())
@example("\U0001f600é\x7f\u2028", False)
@example("\U0001f600é\x00", True)
def test_every_text_is_accepted(text: str, ascii_only: bool) -> None:
    text = "".join(letter for letter in text if not "\ud800" <= letter <= "\udfff")
    raw = json.dumps(text, ensure_ascii=ascii_only).encode()[1:-1]
    assert is_accepted(request_with_text(raw))


RAW = st.lists(
    st.one_of(
        st.sampled_from([b"\\", b"\\u", b"\\ud83d", b"\\ude00", b"\\u00e9", b'\\"', b"\\n", b"\\x", b"a" * 17, b"\t", b"\0"]),
        st.binary(min_size=1, max_size=4),
        st.text(max_size=4).map(lambda text: text.encode(errors="surrogatepass")),
    ),
    max_size=8,
).map(b"".join)  # fmt: skip


@settings(max_examples=examples(1500), deadline=None)
@given(RAW)
@example(b"\xed\xa0\x80")
@example(b"\xf4\x90\x80\x80")
@example(b"\xc0\x80")
@example(b"\xe2\x9c")
@example(b"\\ud83d\\ude00")
@example(b"\\ude00\\ud83d")
def test_texts_are_accepted_if_and_only_if_they_are_well_formed(raw: bytes) -> None:
    line = request_with_text(raw)
    try:
        whole = json.loads(line.decode())
    except ValueError:
        fine = False
    else:
        text = whole["messages"][0]["content"] if list(whole) == ["messages"] else "\ud800"
        fine = not any("\ud800" <= letter <= "\udfff" for letter in text)
    if b'"' in raw.replace(b'\\"', b""):
        return  # it may end the text, with any bytes after it
    assert is_accepted(line) == fine


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(400), deadline=None)
@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.data())
def test_no_other_than_a_plain_value_is_accepted(value: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode(errors="surrogatepass")
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(raw)))
        end = min(len(raw), at + data.draw(st.integers(0, 6)))
        raw = (
            raw[:at]
            + data.draw(st.sampled_from([b"", raw[at:end] * 2, b"0", b"1e9", b",", b'"a":1,', b"-", b"."]))
            + raw[end:]
        )
    if is_accepted(given_input(raw), "anthropic"):
        assert raw.startswith(b"{")
        assert census.is_plain(raw)


@pytest.mark.parametrize(
    "raw",
    [b"{}", b'{"a":[1,-0,0.5,1e9,{"b":null}]}', b'{\t"a" : "b" }', b'{"a":' + b"[" * 50 + b"]" * 50 + b"}"],
)
def test_plain_values_are_accepted(raw: bytes) -> None:
    assert is_accepted(given_input(raw), "anthropic")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2}', b'{"a":{"b":1,"b":1}}', b'{"a":1e999}', b'{"a":123456789012345678901}', b'{"a":01}', b'{"a":1,}',
        b'{"a" 1}', b'{"a":tru}', b"[]", b'"x"', b"null", b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", b"{" * 100_000,
        b'{"\\u0061":1}', b'{"a":\xff}', b'{"a":NaN}',
    ],
)  # fmt: skip
def test_other_or_rare_values_are_left_to_the_plain_reader(raw: bytes) -> None:
    assert not is_accepted(given_input(raw), "anthropic")


def test_a_turn_of_many_calls_is_accepted_and_a_repeated_id_is_not() -> None:
    names = [f"call_{number:012}" for number in range(4000)]

    def line(ids: list[str]) -> bytes:
        function = {"name": "read", "arguments": "{}"}
        calls = [{"id": identifier, "type": "function", "function": function} for identifier in ids]
        results = [{"role": "tool", "tool_call_id": identifier, "content": "x"} for identifier in ids]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return json.dumps({"messages": [{"role": "user", "content": "go"}, message, *results]}).encode()

    scanner = scanner_of("openai-chat")
    assert scanner.scan(line(names), 1, 0).passed == 1
    assert scanner.scan(line([*names, names[7]]), 1, 0).passed == 0
    assert scanner.scan(line(names[:3]), 1, 0).passed == 1


@given(st.binary(max_size=200))
def test_any_bytes_can_be_scanned(window: bytes) -> None:
    for wire in ("openai-chat", "anthropic"):
        seen = scanner_of(wire).scan(window, 1, 0)
        assert seen.lines == len(window.split(b"\n")) - (window.endswith(b"\n") or not window)
        assert [*seen.spans] or not window


def sanitizers() -> Iterator[str]:
    for name in ("libasan.so", "libubsan.so"):
        run = subprocess.run(
            [str(COMPILER), f"-print-file-name={name}"], capture_output=True, text=True, check=False
        )
        path = run.stdout.strip()
        if os.path.isabs(path):
            yield path


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="no compiler that can watch memory")
def test_no_memory_outside_of_its_bytes_is_read_or_written(tmp_path: Path) -> None:
    """Compiled with sanitizers for memory accesses, and run on broken lines, it exits normally."""
    libraries = list(sanitizers())
    if len(libraries) < 2:
        pytest.skip("the compiler's watchers are not here")
    import sysconfig

    include = sysconfig.get_paths()["include"]
    sources = [str(path) for path in sorted((ROOT / "native").glob("*.c"))]
    flags = [
        "-std=c11",
        "-O1",
        "-g",
        "-fPIC",
        "-shared",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    made = tmp_path / "_native.abi3.so"
    command = [
        str(COMPILER),
        *flags,
        f"-I{include}",
        '-DTURNLINT_DIGEST="watched"',
        *sources,
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True, capture_output=True)
    environment = {
        **os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("lint", "rules", "tests")),
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "watched.py"), str(made), "400"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert int(run.stdout) > 200
