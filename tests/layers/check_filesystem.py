"""No call of std::filesystem in the program throws: each takes an error_code.

    python3 tests/layers/check_filesystem.py [ROOT]

A path that cannot be searched or a name that is too long would otherwise end the program by an exception.
"""

import pathlib
import re
import sys

CALLS = """absolute canonical copy copy_file copy_symlink create_directories create_directory create_hard_link
create_symlink current_path equivalent exists file_size hard_link_count is_block_file is_character_file is_directory
is_empty is_fifo is_other is_regular_file is_socket is_symlink last_write_time permissions proximate read_symlink
relative remove remove_all rename resize_file space status symlink_status temp_directory_path weakly_canonical""".split()
FREE = re.compile(r"\b(?:std::filesystem|fs)::(" + "|".join(CALLS) + r")\(")
ITERATOR = re.compile(r"\b(?:std::filesystem|fs)::(?:recursive_)?directory_iterator\s*(?:\w+\s*)?[({]")
MEMBER = re.compile(r"(?:\.|->)(exists|file_size|hard_link_count|is_directory|is_regular_file|is_symlink|"
                    r"last_write_time|refresh|symlink_status)\(\)")
RANGE = re.compile(r"\bfor\s*\([^;{]*(?<!:):(?!:)[^;{]*directory_iterator")
ERROR_CODE = re.compile(r"std::error_code&?\s+(\w+)((?:,\s*\w+)*)")


def arguments_at(text, open_at):
    """The last argument of the call whose parenthesis is at open_at; None if it has none."""
    depth, last = 0, open_at + 1
    for at in range(open_at, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return text[last:at].strip() or None
        elif text[at] == "," and depth == 1:
            last = at + 1
    return None


def breaches_in(text, name):
    text = re.sub(r"//[^\n]*", "", text)
    codes = {code for first, more in ERROR_CODE.findall(text) for code in re.findall(r"\w+", first + more)}
    found = []
    for pattern in (FREE, ITERATOR):
        for match in pattern.finditer(text):
            last = arguments_at(text, match.end() - 1)
            if (last is not None or pattern is FREE) and last not in codes:
                found.append((match.start(), match.group(0)))
    for pattern in (MEMBER, RANGE):
        found += [(match.start(), match.group(0)) for match in pattern.finditer(text)]
    return [f"{name}:{text.count(chr(10), 0, at) + 1}: takes no error_code: {call.split(chr(10))[0]}"
            for at, call in sorted(found)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found = []
    for path in sorted((root / "app").rglob("*")):
        if path.suffix in {".cpp", ".h"}:
            found += breaches_in(path.read_text(), path.relative_to(root).as_posix())
    print("\n".join(found) if found else "Every call of std::filesystem takes an error_code.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
