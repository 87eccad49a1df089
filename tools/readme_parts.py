"""Write the computed parts of the README: a program's output and the paper's scores.

::

    python tools/readme_parts.py            # writes them
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAPER = ROOT / "tests" / "data" / "paper" / "paper_tables.json"

# Size of the terminal in which the example runs.
LINES, COLUMNS = 40, 80
# The example and the block with its output.
EXAMPLE = re.compile(r"```sh\n(scbench example .*?)```\n\n```text\n(.*?)```", re.DOTALL)
# The rows of the table of published scores.
TABLE = re.compile(r"(\| bucket \| scores \|.*\n\|---.*\n)((?:\|.*\n)*)")


def updated_readme(text: str, folder: Path) -> str:
    """Return the README with its computed parts; the example runs in a folder."""
    match = EXAMPLE.search(text)
    if match is None:
        raise ValueError("README.md has no example")
    output = example_output(match[1], folder)
    text = text[: match.start(2)] + output + text[match.end(2) :]
    rows = score_rows()
    return TABLE.sub(lambda table: table[1] + rows, text, count=1)


def example_output(commands: str, folder: Path) -> str:
    """Return the output of commands in a terminal."""
    main_end, program_end = pty.openpty()
    size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
    fcntl.ioctl(program_end, termios.TIOCSWINSZ, size)
    # By default, a pseudo-terminal writes line ends as two characters.
    attributes = termios.tcgetattr(program_end)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(program_end, termios.TCSANOW, attributes)
    programs = str(Path(sys.executable).parent)
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    with (folder / "messages").open("w") as messages:
        process = subprocess.Popen(  # noqa: S603  (commands from our own page)
            ["bash", "-e", "-c", commands],  # noqa: S607  (its place differs)
            cwd=folder,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=program_end,
            stderr=messages,
        )
    os.close(program_end)
    parts = []
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:
            # Linux reports the end of a terminal's output as an error.
            break
        if not part:
            break
        parts.append(part)
    os.close(main_end)
    if process.wait():
        raise RuntimeError((folder / "messages").read_text("utf-8"))
    return b"".join(parts).decode().strip("\n") + "\n"


def score_rows() -> str:
    """Return the rows of the paper's Table 1: the score, and the change with tools."""
    tables = json.loads(PAPER.read_text("utf-8"))
    models = [model["key"] for model in tables["models"]]
    lines = []
    for row in tables["table1"]:
        cells = [row["bucket"].lower(), str(row["n"])]
        for model in models:
            scores = row["models"][model]
            change = f"{scores['tools_delta']:+.1f}"
            cells.append(f"{scores['no_tools']:.1f} ({change})")
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        README.write_text(
            updated_readme(README.read_text("utf-8"), Path(scratch)), "utf-8"
        )
