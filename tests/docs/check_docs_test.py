#!/usr/bin/env python3
"""The check of the docs finds what is wrong in them. tools/check-docs runs this first.

A small checkout is made for each test; the binary is a script that prints known lines.
"""
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from doc_checks import blocks, sources  # noqa: E402

WEIR = """#!/bin/sh
case "$*" in
help) echo "  trace    where?";;
"help trace") echo "  --json   JSON"; echo "  --top N  rows";;
"trace bad") echo "weir: bad" >&2; exit 2;;
*) echo "one"; echo "two";;
esac
"""


class CheckDocs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.weir = self.root / "fake-weir"
        self.weir.write_text(WEIR)
        self.weir.chmod(0o755)

    def tearDown(self):
        self.folder.cleanup()

    def check(self, text, write=False):
        page = self.root / "page.md"
        page.write_text(text)
        checker = blocks.Checker(self.root, self.weir, write)
        checker.check(page)
        return checker, page

    def test_runs_a_block_and_accepts_its_output(self):
        checker, _ = self.check("```sh\nweir trace x\n```\n\n<!-- output -->\n```text\none\ntwo\n```\n")
        self.assertEqual((checker.ran, checker.problems), (1, []))

    def test_tells_other_output_and_writes_it(self):
        text = "```sh\nweir trace x\n```\n\n<!-- output -->\n```text\nthree\n```\nend\n"
        checker, _ = self.check(text)
        self.assertEqual(len(checker.problems), 1)
        self.assertIn("page.md:6", checker.problems[0])
        checker, page = self.check(text, write=True)
        self.assertEqual(checker.problems, [])
        self.assertEqual(page.read_text(), text.replace("three", "one\ntwo"))

    def test_tells_an_unexpected_exit_code(self):
        checker, _ = self.check("```sh\nweir trace bad\n```\n")
        self.assertIn("ends with 2, not 0", checker.problems[0])
        checker, _ = self.check("<!-- ends with 2 -->\n```sh\nweir trace bad\n```\n"
                                "<!-- errors -->\n```text\nweir: bad\n```\n")
        self.assertEqual(checker.problems, [])

    def test_a_command_in_the_middle_must_succeed_too(self):
        checker, _ = self.check("```sh\nweir trace bad\nweir trace x\n```\n")
        self.assertEqual(len(checker.problems), 1)

    def test_tells_options_that_are_not_there_even_where_nothing_is_run(self):
        checker, _ = self.check("<!-- not run: no GPU here -->\n```sh\ntrue\nweir trace x --yes\n"
                                "weir train x\nweir trace --top\n```\n")
        self.assertEqual(checker.ran, 0)
        self.assertEqual(checker.problems, [
            "page.md:4: weir trace has no option --yes", "page.md:5: there is no command train",
            "page.md:6: --top needs a value"])

    def test_a_shown_file_must_be_that_file(self):
        (self.root / "a.c").write_text("int a;\n")
        checker, _ = self.check("<!-- file: a.c -->\n```c\nint b;\n```\n")
        self.assertEqual(len(checker.problems), 1)

    def test_blocks_of_one_page_share_a_folder_that_is_not_the_checkout(self):
        checker, _ = self.check("```sh\nweir trace x > made\n```\n\n```sh\nweir trace x\ncat made\n```\n"
                                "<!-- output -->\n```\none\ntwo\none\ntwo\n```\n")
        self.assertEqual(checker.problems, [])
        self.assertFalse((self.root / "made").exists())

    def test_every_source_file_needs_its_line_and_every_line_its_file(self):
        (self.root / "src" / "base").mkdir(parents=True)
        (self.root / "src" / "base" / "a.c").touch()
        (self.root / "src" / "base" / "b.h").touch()
        (self.root / "ARCHITECTURE.md").write_text(
            "### `src/base/`\n\n- `a.[ch]`: a\n- `gone.c`: c\n")
        self.assertEqual(sources.check_architecture(self.root), [
            "ARCHITECTURE.md: no line for src/base/b.h",
            "ARCHITECTURE.md:4: src/base/gone.c is not there"])

    def test_links_must_lead_somewhere(self):
        page = self.root / "page.md"
        page.write_text("[a](page.md) [b](https://x.org) [c](gone.md#x)\n```\n[d](gone)\n```\n")
        self.assertEqual(sources.check_links(self.root, [page]), ["page.md:1: gone.md is not there"])


if __name__ == "__main__":
    os.environ.pop("WEIR_DATA", None)
    unittest.main()
