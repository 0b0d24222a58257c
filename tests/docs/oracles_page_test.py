#!/usr/bin/env python3
"""docs/validation/oracles.md: every test that it names is there, every row that is held names one,
and no row of the oracles is missing (where shared/ is at hand). tools/check-docs runs this.

In a row of a table, `NAME_test.c` or `NAME_test.py` in backticks says which file the names after it
belong to.
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "validation" / "oracles.md"
ORACLES = ROOT.parent / "shared" / "reference" / "network-oracles.md"
FOLDERS = {"c": "unit", "py": "data"}


def rows(page):
    """(line number, cells) of the rows of its tables, without headings and rulers."""
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("| ") and not line.startswith("| row "):
            yield number, [cell.strip() for cell in line.strip("|").split("|")]


def named_tests(cell):
    """(file, None) and (file, test) as a row names them."""
    file = None
    for word in re.findall(r"`([^`]*)`", cell):
        if re.fullmatch(r"\w+_test\.(c|py)", word):
            file = word
            yield file, None
        elif file and re.fullmatch(r"[a-z0-9_]+", word):
            yield file, word


def tests_of(root, file):
    path = root / "tests" / FOLDERS[file.rsplit(".", 1)[1]] / file
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8")
    pattern = r"cmocka_unit_test\((\w+)\)" if file.endswith(".c") else r"def (test_\w+)\(self"
    return set(re.findall(pattern, text))


def problems(root, page):
    found = []
    for number, cells in rows(page):
        named = list(named_tests(" ".join(cells)))
        for file, test in named:
            tests = tests_of(root, file)
            if tests is None:
                found.append(f"line {number}: no file {file}")
            elif test and test not in tests:
                found.append(f"line {number}: {file} has no test {test}")
        if cells[-1] == "held" and not named:
            found.append(f"line {number}: held, but no test is named")
    return found


def missing(oracles, page):
    """Rows of the oracles that have a number (A1, E8) and are not on the page."""
    held = " ".join(" ".join(cells) for _, cells in rows(page))
    numbers = re.findall(r"^\| ([AE]\d+b?)\b", oracles, re.M) + \
        re.findall(r"^(E\d+) ", oracles, re.M)
    return [n for n in numbers if not re.search(rf"\b{n}\b", held)], numbers


class OraclesPage(unittest.TestCase):
    def test_every_test_that_is_named_is_there(self):
        self.assertEqual(problems(ROOT, PAGE.read_text(encoding="utf-8")), [])

    def test_no_numbered_row_of_the_oracles_is_missing(self):
        if not ORACLES.exists():
            self.skipTest(f"no {ORACLES}")
        absent, numbers = missing(ORACLES.read_text(encoding="utf-8"),
                                  PAGE.read_text(encoding="utf-8"))
        self.assertEqual(absent, [])
        self.assertGreaterEqual(len(numbers), 24)

    def test_tells_what_is_wrong(self):
        page = ("| row | held by | status |\n|---|---|---|\n"
                "| a | `fluid_test.c` `no_such_test` | held |\n"
                "| b | `no_such_test.c` | held |\n"
                "| c | – | held |\n"
                "| d | – | no test |\n")
        self.assertEqual(problems(ROOT, page), [
            "line 3: fluid_test.c has no test no_such_test", "line 4: no file no_such_test.c",
            "line 5: held, but no test is named"])
        self.assertEqual(missing("| A1 x | 1 |\n| A2b | 1 |\nE8 hybrid\n",
                                 "| A1, E9 | held |\n")[0], ["A2b", "E8"])


if __name__ == "__main__":
    unittest.main()
