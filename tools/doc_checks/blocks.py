"""Fenced blocks of the docs: commands are run, printed output and shown files are compared.

The rules, for who writes docs:

- A block of the language `sh` that calls weir (`weir` or `build/release/weir` begins a command) is
  run, whole, by bash with -e and pipefail; every command in it must end with 0. The blocks of one
  document share a scratch folder, in order.
- The scratch folder holds the checkout (README.md, examples/, presets/, ...) as links, `prof/` (a
  copy of the traces of examples/late-host, to stand for the reader's own) and an empty `build/`
  with `release/weir`.
- `<!-- not run: REASON -->` on the line before a block: it is not run, but commands and options in
  it must exist. `<!-- ends with N -->`: the exit code that is expected of the last command.
- Blocks that use $WEIR_DATA run only where that folder is; those that call jq only where jq is.
- `<!-- output -->` before a block: it is what the block of commands before it printed on standard
  output. `<!-- errors -->`: what it printed on standard error.
- `<!-- file: PATH -->` before a block: it is that file of the checkout.
- check-docs --write puts the present output and files into the documents.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(```|~~~)\s*([\w-]*)\s*$")
MARK = re.compile(r"^<!--\s*(not run|ends with|output|errors|file)\b:?\s*(.*?)\s*-->$")
CALL = re.compile(r"(?:^|[|;&(]|\bthen|\bdo|!)\s*(?:\./)?(?:build/release/)?weir\s")
WEIR = re.compile(r"(?<![\w/.-])(?:\./)?(?:build/release/)?weir(?=\s)")
LINE_ENDS = ("|", "||", "&&", ";", ">", ">>", "2>", "<", "&", "do", "done", "then", "fi", ")")


@dataclass
class Block:
    start: int                  # line of the opening fence, from 1
    end: int                    # line of the closing fence
    language: str
    lines: list
    mark: str = ""
    value: str = ""             # of the mark

    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def calls_weir(self):
        return self.language == "sh" and any(CALL.search(line) for line in self.lines)


@dataclass
class Document:
    path: Path
    lines: list
    blocks: list = field(default_factory=list)


def read_document(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    document, opened, before = Document(path, lines), None, ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            mark = MARK.match(before.strip())
            opened = Block(number, 0, fence[2], [], *(mark.groups() if mark else ("", "")))
        elif opened is not None and fence and not fence[2]:
            opened.end = number
            document.blocks.append(opened)
            opened = None
        elif opened is not None:
            opened.lines.append(line)
        before = line
    return document


# --- which commands and options there are ---

def known_options(weir):
    """{command: {option: takes a value}} from the help of the binary."""
    def help_of(*words):
        return subprocess.run([weir, "help", *words], capture_output=True, text=True,
                              check=True).stdout

    options = {}
    for command in re.findall(r"^  ([a-z]+)  +\S", help_of(), re.M):
        options[command] = {m[1]: bool(m[2]) for m in re.finditer(
            r"^  (--[a-z-]+)( [A-Z.]+)?(?:\s|$)", help_of(command), re.M)}
    return options


def call_problem(words, options):
    """Why the words behind `weir` cannot be right, or None."""
    if not words or words[0] in ("--version", "--help"):
        return None
    command = words[0]
    if command not in options:
        return f"there is no command {command}"
    if command == "help":
        return None
    rest = iter(words[1:])
    for word in rest:
        name, equals, _ = word.partition("=")
        if not name.startswith("--") or name == "--help":
            continue
        if name not in options[command]:
            return f"weir {command} has no option {name}"
        if options[command][name] and not equals and next(rest, None) is None:
            return f"{name} needs a value"
    return None


def calls_of(block):
    """(line number, words behind weir) of each call in a block; continued lines are joined."""
    pending, start = "", 0
    for number, line in enumerate(block.lines, block.start + 1):
        start = start or number
        pending += line.strip().removeprefix("$ ")
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        lexer = shlex.shlex(pending, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            words = []
        for i, word in enumerate(words):
            begins = i == 0 or words[i - 1] in LINE_ENDS + ("(", "!", "if")
            if begins and (word == "weir" or word.endswith("release/weir")):
                end = next((k for k in range(i, len(words)) if words[k] in LINE_ENDS), len(words))
                yield start, words[i + 1:end]
        pending, start = "", 0


# --- running ---

class Scratch:
    """A folder to run the blocks of one document in."""

    def __init__(self, root, weir):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-docs-"))
        self.work = self.folder / "work"
        (self.work / "build" / "release").mkdir(parents=True)
        (self.work / "build" / "release" / "weir").symlink_to(weir)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "weir").symlink_to(weir)
        for entry in root.iterdir():
            if entry.name not in (".git", "build", "prof"):
                (self.work / entry.name).symlink_to(entry)
        (self.work / "prof").mkdir()
        for trace in (root / "examples" / "late-host").glob("*.pt.trace.json.gz"):
            shutil.copy(trace, self.work / "prof")

    def run(self, block):
        environment = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8",
                           PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text()], cwd=self.work,
                              env=environment, capture_output=True, timeout=600, check=False,
                              stdin=subprocess.DEVNULL)

    def remove(self):
        shutil.rmtree(self.folder)


def missing_for(block):
    """What a block needs that is not here, or None."""
    text = block.text()
    if "$WEIR_DATA" in text and not os.path.isdir(os.environ.get("WEIR_DATA", "")):
        return "WEIR_DATA"
    if re.search(r"\bjq\b", text) and not shutil.which("jq"):
        return "jq"
    return None


class Checker:
    def __init__(self, root, weir, write):
        self.root, self.weir, self.write = root, weir, write
        self.options = known_options(weir)
        self.problems = []
        self.ran = 0
        self.skipped = 0

    def check(self, path):
        document = read_document(path)
        if not document.blocks:
            return
        scratch = Scratch(self.root, self.weir)
        try:
            shown = self.check_blocks(document, scratch)
        finally:
            scratch.remove()
        if self.write and shown:
            for block, text in reversed(shown):
                document.lines[block.start:block.end - 1] = text.splitlines()
            path.write_text("".join(line + "\n" for line in document.lines), encoding="utf-8")

    def check_blocks(self, document, scratch):
        """Runs the blocks; returns (block, text that should be there) where they differ."""
        done, shown = None, []
        for block in document.blocks:
            where = f"{document.path.relative_to(self.root)}:{block.start}"
            for number, words in calls_of(block) if block.language in ("sh", "console") else ():
                problem = call_problem(words, self.options)
                if problem:
                    self.problems.append(f"{where.rsplit(':', 1)[0]}:{number}: {problem}")
            if block.mark == "file":
                self.compare(block, (self.root / block.value).read_text(encoding="utf-8"), where,
                             shown)
            elif block.mark in ("output", "errors"):
                if done is not None:
                    stream = done.stdout if block.mark == "output" else done.stderr
                    self.compare(block, stream.decode("utf-8", "replace"), where, shown)
            elif block.calls_weir() and block.mark != "not run":
                done = self.run(block, where, scratch)
        return shown

    def run(self, block, where, scratch):
        """What the run gave, or None where its output means nothing."""
        missing = missing_for(block)
        if missing:
            self.skipped += 1
            print(f"{where}: not run, {missing} is not here")
            return None
        done = scratch.run(block)
        self.ran += 1
        expected = int(block.value) if block.mark == "ends with" else 0
        if done.returncode != expected:
            self.problems.append(f"{where}: ends with {done.returncode}, not {expected}\n"
                                 + block.text() + done.stderr.decode("utf-8", "replace"))
            return None
        return done

    def compare(self, block, want, where, shown):
        lines = [line.rstrip() for line in want.rstrip().splitlines()]
        if lines == [line.rstrip() for line in block.text().rstrip().splitlines()]:
            return
        shown.append((block, "\n".join(lines)))
        if not self.write:
            self.problems.append(f"{where}: not what there is now (tools/check-docs --write WEIR "
                                 "puts it there; read the diff)")
