"""The repository holds no package registry's host name and no path of one person's machine.

    python3 tests/layers/check_words.py [ROOT]

The user's pip and apt decide on the registry; a path that exists on only one machine is a mistake.
"""

import pathlib
import re
import subprocess
import sys

# Written so that this file does not find itself.
REFUSED = {
    "a package registry's host name": re.compile(r"\b(?:pypi|pythonhosted|anaconda|debian|ubuntu)[.](?:org|com)\b"),
    "a path of one machine": re.compile(r"(?<![\w.$}/-])/(?:root|home/\w+|work)/\w"),
}
BINARY = {".png", ".ttf", ".cubin", ".bin", ".gz", ".zst", ".db", ".so", ".otf", ".ico"}


def tracked(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in root.rglob("*") if path.relative_to(root).parts[0] not in {"build", ".git"}]


def breaches_in(text, name):
    return [f"{name}:{number}: {what}: {match.group(0)}"
            for number, line in enumerate(text.splitlines(), 1)
            for what, pattern in REFUSED.items() for match in pattern.finditer(line)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found = []
    for path in tracked(root):
        if path.is_file() and path.suffix not in BINARY:
            found += breaches_in(path.read_text(errors="replace"), path.relative_to(root).as_posix())
    print("\n".join(found) if found else "No registry's name and no machine's path.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
