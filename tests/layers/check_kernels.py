"""A kernel's header says what its recordings say, and its map is the file's.

    python3 tests/layers/check_kernels.py [ROOT]

Figures are only in tables, each headed by a line "Times, …" that ends in the recording's path in brackets. A row is a
kernel (in a report of `attnscope bench` an entry's label; in rungs_h200.json a kernel and its knobs; in the reports a
figure's id), a column a problem; a table without columns is of the recording's one problem. The map names the file's
sections in their order, every knob of the manifest, and functions that the file has.
"""

import json
import pathlib
import re
import sys

PATH = re.compile(r"\(([\w/.]+\.json)\):$")
BANNER = re.compile(r"^// ---- (.+?) -{4,}$", re.MULTILINE)
# A number with the unit of something measured. Bytes, elements and multiply-adds follow from the code.
FIGURE = re.compile(r"\d[\d,.]*\s*(?:us|ms|s|%|x|times|clocks?|(?:thousand |million )?(?:wavefronts|sectors))(?![\w-])")


def shown(us):
    """A time as the reports write it."""
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def problem_name(problem):
    if problem.get("kind", "attention") != "attention":
        return " ".join(f"{name}{problem['sizes'][name]}" for name in ("B", "M", "N", "K"))
    name = f"B{problem['batch']} H{problem['heads']} S{problem['seq_q']} D{problem['head_dim']}"
    return name + (" causal" if problem["causal"] == "bottom_right" else "")


def figures_of(recording):
    """(row, column) → a time as text; the column is empty if the recording has only one problem."""
    found = {}
    if isinstance(recording, list):
        for run in recording:
            row = " ".join([run["kernel"], *(f"{knob}={value}" for knob, value in run["knobs"].items())])
            found[row, problem_name(run["problem"])] = shown(run["timing"]["us"]["p50"])
    elif "figures" in recording:
        for figure in recording["figures"]:
            if figure["metric"] == "latency" and figure["unit"] == "us":
                found[figure["id"], ""] = shown(figure["value"])
    else:
        for row in recording["rows"]:
            for entry, cell in zip(recording["entries"], row["cells"]):
                if cell["state"] == "timed":
                    found[entry["label"], problem_name(row["problem"])] = shown(cell["us"]["p50"])
    return found


def header_of(source):
    lines = []
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return lines


def paragraphs_of(lines):
    """Each paragraph with the number of its first line."""
    paragraph, first = [], 0
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            first = first if paragraph else number
            paragraph.append(line)
        elif paragraph:
            yield first, paragraph
            paragraph = []


def table_breaches(heading, rows, read):
    """`rows`: (line number, text); `read`: gives figures_of() a path, or None if there is no such file."""
    where = PATH.search(heading)
    if not where:
        return [(rows[0][0], "the table names no recording")] if rows else []
    recorded = read(where[1])
    if recorded is None:
        return [(rows[0][0], f"there is no {where[1]}")]
    columns, found = [""], []
    for number, text in rows:
        cells = re.split(r"\s{2,}", text.strip())
        if re.match(r"B\d", cells[0]):
            columns = cells
            continue
        label, values = cells[0], cells[1:]
        if len(values) != len(columns):
            found.append((number, f"{label} has {len(values)} figures for {len(columns)} columns"))
        for column, value in zip(columns, values):
            have = recorded.get((label, column))
            if have != value:
                found.append((number, f"{label} {column}: {value}; {where[1]} has {have or 'no such figure'}"))
    return found


def map_breaches(number, text, source, knobs):
    found = []
    entries = [line.split()[0] for line in text[1:] if re.match(r"  \S", line)]
    banners = list(dict.fromkeys(name.split(":")[0] for name in BANNER.findall(source)))
    if entries != banners:
        found.append((number, f"the map has {', '.join(entries)}; the file's sections are {', '.join(banners)}"))
    whole = " ".join(text)
    found += [(number, f"the map does not name the knob {knob}") for knob in knobs
              if not re.search(rf"\b{knob}\b", whole)]
    code = "\n".join(line.split("//")[0] for line in source.splitlines())
    found += [(number, f"the map names {name}(), which the file does not have")
              for name in re.findall(r"(\w+)\(\)", whole) if not re.search(rf"\b{name}\(", code)]
    return found


def breaches_in(source, name, knobs, read):
    """`knobs`: those of the manifest."""
    found, tables, maps = [], 0, 0
    for number, text in paragraphs_of(header_of(source)):
        if text[0].startswith("Times, "):
            tables += 1
            head = next((i for i, line in enumerate(text) if line.endswith(":")), len(text) - 1) + 1
            rows = [(number + i, line) for i, line in enumerate(text) if i >= head]
            found += table_breaches(" ".join(text[:head]), rows, read)
        elif text[0].startswith("Map, "):
            maps += 1
            found += map_breaches(number, text, source, knobs)
        else:
            found += [(number + i, f"a figure outside a table: {match[0]}")
                      for i, line in enumerate(text) for match in FIGURE.finditer(line)]
    if tables == 0:
        found.append((1, "the header has no table of times"))
    if maps != 1:
        found.append((1, f"the header has {maps} maps"))
    return [f"{name}:{number}: {what}" for number, what in sorted(found)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])

    def read(path):
        file = root / path
        return figures_of(json.loads(file.read_text())) if file.is_file() else None

    found, files = [], 0
    for manifest in sorted((root / "kernels").glob("*.json")):
        parsed = json.loads(manifest.read_text())
        if "source" not in parsed:
            continue
        files += 1
        source = manifest.parent / parsed["source"]
        found += breaches_in(source.read_text(), source.relative_to(root).as_posix(),
                             [knob["name"] for knob in parsed["knobs"]], read)
    print("\n".join(found) if found else f"{files} kernels say what their recordings say")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
