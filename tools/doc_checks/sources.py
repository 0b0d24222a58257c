"""Files of the checkout against the docs: one line a file, links that lead somewhere."""
import fnmatch
import json
import re
import shutil
import subprocess

FOLDERS = ("src", "include", "tools", "presets", "examples", "scripts")
SECTION = re.compile(r"^### `([\w./-]+)/`")
ENTRY = re.compile(r"^- ((?:`[^`]+`(?:, )?)+): \S")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
FENCED = re.compile(r"^\s*(```|~~~)")


def tracked_files(root):
    """Paths below FOLDERS that git knows; all of them where there is no git."""
    names = []
    if shutil.which("git"):
        names = subprocess.run(["git", "ls-files", "--", *FOLDERS], cwd=root, capture_output=True,
                               text=True, check=False).stdout.splitlines()
    if names:
        found = [root / name for name in names]
    else:
        found = [p for folder in FOLDERS for p in (root / folder).rglob("*")]
    return sorted(str(p.relative_to(root)) for p in found
                  if p.is_file() and "__pycache__" not in p.parts)


def check_architecture(root):
    """Each file has its line in ARCHITECTURE.md, and each line its file.

    Sections are `### \\`folder/\\``; a line is "- `arena.[ch]`: what it is"; names are shell patterns.
    """
    section, entries, problems = None, [], []
    for number, line in enumerate((root / "ARCHITECTURE.md").read_text().splitlines(), 1):
        heading = SECTION.match(line)
        if heading or line.startswith("## "):
            section = heading[1] if heading else None
            continue
        entry = ENTRY.match(line) if section else None
        if entry:
            entries += [(number, f"{section}/{name}") for name in re.findall("`([^`]+)`", entry[1])]
    files = tracked_files(root)
    for path in files:
        if not any(fnmatch.fnmatchcase(path, pattern) for _, pattern in entries):
            problems.append(f"ARCHITECTURE.md: no line for {path}")
    for number, pattern in entries:
        if not any(fnmatch.fnmatchcase(path, pattern) for path in files):
            problems.append(f"ARCHITECTURE.md:{number}: {pattern} is not there")
    return problems


def check_links(root, documents):
    problems = []
    for path in documents:
        fenced = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= bool(FENCED.match(line))
            for target in [] if fenced else LINK.findall(line):
                if "://" not in target and not target.startswith("mailto:") and not (
                        path.parent / target).exists():
                    problems.append(f"{path.relative_to(root)}:{number}: {target} is not there")
    return problems


def check_make_targets(root, documents):
    makefile = (root / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.M))
    problems = []
    for document in documents:
        fenced = False
        for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= bool(FENCED.match(line))
            for target in re.findall(r"^\s*(?:\$ )?make ([a-z]+)", line):
                if fenced and target not in targets:
                    problems.append(f"{document.relative_to(root)}:{number}: "
                                    f"the Makefile has no target {target}")
    return problems


def check_damage_kinds(root):
    """Every kind of damage that import/ counts is explained."""
    page = (root / "docs" / "how-to" / "damaged-files.md").read_text(encoding="utf-8")
    text = "".join(p.read_text() for p in sorted((root / "src" / "import").glob("*.c")))
    kinds = sorted(set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', text)))
    return [f"docs/how-to/damaged-files.md: no line for `{kind}`" for kind in kinds
            if f"| `{kind}` |" not in page]


def schema_keys(node, definitions, seen):
    """Names of all properties below a node of a JSON Schema; names of causes are no properties."""
    if isinstance(node, list):
        return set().union(*(schema_keys(item, definitions, seen) for item in node))
    if not isinstance(node, dict):
        return set()
    found = set(node.get("properties", ()))
    reference = node.get("$ref", "")
    if reference and reference not in seen:
        seen.add(reference)
        found |= schema_keys(definitions[reference.rsplit("/", 1)[1]], definitions, seen)
    for child in [*node.get("properties", {}).values(), node.get("items"), *node.get("anyOf", ())]:
        found |= schema_keys(child, definitions, seen)
    return found


def check_json_page(root):
    """Every key of the JSON Schema is explained."""
    schema = json.loads((root / "docs" / "schema" / "result.schema.json").read_text())
    page = (root / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.\[\]]+)`", page))
    named = {part for name in named for part in re.split(r"[.\[\]]+", name)}
    missing = sorted(schema_keys(schema, schema["$defs"], set()) - named)
    return [f"docs/reference/json.md: no line for `{key}`" for key in missing]
