"""Modules that others import and few use wait until they are asked for something."""

import subprocess
import sys


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_module_is_loaded_when_something_is_asked_of_it() -> None:
    said = run(
        "import sys\nfrom turnlint.late import Late\nwith Late('colorsys'):\n    import colorsys\n"
        "print('colorsys' in sys.modules)\nprint(colorsys.rgb_to_hsv(0, 0, 1)[2])\n"
        "real = sys.modules['colorsys']\nprint(real is colorsys, real.rgb_to_hsv is colorsys.rgb_to_hsv)\n"
    )
    assert said == ["False", "1", "False", "True"]


def test_whoever_imports_it_afterwards_has_the_module_itself() -> None:
    said = run(
        "from turnlint.late import Late\nwith Late('colorsys'):\n    import colorsys\n"
        "late = colorsys\nimport colorsys\nprint(type(colorsys).__name__, late is colorsys)\n"
        "print(late.ONE_THIRD == colorsys.ONE_THIRD)\n"
    )
    assert said == ["module", "False", "True"]


def test_what_is_there_already_stays() -> None:
    said = run(
        "import sys, colorsys\nfrom turnlint.late import Late\nwith Late('colorsys'):\n"
        "    print(sys.modules['colorsys'] is colorsys)\nprint(sys.modules['colorsys'] is colorsys)\n"
    )
    assert said == ["True", "True"]


def test_a_name_that_it_does_not_have_is_missed_as_in_any_module() -> None:
    said = run(
        "from turnlint.late import Late\nwith Late('colorsys'):\n    import colorsys\n"
        "try:\n    colorsys.nothing\nexcept AttributeError as error:\n    print('colorsys' in str(error))\n"
    )
    assert said == ["True"]


def test_schemas_are_made_after_a_run_began_without_what_makes_them() -> None:
    said = run(
        "import turnlint.cli\nturnlint.cli._import_msgspec()\nimport msgspec\n"
        "print(msgspec.json.schema(list[int])['type'], type(msgspec.inspect.type_info(int)).__name__)\n"
    )
    assert said == ["array", "IntType"]
