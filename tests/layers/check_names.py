"""No code knows a shipped kernel, one of its knobs or an emulated device by name: they are data, and so is the default.

    python3 tests/layers/check_names.py [ROOT]

The names are read from kernels/*.json and assets/devices/*.json and looked for in the string literals of app/. A kernel's id is
refused as a whole literal, since `scalar` is an English word too; a knob and a device in the midst of one too. What runs where
nothing is asked for is the preset in presets/ with an "invite".
"""

import json
import pathlib
import re
import sys

# Names that docs/writing-a-kernel.md gives a meaning for every kernel, and the files that read it.
CONVENTIONS = {("app/charts/attention_tiles.cpp", "BLOCK_M"), ("app/charts/attention_tiles.cpp", "BLOCK_N")}
COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)')|//.*""")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def names_of(manifests, devices):
    """Kernels' ids, knobs' names and devices' ids; a library's name, which several kernels share, is not among them."""
    libraries = {manifest.get("library") for manifest in manifests}
    return ({manifest["id"] for manifest in manifests} - libraries,
            {knob["name"] for manifest in manifests for knob in manifest.get("knobs", [])},
            {device["id"] for device in devices})


def breaches_in(text, name, names):
    kernels, knobs, devices = names
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = COMMENT.sub(lambda match: match.group(1) or "", line)
        for literal in [] if line.lstrip().startswith("#include") else LITERAL.findall(line):
            known = {literal} & kernels | set(re.findall(r"[A-Za-z_]\w*", literal)) & knobs
            known |= {device for device in devices if re.search(rf"(?<!\w){re.escape(device)}(?!\w)", literal)}
            found += [f"{name}:{number}: {one} is one of the shipped data, which code does not name"
                      for one in sorted(known) if (name, one) not in CONVENTIONS]
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    names = names_of(*([json.loads(path.read_text()) for path in sorted((root / folder).glob("*.json"))]
                       for folder in ("kernels", "assets/devices")))
    if not all(names):
        print("There are no kernels, knobs or devices to look for.")
        return 1
    found = [breach for path in sorted((root / "app").rglob("*")) if path.suffix in {".cpp", ".h"}
             for breach in breaches_in(path.read_text(), path.relative_to(root).as_posix(), names)]
    print("\n".join(found) if found else "No code names a shipped kernel, knob or device.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
