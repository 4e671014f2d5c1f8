"""Each format that the program writes has one writer, and only those write to the terminal.

    python3 tests/layers/check_writers.py [ROOT]

Text from outside is escaped in app/core/escape.cpp, for each format in one function. A file that composes a format or writes
to the terminal by itself would bypass it. A new writer is added to RULES here and to the list in
tests/unit/cli/writers_test.cpp.
"""

import pathlib
import re
import sys

ESCAPES = "app/core/escape.cpp"
TERMINAL = {"app/cli/print_result.cpp"}
# What it is, the pattern of a source line without its comment, and the files that may have it.
RULES = [
    ("writes to the terminal",
     re.compile(r"\b(?:f?puts|fputc|putchar|fwrite|v?f?printf|perror)\s*\(|\bstd::(?:cout|cerr|clog)\b|\bfmt::print(?:ln)?\s*\(|"
                r"\bwrite_std(?:out|err)\s*\(|\bwrite\s*\(\s*(?:STDOUT_FILENO|STDERR_FILENO|[12]\s*,)"), TERMINAL | {"app/worker/worker.cpp", "app/cli/program.cpp", "app/platform/standard_streams.h",
                                  "app/platform/standard_streams.cpp"}),
    ("holds a terminal's escape sequence", re.compile(r'\\x1[bB]|\\033|\\e\['), TERMINAL),
    ("sets up a log of its own", re.compile(r"\bspdlog::(?:set_pattern|set_default_logger|\w+_logger_[ms]t|sinks::\w+)\b"), TERMINAL),
    ("composes XML", re.compile(r'<svg|</|&(?:lt|gt|amp|quot);'),
     {ESCAPES, "app/report/report_svg.cpp", "app/report/report_html.cpp", "app/charts/figure_svg.cpp"}),
    ("composes a Markdown table", re.compile(r'\| ---|---:? \|'), {"app/report/report_text.cpp"}),
    ("composes a shell's quotes", re.compile(r"""'\\\\''"""), {ESCAPES}),
    ("writes to the clipboard", re.compile(r"\bSetClipboardText\s*\("), {"app/ui/widgets/clipboard.cpp"}),
    ("writes JSON for a reader", re.compile(r"\.dump\(\s*[1-9]|\berror_handler_t\b"),
     {ESCAPES, "app/protocol/message.cpp"}),
]
BUILT_IN = {"app/compile/builtin_headers.cpp"}  # holds C++ headers as text
COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)')|//.*""")


def breaches_in(text, name):
    if name in BUILT_IN:
        return []
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = COMMENT.sub(lambda match: match.group(1) or "", line)
        found += [f"{name}:{number}: {what}, which only {', '.join(sorted(files))} may"
                  for what, pattern, files in RULES if name not in files and pattern.search(line)]
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found, seen = [], set()
    for path in sorted((root / "app").rglob("*")):
        if path.suffix in {".cpp", ".h"}:
            name = path.relative_to(root).as_posix()
            seen.add(name)
            found += breaches_in(path.read_text(), name)
    # A file that moved must not leave its permission behind.
    found += [f"{name} is named in RULES but does not exist"
              for name in sorted({file for rule in RULES for file in rule[2]} - seen)]
    print("\n".join(found) if found else "Each format has one writer.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
