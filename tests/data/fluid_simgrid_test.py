#!/usr/bin/env python3
"""The fluid engine against SimGrid on random nets, flows, arrivals and changes of links, to 1e-9.

Needs libsimgrid-dev (Debian), a C++ compiler, and the library that lies beside WEIR_BIN; without
them the test is skipped. WEIR_SIMGRID_SEEDS: how many nets (1000)."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("WEIR_SOURCE", os.path.dirname(os.path.dirname(HERE)))
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if not compiler:
        skip("no C++ compiler")
    if not os.path.exists("/usr/include/simgrid/s4u.hpp"):
        skip("no SimGrid (apt-get install libsimgrid-dev)")
    library = os.path.join(os.path.dirname(os.environ.get("WEIR_BIN", "")), "libweir.a")
    if not os.path.exists(library):
        skip(f"no library at '{library}' (WEIR_BIN names the command beside it)")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "fluid_simgrid")
        built = subprocess.run(
            [compiler, "-std=gnu++17", "-O1", "-I", os.path.join(SOURCE, "include"), "-I",
             os.path.join(SOURCE, "src"), os.path.join(HERE, "fluid_simgrid.cpp"), library,
             "-lsimgrid", "-lm", "-lpthread", "-o", program],
            capture_output=True, text=True, check=False)
        if built.returncode != 0 and "sanitize" in built.stderr + built.stdout:
            skip("the library was built with sanitizers")
        if built.returncode != 0:
            sys.exit(built.stderr)
        seeds = os.environ.get("WEIR_SIMGRID_SEEDS", "1000")
        sys.exit(subprocess.run([program, "1", seeds, "1e-9"], check=False).returncode)


if __name__ == "__main__":
    main()
