"""Holds every #include under app/ and every DEPS line of app/CMakeLists.txt to app/layers.json.

    python3 tests/layers/check_layers.py [ROOT]

Prints one line for each breach, "file:line: what is wrong", and exits 1 if there is any.
"""

import fnmatch
import json
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
LAYER = re.compile(r"attnscope_layer\(\s*(\w+)([^)]*)\)")
LINKED = re.compile(r"target_link_libraries\(\s*attnscope_(\w+)\s+\w+([^)]*)\)")
SOURCES = {".h", ".cpp", ".inc", ".hpp", ".cc"}


def breaches(root):
    root = pathlib.Path(root)
    app = root / "app"
    rules = json.loads((app / "layers.json").read_text())
    found = []
    found += unknown_words(rules)
    found += cycles(rules["layers"])
    found += reaching_what_is_forbidden(rules)
    found += wrong_includes(app, rules)
    found += wrong_deps(app / "CMakeLists.txt", rules["layers"])
    found += unused(app, rules["layers"])
    return found


def unknown_words(rules):
    layers = rules["layers"]
    lists = list(layers.items()) + list(rules["folders"].items())
    found = [f"app/layers.json: {name} may include {other}, which is no layer"
             for name, allowed in lists for other in allowed if other not in layers]
    return found + [f"app/layers.json: never names {name}, which is no layer"
                    for key in ("layers", "reach") for name in rules["never"][key] if name not in layers]


def closure(layers, start):
    seen, waiting = set(), [start]
    while waiting:
        for other in layers.get(waiting.pop(), []):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def cycles(layers):
    return [f"app/layers.json: {name} reaches itself" for name in layers if name in closure(layers, name)]


def reaching_what_is_forbidden(rules):
    """What a layer reaches through another layer counts like what it includes itself."""
    never = rules["never"]
    return [f"app/layers.json: {name} reaches {other}. {never['why']}"
            for name in never["layers"]
            for other in sorted(closure(rules["layers"], name) & set(never["reach"]))]


def wrong_includes(app, rules):
    layers, found = rules["layers"], []
    for path in sorted(p for p in app.rglob("*") if p.suffix in SOURCES):
        inside = path.relative_to(app).as_posix()
        layer = inside.split("/")[0]
        if layer not in layers:
            found.append(f"app/{inside}:1: {layer} is not in app/layers.json")
            continue
        allowed = {layer, *layers[layer]}
        for folder, more in rules["folders"].items():
            if inside.startswith(folder + "/"):
                allowed |= set(more)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                wrong = wrong_include(app, rules, inside, allowed, *match.groups())
                if wrong:
                    found.append(f"app/{inside}:{number}: {wrong}")
    return found


def wrong_room(rooms, inside, quoted):
    """Rooms are folders of a layer that may not all include each other; the files beside them join them."""
    if not rooms or inside.split("/")[1] not in rooms:
        return None
    room, other = inside.split("/")[1], quoted.split("/")[1]
    if other in {room, *rooms[room]}:
        return None
    return f'{room} includes "{quoted}"; app/layers.json allows it {", ".join(sorted({room, *rooms[room]}))}'


def wrong_include(app, rules, inside, allowed, quoted, angled):
    layer = inside.split("/")[0]
    if angled is not None:
        # Our own headers are written "layer/file.h"; in angle brackets they would go unnoticed.
        if (app / angled).exists():
            return f'<{angled}> is our own: include it as "{angled}"'
        system = rules["headers"].get(layer)
        if system and any(fnmatch.fnmatch(angled, refused) for refused in system["refused"]):
            return f"{layer} includes <{angled}>. {system['why']}"
        return None
    first = quoted.split("/")[0]
    if first == "." or first == "..":
        return f'"{quoted}" is relative: write includes from app/'
    if "/" not in quoted and (app / layer / quoted).exists():
        return f'"{quoted}" is relative: write "{layer}/{quoted}"'
    if first == layer:
        return wrong_room(rules.get("rooms", {}).get(layer), inside, quoted)
    if first in rules["layers"] and first not in allowed:
        return f'{layer} includes "{quoted}"; app/layers.json allows it {", ".join(sorted(allowed))}'
    if first not in rules["layers"] and (app / first).is_dir():
        return f'"{quoted}" is of {first}, which is not in app/layers.json'
    return None


def wrong_deps(cmake_lists, layers):
    text = re.sub(r"#[^\n]*", "", cmake_lists.read_text())
    deps = {}
    for match in LAYER.finditer(text):
        words = match.group(2).split()
        listed = words[words.index("DEPS") + 1:] if "DEPS" in words else []
        deps[match.group(1)] = set(listed[:listed.index("LIBS")] if "LIBS" in listed else listed)
    for match in LINKED.finditer(text):
        linked = {word[len("attnscope_"):] for word in match.group(2).split() if word.startswith("attnscope_")}
        deps.setdefault(match.group(1), set()).update(linked - {"window_deps"})
    found = []
    for layer, allowed in layers.items():
        if layer.endswith(".cpp"):
            continue
        if layer not in deps:
            found.append(f"app/CMakeLists.txt: no attnscope_layer({layer})")
        elif deps[layer] != set(allowed):
            found.append(f"app/CMakeLists.txt: {layer} has DEPS {' '.join(sorted(deps[layer])) or '(none)'}; "
                         f"app/layers.json says {' '.join(sorted(allowed)) or '(none)'}")
    found += [f"app/CMakeLists.txt: attnscope_layer({layer}) is not in app/layers.json"
              for layer in deps if layer not in layers]
    return found


def unused(app, layers):
    """A layer that may be included and never is was needed once: the list says more than holds."""
    included = {layer: set() for layer in layers}
    for path in (p for p in app.rglob("*") if p.suffix in SOURCES):
        layer = path.relative_to(app).as_posix().split("/")[0]
        for line in path.read_text(errors="replace").splitlines():
            match = INCLUDE.match(line)
            if match and match[1] and layer in included:
                included[layer].add(match[1].split("/")[0])
    return [f"app/layers.json: {layer} may include {other} and never does: take it out"
            for layer, allowed in layers.items() for other in allowed if other not in included[layer]]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = breaches(root)
    print("\n".join(found) if found else "Every include keeps to app/layers.json.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
