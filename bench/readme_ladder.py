"""Writes README's ladder tables from the reports in bench/results, through `attnscope bench --from … --ladder`.

    python3 bench/readme_ladder.py [--program build/release/attnscope] [--check]

A table stands between "<!-- ladder FILE -->" and "<!-- end of ladder -->"; FILE is a report's path in the tree. --check changes
nothing and fails where a table is not its report's.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- ladder (\S+) -->\n)(.*?)(<!-- end of ladder -->)", re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "attnscope"))
    parser.add_argument("--readme", type=pathlib.Path, default=ROOT / "README.md")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    def table(match):
        made = subprocess.run([options.program, "bench", "--from", str(ROOT / match[2]), "--ladder"], check=True,
                              capture_output=True, text=True).stdout
        return match[1] + made.rstrip("\n") + "\n" + match[4]

    old = options.readme.read_text()
    new, tables = BLOCK.subn(table, old)
    if not tables:
        sys.exit(f"{options.readme} has no ladder")
    if not options.check:
        options.readme.write_text(new)
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "README.md", "of the reports"))
        sys.exit("a ladder differs from its report: run bench/readme_ladder.py")


if __name__ == "__main__":
    main()
