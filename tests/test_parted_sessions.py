"""Sessions with parts that are not replayed: each part has its own ids, and doubt about a pair blocks the repair."""

from pathlib import Path
from typing import Any

from click.testing import CliRunner

from test_pi import Entry, answer, fixed, header, lines, result, tool, user
from turnlint.cli.fix import command


def _call(identifier: str | None, name: str, number: int) -> dict[str, Any]:
    call = tool(identifier, name=name, arguments={"k": number})
    return call if identifier is not None else {key: one for key, one in call.items() if key != "id"}


def _result(name: str, parent: str, identifier: str, of: str, text: str) -> Entry:
    return result(name, parent, identifier, toolName=of, content=[{"type": "text", "text": text}])


def test_a_call_of_another_branch_does_not_keep_a_result_from_its_call() -> None:
    session = [
        header(), user("a", None), answer("x", "a", _call("c1", "read", 9)),
        _result("b", "a", "c1", "write", "one"), answer("c", "b", _call("c1", "write", 1)), user("d", "c"),
    ]  # fmt: skip
    assert [(item["id"], item.get("parentId")) for item in fixed(*session)[1:]] == [
        ("a", None),
        ("x", "a"),
        ("c", "a"),
        ("b", "c"),
        ("d", "b"),
    ]


def test_new_ids_in_one_branch_do_not_change_the_pairs_of_another() -> None:
    """Both branches have calls with one id. Only those of the replayed branch get new ids."""
    calls = [_call("c1", name, number) for number, name in enumerate(("write", "read", "list"))]
    branch = [answer("x", "a", *calls[1:]), _result("y", "x", "c1", "read", "old")]
    session = [
        header(), user("a", None), *branch, answer("b", "a", *calls),
        *(_result(f"r{n}", f"r{n - 1}" if n else "b", "c1", calls[n]["name"], f"{n}") for n in range(3)), user("d", "r2"),
    ]  # fmt: skip
    after = fixed(*session)
    assert after[2:4] == branch
    ids = [item["id"] for item in after[4]["message"]["content"]]
    assert len({*ids}) == 3
    assert [item["message"]["toolCallId"] for item in after[5:8]] == ids


def test_doubt_about_a_pair_leaves_the_session_unchanged(tmp_path: Path) -> None:
    """The id of the result is that of a call in an abandoned branch."""
    session = [
        header(), user("a", None), answer("x", "a", _call("c1", "read", 9)), answer("b", "a", _call(None, "list", 1)),
        _result("c", "b", "c1", "list", "one"), answer("e", "c", _call("c2", "read", 2)), user("f", "e"),
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_bytes(before := lines(*session))
    done = CliRunner().invoke(command, [str(path)])
    assert (done.exit_code, path.read_bytes()) == (1, before)
    expected_text = (
        "unchanged: no evidence ties the result for `c1` to the call to `list`; correct the id by hand"
    )
    assert expected_text in " ".join(done.output.split())
