"""Checks scripts: the last expression's value, the printed text, and rollback."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

from callboard.host import SCENE_MUTATE, SCENE_READ, SCRIPT
from callboard_testing.checks.objects import raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class Scripts:
    needs = (SCENE_READ, SCENE_MUTATE, SCRIPT)

    def test_python_comes_first(self, bench: Bench) -> None:
        port: Any = bench.port(SCRIPT)
        assert port.languages()[0] == "python"
        for language in port.languages():
            assert language == language.lower()

    def test_the_last_expression_is_the_value(self, bench: Bench) -> None:
        for code, value in (
            ("1 + 2", 3),
            ("x = 4", None),
            ("def double(n):\n    return 2 * n\n\n[double(n) for n in (1, 2)]", [2, 4]),
            ("{'a': (1, None, True)}", {"a": [1, None, True]}),
        ):
            answer = bench.call("script__execute", {"code": code})
            assert answer == {"language": "python", "value": value}, code
        assert "object" in bench.call("script__execute", {"code": "object()"})["value"]

    def test_runs_know_nothing_of_each_other(self, bench: Bench) -> None:
        bench.call("script__execute", {"code": "left_behind = 1"})
        raised(NameError, bench.call, "script__execute", {"code": "left_behind"})

    def test_what_is_printed_goes_to_stdout(self, bench: Bench) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            bench.call("script__execute", {"code": "print('heard')"})
        assert printed.getvalue() == "heard\n"

    def test_errors_are_raised_and_other_languages_refused(self, bench: Bench) -> None:
        raised(ZeroDivisionError, bench.call, "script__execute", {"code": "1 / 0"})
        raised(SyntaxError, bench.call, "script__execute", {"code": "if"})
        wrong = {"code": "1", "language": "cobol"}
        raised(ValueError, bench.call, "script__execute", wrong)
