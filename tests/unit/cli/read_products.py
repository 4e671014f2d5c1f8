"""Reads what each writer wrote with a reader of its format, and compares it with the product of a harmless text.

    python3 read_products.py FOLDER

FOLDER has a folder for each text, 0 for the harmless one, with a product of each writer. A text that adds a statement, an
element, a cell, an argument or an escape sequence changes the product's structure, and is a fault.
"""
import ast
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree

STUB = """
import sys, types
torch = types.ModuleType("torch")
torch.float16 = "float16"
torch.cuda = types.ModuleType("torch.cuda")
sys.modules["torch"] = torch
sys.modules["torch.cuda"] = torch.cuda
import runpy
runpy.run_path(sys.argv[1], run_name="launch")
"""


def hidden_characters(text, allowed="\n"):
    return sorted({f"U+{ord(c):04X}" for c in text
                   if c not in allowed and (unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") or
                                            unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))})


def python(path, text):
    subprocess.run([sys.executable, "-c", STUB, str(path)], cwd=path.parent, check=True, capture_output=True)
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def cpp(path, text):
    stubs = path.parent / "stubs"
    stubs.mkdir(exist_ok=True)
    for name in re.findall(r"^#include <(.*)>$", text, re.M):
        (stubs / name).write_text("")
    done = subprocess.run(["g++", "-E", "-P", "-trigraphs", "-nostdinc", "-nostdinc++", "-x", "c++", f"-I{stubs}", str(path)],
                          check=True, capture_output=True)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', done.stdout.decode())


def shell(path, text):
    tools = path.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "nvcc").write_text("#!/bin/sh\necho $#\n")
    (tools / "nvcc").chmod(0o755)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
    done = subprocess.run(["sh", str(path)], cwd=path.parent, env=environment, check=True, capture_output=True)
    return done.stdout


def svg(path, text):
    return [(node.tag, sorted(node.attrib)) for node in xml.etree.ElementTree.fromstring(path.read_bytes()).iter()]


def shape_of(value):
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    return [shape_of(item) for item in value] if isinstance(value, list) else type(value).__name__


def structured(path, text):
    return shape_of(json.loads(path.read_bytes()))


def markdown(path, text):
    """Each line as its cells and what marks its start, code spans and escaped characters aside."""
    lines = []
    for line in text.split("\n"):
        assert not re.search(r"(?<!\\)(?:\\\\)*[\x00-\x09]", line)
        line = re.sub(r"\\\|", "", line)  # escaped by the table, in code too
        line = re.sub(r"\\[!-/:-@\[-`{-~]", "e", re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "code", line))
        marks = re.findall(r"[*`<>\[\]~&$]", line)
        lines.append((line.count("|"), marks, re.match(r"#*|[-+] |\d+[.)] ", line).group(0), line.startswith("    ")))
    return lines


def table(path, text):
    """The cells of each row by number; none is a formula to a spreadsheet."""
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert not any(cell and cell[0] in "=+-@" for row in rows for cell in row)
    return [len(row) for row in rows]


READERS = {".py": python, ".cpp": cpp, ".cu": cpp, ".sh": shell, ".svg": svg, ".json": structured, ".md": markdown, ".csv": table,
           ".txt": lambda path, text: None if path.name.endswith(".lines.txt") else text.count("\n")}


def fault_of(path, harmless):
    text = path.read_bytes().decode()  # anything but UTF-8 is a fault
    if found := hidden_characters(text):
        return f"holds {found}"
    reader = READERS[path.suffix]
    if reader(path, text) != harmless:
        return "is not what the harmless text gives:\n" + text[:3000]
    return None


def main():
    folder = pathlib.Path(sys.argv[1])
    faults, count = [], 0
    for first in sorted(path for path in (folder / "0").iterdir() if path.is_file()):
        harmless = READERS[first.suffix](first, first.read_text())
        for path in folder.glob(f"*/{first.name}"):
            count += 1
            try:
                fault = fault_of(path, harmless)
            except Exception as error:  # any refusal of the product by a reader is what the test looks for
                fault = f"cannot be read: {error!r} {getattr(error, 'stderr', b'')!r}"
            if fault:
                faults.append(f"{path.relative_to(folder)}: {fault}")
    faults += [f"{path} was made" for path in folder.rglob("canary")]
    print("\n".join(faults) if faults else f"{count} products read")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
