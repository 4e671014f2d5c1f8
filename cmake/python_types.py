"""Writes the Python package's types of an observation from docs/observation.schema.json.

    python3 cmake/python_types.py [--check]    write assets/python/attnscope/observation_types.py, or only compare it
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs" / "observation.schema.json"
TYPES = ROOT / "assets" / "python" / "attnscope" / "observation_types.py"
HEAD = '''"""What an observation is made of. Made by cmake/python_types.py from docs/observation.schema.json: change that."""
from dataclasses import dataclass
from typing import Dict, List, Optional
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def class_name(key):
    return "".join(word.capitalize() for word in key.split("_"))


def singular(key):
    return {"list": "term", "rounds": "round", "needless": "finding", "evidence": "evidence", "launches": "launch_figures"}.get(key, key[:-1] if key.endswith("s") else key)


class Types:
    def __init__(self):
        self.classes = {}  # name: (schema, text), a class after those that it uses

    def of(self, schema, key, inside=""):
        """The annotation of a value."""
        if "anyOf" in schema:
            parts = schema["anyOf"]
            rest = [part for part in parts if part.get("type") != "null" and part.get("enum") != ["nan", "inf", "-inf"]]
            [only] = rest  # a value has one type, besides null and the words for numbers that JSON lacks
            inner = self.of(only, key, inside)
            return f"Optional[{inner}]" if {"type": "null"} in parts else inner
        if "enum" in schema:
            return "str"
        if schema["type"] == "array":
            return f"List[{self.of(schema['items'], singular(key), inside)}]"
        if schema["type"] != "object":
            return PLAIN[schema["type"]]
        if "properties" not in schema:
            return f"Dict[str, {self.of(schema['additionalProperties'], singular(key), inside)}]"
        return self.make(class_name(key), schema, inside)

    def make(self, name, schema, inside):
        body = json.dumps(schema, sort_keys=True)
        if name in self.classes and self.classes[name][0] != body:
            name = inside + name
        if name in self.classes:
            if self.classes[name][0] != body:
                sys.exit(f"{name} would be two types")
            return name
        lines = ["", "", "@dataclass(frozen=True)", f"class {name}:"]
        if schema.get("description"):
            lines.append(f'    """{schema["description"]}"""')
        required = set(schema["required"])
        for key in sorted(schema["properties"], key=lambda key: (key not in required, key)):
            value = schema["properties"][key]
            kind = self.of(value, key, name)
            if key not in required:
                kind = (kind if kind.startswith("Optional[") else f"Optional[{kind}]") + " = None"
            lines.append(f"    {key}: {kind}" + (f"  # {value['description']}" if "description" in value else ""))
        self.classes[name] = (body, "\n".join(lines) + "\n")
        return name


def text():
    types = Types()
    schema = json.loads(SCHEMA.read_text())
    types.make("ObservationFields", schema, "")
    # compare, scan and sweep say what was asked for, before it has a hash.
    asked = schema["properties"]["experiment"]
    asked["properties"].pop("hash")
    asked["required"].remove("hash")
    types.make("AskedExperiment", asked, "")
    return HEAD + "".join(body for _, body in types.classes.values())


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    if sys.argv[1:]:
        if TYPES.read_text() != text():
            sys.exit(f"{TYPES.relative_to(ROOT)} is not what {SCHEMA.relative_to(ROOT)} says: run python3 cmake/python_types.py")
        return
    TYPES.write_text(text())


if __name__ == "__main__":
    main()
