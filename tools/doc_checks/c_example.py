"""Compiles examples/c-api with the library that lies beside the binary, and runs it."""
import os
import subprocess
import tempfile
from pathlib import Path

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def check_c_example(root, weir):
    build = weir.parent
    library = build / "libweir.a"
    if not library.exists():
        print(f"examples/c-api: not compiled, {library} is not here")
        return []
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    # A library with sanitizers or counters needs them in the program, too.
    extra = []
    if "WEIR_SANITIZE:BOOL=ON" in cache:
        extra.append("-fsanitize=address,undefined")
    if "WEIR_COVERAGE:BOOL=ON" in cache:
        extra.append("--coverage")
    compiler = next((line.split("=", 1)[1] for line in cache.splitlines()
                     if line.startswith("CMAKE_C_COMPILER:")), os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "idle")
        command = [compiler, *STRICT, *extra, f"-I{root / 'include'}",
                   str(root / "examples" / "c-api" / "idle.c"), str(library), "-lpthread", "-lm",
                   "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [f"examples/c-api/idle.c: does not compile\n{done.stderr}"]
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        want = (root / "examples" / "c-api" / "expected").read_text()
        if done.returncode != 0 or done.stdout != want:
            return [f"examples/c-api/idle.c: ends with {done.returncode}, prints\n{done.stdout}"
                    f"not\n{want}"]
    return []
