"""No run of equal tokens over 8 lines stands twice in app/.

    python3 tests/layers/check_clones.py [ROOT]

Comments, layout and includes do not count. A run of 30 tokens or more is a clone where both of its places cover more
than 8 lines of the file.
"""

import bisect
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutate"))
import faults  # noqa: E402  (its tokenizer)

FEWEST_TOKENS = 30
MOST_LINES = 8
# Highway wants these lines in each file that it compiles for several targets.
SET_ASIDE = {("app/check/attention_simd.cpp", "app/check/inputs_simd.cpp")}

Place = collections.namedtuple("Place", "name first last")


def tokens_of(text):
    """(token, its first line, its last line), without includes and pragmas."""
    ends = [at for at, character in enumerate(text) if character == "\n"]
    found = []
    for token in faults.tokens_of(text):
        words = token.text.lstrip("# \t")
        if token.kind == "directive" and words.startswith(("include", "pragma")):
            continue
        found.append((token.text, bisect.bisect_left(ends, token.start) + 1, bisect.bisect_left(ends, token.end) + 1))
    return found


def whole_lines(name, tokens, begin, end):
    """The lines of which the run begin to end holds every token."""
    first, last = tokens[begin][1], tokens[end - 1][2]
    if begin > 0 and tokens[begin - 1][2] == first:
        first += 1
    if end < len(tokens) and tokens[end][1] == last:
        last -= 1
    return Place(name, first, last)


def clones_in(texts):
    """Pairs of places that say the same; texts: name to source."""
    files = {name: tokens_of(text) for name, text in texts.items()}
    begins = collections.defaultdict(list)
    for name, tokens in files.items():
        words = [token[0] for token in tokens]
        for at in range(len(words) - FEWEST_TOKENS + 1):
            begins[tuple(words[at:at + FEWEST_TOKENS])].append((name, at))
    found = []
    for places in begins.values():
        for index, (one, i) in enumerate(places):
            for other, j in places[index + 1:]:
                a, b = files[one], files[other]
                if i > 0 and j > 0 and a[i - 1][0] == b[j - 1][0]:
                    continue  # within a longer run
                length = FEWEST_TOKENS
                most = min(len(a) - i, len(b) - j, j - i if one == other else len(a))
                while length < most and a[i + length][0] == b[j + length][0]:
                    length += 1
                if length > most:
                    continue  # a run that overlaps itself
                pair = (whole_lines(one, a, i, i + length), whole_lines(other, b, j, j + length))
                if min(place.last - place.first + 1 for place in pair) > MOST_LINES and (one, other) not in SET_ASIDE:
                    found.append(pair)
    return sorted(found)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in sorted((root / "app").rglob("*"))
             if path.suffix in {".cpp", ".h", ".inc"}}
    found = clones_in(texts)
    for one, other in found:
        print(f"{one.name}:{one.first}-{one.last} says what {other.name}:{other.first}-{other.last} says")
    if not found:
        print("No run over 8 lines stands twice.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
