"""Record what the programs of ``tests/programs`` print with the real MXNet.

usage: MINIGLUON_ORACLE=PYTHON python tests/oracle/freeze_programs.py

Writes ``tests/data/programs.json``: for each program its lines as lists of words.
"""

import json
import os
import subprocess
from pathlib import Path

TESTS = Path(__file__).parents[1]

#: what MXNet prints about itself
REMARKS = ("WARNING", "learning rate")


def printed(program):
    """The lines a program prints, as words."""
    command = [os.environ["MINIGLUON_ORACLE"], "-W", "ignore", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split() for line in text.splitlines() if not line.startswith(REMARKS)]


if __name__ == "__main__":
    found = {
        program.stem: printed(program) for program in sorted((TESTS / "programs").glob("*.py"))
    }
    lines = (
        f"{json.dumps(name)}: [\n " + ",\n ".join(map(json.dumps, rows)) + "\n]"
        for name, rows in found.items()
    )
    (TESTS / "data" / "programs.json").write_text("{" + ",\n".join(lines) + "}\n")
