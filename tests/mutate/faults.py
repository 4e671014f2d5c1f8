"""One-token faults in C++ source: where they can be planted and what the source then says.

Only code is changed: never a comment, a string, a character, a preprocessor line or a static_assert. The source is laid out
by clang-format, which tells a binary operator (a space on both sides) from a template's bracket, a reference or a sign.
"""

import bisect
import collections
import random
import re

TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark><=>|<<=|>>=|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|.)
""", re.VERBOSE | re.DOTALL)
DIRECTIVE = re.compile(r"[ \t]*#(?:\\\n|[^\n])*")

Token = collections.namedtuple("Token", "kind text start end")

# The replacements of a token between two spaces.
BINARY = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "<<": (">>",), ">>": ("<<",),
    "&": ("|",), "|": ("&",), "^": ("&",), "&&": ("||",), "||": ("&&",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "%=": ("*=",), "<<=": (">>=",), ">>=": ("<<=",),
    "&=": ("|=",), "|=": ("&=",), "^=": ("&=",),
}
ANYWHERE = {"++": ("--",), "--": ("++",), "true": ("false",), "false": ("true",)}
OPENING = {"(": ")", "[": "]", "{": "}"}
# Return values that mean the same as `{}`.
EMPTY = ("false", "nullptr", "std::nullopt")
# A statement that begins with one of these is no call and no assignment, or is changed in another way.
NO_STATEMENT = set("""alignas auto break case catch class co_return co_yield const constexpr continue default delete do else
    enum explicit export extern for friend goto if inline int mutable namespace operator private protected public return
    static static_assert struct switch template throw try typedef typename union using virtual void volatile while""".split())


class Fault(collections.namedtuple("Fault", "path number start end before after line becomes")):
    """`before`, at `start` to `end` of the file, gives way to `after`; `line` (its `number`) then reads `becomes`."""

    def planted(self, text):
        return text[:self.start] + self.after + text[self.end:]

    def named(self):
        """The file, the line and what it becomes, with the spaces of a table."""
        return self.path, with_single_spaces(self.line), with_single_spaces(self.becomes)

    def __str__(self):
        return " → ".join(part or "(nothing)" for part in self.named()[1:])


def with_single_spaces(line):
    return " ".join(line.split())


def tokens_of(text):
    """Every token of the source but spaces and comments; a directive is one token."""
    found, position, line_begins = [], 0, True
    while position < len(text):
        if line_begins:
            line_begins = False
            directive = DIRECTIVE.match(text, position)
            if directive:
                found.append(Token("directive", directive.group(), position, directive.end()))
                position = directive.end()
                continue
        match = TOKEN.match(text, position)
        kind = match.lastgroup if match.lastgroup != "delimiter" else "string"
        if kind == "space":
            line_begins = "\n" in match.group()
        elif kind != "comment":
            found.append(Token(kind, match.group(), position, match.end()))
        position = match.end()
    return found


def closing_of(tokens, index):
    """The index of the bracket that closes the one at `index`; None where the source has none."""
    depth = 0
    for at in range(index, len(tokens)):
        if tokens[at].kind == "mark":
            depth += (tokens[at].text in OPENING) - (tokens[at].text in OPENING.values())
            if depth == 0:
                return at
    return None


def end_of_statement(tokens, index):
    """The index of the `;` that ends what begins at `index`; None where a bracket closes first."""
    depth = 0
    for at in range(index, len(tokens)):
        if tokens[at].kind == "mark":
            depth += (tokens[at].text in OPENING) - (tokens[at].text in OPENING.values())
            if depth < 0:
                return None
            if depth == 0 and tokens[at].text == ";":
                return at
    return None


def shifted(number):
    """The literal off by one, either way; nothing for one that this cannot be done to."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*(?:\.\d*)?)([uUlLzZ]*|[fF])", number)
    if not match:
        return ()
    digits, suffix = match.group(1).replace("'", ""), match.group(2)
    if "." in digits:
        changed = [repr(float(digits) + step) for step in (1, -1)]
    elif digits[:2].lower() == "0b":
        changed = [bin(int(digits, 2) + step) for step in (1, -1)]
    elif digits[:2].lower() == "0x":
        changed = [hex(int(digits, 16) + step) for step in (1, -1)]
    else:
        changed = [str(int(digits, 10) + step) for step in (1, -1)]
    return tuple(text + suffix for text in changed if not text.startswith("-"))


def is_statement(tokens, index):
    """Whether a call or an assignment begins here, which the source would compile without."""
    if tokens[index - 1].text not in (";", "{", "}") or tokens[index].text in NO_STATEMENT or tokens[index].kind != "word":
        return False
    at = index
    while at + 1 < len(tokens):
        following = tokens[at + 1]
        if following.text == "(" or following.text in ("=", "+=", "-=", "|=", "&=", "*="):
            return True
        if following.text == "[":
            at = closing_of(tokens, at + 1)
            if at is None:
                return False
        elif following.text in (".", "->", "::") and at + 2 < len(tokens) and tokens[at + 2].kind == "word":
            at += 2
        else:
            return False
    return False


def changes_of(tokens, index, text):
    """The changes (start, end, ways to read afterwards) that begin with one token."""
    token = tokens[index]
    before = tokens[index - 1] if index else Token("", "", 0, 0)
    after = tokens[index + 1] if index + 1 < len(tokens) else Token("", "", len(text), len(text))
    spaced = text[token.start - 1:token.start].isspace() and text[token.end:token.end + 1].isspace()
    found = []

    def instead(*texts):
        found.append((token.start, token.end, texts))

    if token.kind == "number":
        pure = before.text == "=" and index > 1 and tokens[index - 2].text in (")", "const", "override", "noexcept")
        if shifted(token.text) and not pure:
            instead(*shifted(token.text))
    elif token.kind == "mark":
        if token.text in BINARY and spaced and before.kind != "string" and after.kind != "string":
            instead(*BINARY[token.text])
        elif token.text in ANYWHERE:
            instead(*ANYWHERE[token.text])
        elif token.text == "!":
            instead("")
    elif token.kind == "word":
        if token.text in ANYWHERE:
            instead(*ANYWHERE[token.text])
        elif token.text in ("min", "max") and before.text == "::" and after.text == "(":
            instead({"min": "max", "max": "min"}[token.text])
        elif token.text == "continue":
            instead("break", "")
        elif token.text == "break":
            instead("continue", "")
        elif token.text in ("if", "while") and after.text == "(":
            closing = closing_of(tokens, index + 1)
            inside = tokens[index + 2:closing] if closing else []
            semicolon = max((at for at, each in enumerate(inside) if each.text == ";"), default=-1)
            inside = inside[semicolon + 1:]
            declared = any(each.text == "=" for each in inside)
            if inside and not declared:
                start, end = inside[0].start, inside[-1].end
                found.append((start, end, ("!(" + text[start:end] + ")",)))
        elif token.text == "return" and after.text not in (";", "{"):
            end = end_of_statement(tokens, index + 1)
            if end is not None and text[after.start:tokens[end].start] not in EMPTY:
                found.append((after.start, tokens[end].start, ("{}",)))
        elif index and is_statement(tokens, index):
            end = end_of_statement(tokens, index)
            if end is not None and tokens[end - 1].text not in ("delete", "default"):   # a constructor's declaration
                found.append((token.start, tokens[end].start, ("",)))
    return found


def sites_in(text, path):
    """Every place of a source where a fault can be planted: each a tuple of the faults it may have."""
    tokens = tokens_of(text)
    line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
    asserted_until, sites = 0, []
    for index, token in enumerate(tokens):
        if token.text == "static_assert" and index + 1 < len(tokens):
            closing = closing_of(tokens, index + 1)
            asserted_until = tokens[closing].end if closing else len(text)
        if token.start < asserted_until or token.kind in ("directive", "string", "character"):
            continue
        for start, end, texts in changes_of(tokens, index, text):
            number = bisect.bisect_right(line_starts, start)
            first = line_starts[number - 1]
            line = text[first:].split("\n", 1)[0].strip()
            faults = []
            for new in texts:
                changed = text[first:start] + new + text[end:text.find("\n", end) if "\n" in text[end:] else len(text)]
                faults.append(Fault(path, number, start, end, text[start:end], new, line, changed.split("\n", 1)[0].strip()))
            sites.append(tuple(faults))
    return sites


def drawn(sites, seed, layer):
    """All the sites in the order in which the seed draws them, one fault of each."""
    chance = random.Random(f"{seed}:{layer}")
    order = list(range(len(sites)))
    chance.shuffle(order)
    return [sites[index][chance.randrange(len(sites[index]))] for index in order]


Equivalent = collections.namedtuple("Equivalent", "file line becomes why")


def read_equivalent(text):
    """The faults known to change nothing: blocks of `file:`, `line:`, `becomes:` and `why:`, empty lines between."""
    blocks, entries = re.split(r"\n\s*\n", "\n".join(line for line in text.splitlines() if not line.startswith("#"))), []
    for block in blocks:
        if not block.strip():
            continue
        fields = dict(line.split(":", 1) for line in block.strip().splitlines())
        if set(fields) != set(Equivalent._fields):
            raise ValueError(f"an entry needs the lines file:, line:, becomes: and why:, and has {block.strip()!r}")
        entries.append(Equivalent(**{name: with_single_spaces(value) for name, value in fields.items()}))
    return entries


def equivalent_of(fault, entries):
    """The entry that says why this fault changes nothing; None for one that may."""
    return next((entry for entry in entries if (entry.file, entry.line, entry.becomes) == fault.named()), None)
