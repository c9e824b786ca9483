"""Runs the Python blocks of documents and compares each one's output with the text block after it.

    python python/tools/pages.py docs/python.md          compares
    ATF_BLESS=1 python python/tools/pages.py docs/python.md    rewrites the text blocks

The blocks of a document share their variables. They run in a temporary folder with the repository's `samples`.
"""

import contextlib
import difflib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def run(path):
    """Runs a document's blocks. Returns the differences, and the document with the actual output."""
    text = path.read_text()
    variables = {"__name__": "__main__"}
    differences = []

    def block(match):
        code, shown = match["code"], match["shown"] or ""
        line = text[: match.start()].count("\n") + 2
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Make the line numbers in errors match the document.
            exec(compile("\n" * (line - 1) + code, str(path), "exec"), variables)
        printed = printed.getvalue()
        if printed != shown:
            lines = difflib.unified_diff(
                shown.splitlines(), printed.splitlines(), f"{path}:{line}", "printed", lineterm="")
            differences.extend(lines)
        result = f"```python\n{code}```\n"
        return result + (f"\n```text\n{printed}```\n" if printed else "")

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        (pathlib.Path(folder) / "samples").symlink_to(ROOT / "samples")
        blessed, count = BLOCK.subn(block, text)
        os.chdir(ROOT)
    assert count == text.count("```python\n"), f"{path}: a Python block was not found"
    return differences, blessed, count


def main(names):
    failed = False
    for name in names:
        path = pathlib.Path(name).resolve()
        differences, blessed, count = run(path)
        if os.environ.get("ATF_BLESS"):
            path.write_text(blessed)
        elif differences:
            print(*differences, sep="\n", file=sys.stderr)
            failed = True
        print(f"{name}: {count} blocks")
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
