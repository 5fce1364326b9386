"""All measurements: ``make bench``.

    python benchmarks/run.py [--json FILE] [section ...]

Medians of rounds in which the compared calls take turns. A machine that does other work gives other numbers; compare
columns of one run, not runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import against_numpy
import c_baseline
import library_size
import numpy as np
import overhead
import scaling
import start_up
from measuring import Table


def main() -> None:
    """Run the sections that are named, or all."""
    sections = {
        "c": c_baseline.section,
        "numpy": against_numpy.section,
        "overhead": overhead.section,
        "startup": start_up.section,
        "scaling": scaling.section,
        "recipes": library_size.section,
    }
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sections", nargs="*", help=f"any of {', '.join(sections)}; all without")
    parser.add_argument("--json", type=Path, help="write the tables to this file")
    options = parser.parse_args()
    unknown = set(options.sections) - set(sections)
    if unknown:
        parser.error(f"no section is named {', '.join(sorted(unknown))}; sections are {', '.join(sections)}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} CPUs, {platform.machine()}")
    start = time.perf_counter()
    tables: list[Table] = []
    for name in options.sections or sections:
        for table in sections[name]():
            print(f"\n{table.text()}", flush=True)
            tables.append(table)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps([table.data() for table in tables], indent=1) + "\n")


if __name__ == "__main__":
    main()
