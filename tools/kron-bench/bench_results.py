"""Result files of kron-bench: one JSON object with where and how, and a row per case.

SPDX-License-Identifier: MIT
"""

import datetime
import json
import os
import pathlib
import shlex
import subprocess
import sys


class Results:
    """One file, written anew after each row."""

    def __init__(self, path, title, place, about, options):
        """`about`: what is known of machine and program before the first case."""
        self.path, self.title, self.place, self.about = path, title, place, about
        self.options, self.rows = options, []
        if options.resume and path and path.exists():
            self.rows = json.loads(path.read_text())["rows"]

    def has(self, name):
        """Whether there is a row that need not be measured again: nothing disturbed it."""
        return any(row["case"] == name and not row.get("disturbed") for row in self.rows)

    def add(self, row):
        """Adds a row, or replaces one that was disturbed at least as often."""
        for i, other in enumerate(self.rows):
            if other["case"] == row["case"]:
                if row.get("disturbed", 0) <= other["disturbed"]:
                    self.rows[i] = row
                break
        else:
            self.rows.append(row)
        if self.path:
            self._write()

    def add_problem(self, case, text):
        print(f"{case.name:44} FAILED: {text}", flush=True)
        if any(row["case"] == case.name for row in self.rows):
            return
        self.add({"case": case.name, "op": case.op, "type": case.type, "rows": case.rows,
                  "factors": case.text, "precision": case.precision, "trans": case.trans,
                  **case.extra, "problem": text})

    def _write(self):
        arguments = [a for a in sys.argv[1:] if a != "--resume"]
        content = {"title": self.title,
                   "command": self.options.command or shlex.join(["kron-bench", *arguments]),
                   "date": datetime.datetime.now().isoformat(timespec="minutes"),
                   **self.about, "limits": self.place.limits(),
                   "samples": self.options.samples, "rows": self.rows}
        # A reader never sees half a file.
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(content, indent=1) + "\n")
        os.replace(temporary, self.path)


def commit():
    """Of the source tree or the bundle that this script is part of."""
    root = pathlib.Path(__file__).resolve().parents[2]
    if (root / "COMMIT").exists():
        return (root / "COMMIT").read_text().strip()
    done = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
