"""Which sources of a target can be compiled as one: join_sources.py MOST SOURCE...

Prints groups of two to MOST sources, one group a line, `|` between them. Compiled together, sources share their
anonymous namespaces. So two are in one group only if no name that one declares there stands in the other, or in a header
that only the other includes, where it could mean something else: a function's where it is called, any other wherever it
is not a member. In our layout (clang-format) such a declaration begins in the first column. A source that defines macros
stays by itself.
"""
import functools
import os
import re
import sys

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
PRIVATE = re.compile(r"^namespace \{$(.*?)^@$", re.S | re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define\b", re.M)
NAME = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*")
CALLED = re.compile(r"(?<![\w.:>])([A-Za-z_]\w*)\s*\(")
# `name(` of a function; `name =`, `name{`, `name[`, `name;`, `name,`, `name :` of a type, a constant or a variable. A template's arguments
# and what an initializer names are not declared.
ARGUMENTS = re.compile(r"<[^<>]*>")
FUNCTION = re.compile(r"([A-Za-z_]\w*)\($")
OTHER = re.compile(r"(?<![\w:])(?<!= )([A-Za-z_]\w*)\s*(?:=|\{|\[|;|,|:(?!:))")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum|union|concept) (\w+)")
# A test's class is named after its suite and itself; other names, also a namespace's alias, may occur twice.
NO_DECLARATION = re.compile(r"#|TEST|INSTANTIATE_|TYPED_TEST|using (?!\w+ =)|namespace \w+ =|template\b.*>$|\s|\}")
KEYWORDS = {"static_assert", "offsetof", "alignas", "decltype", "sizeof", "true", "false", "nullptr"}
ALIAS = re.compile(r"using (\w+) = ")
INNER = re.compile(r"^namespace \w+::\w+::(\w+) \{", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


class Source:
    """What a source declares in anonymous namespaces (functions, others), calls and names; and its own headers' names."""

    def __init__(self, file, roots):
        self.file = file
        text = read(file)
        code = code_of(text)
        self.defines_macros = bool(MACRO.search(code))
        self.functions, self.others, self.aliases = set(), set(), {}
        for block in PRIVATE.findall(code):
            for line in block.splitlines():
                self.declare(line)
        self.functions -= KEYWORDS
        self.others -= KEYWORDS
        self.called, self.names = set(CALLED.findall(code)), set(NAME.findall(code))
        self.headers = headers_of(file, text, roots, {})
        # attnscope::layer::testing hides GoogleTest's from whatever else is in attnscope::layer.
        self.inner = set(INNER.findall(code)).union(*(INNER.findall(header(path)[2]) for path in self.headers))

    def declare(self, line):
        if line.startswith("MATCHER"):
            self.others.update(re.findall(r"\((\w+)", line)[:1])
        elif found := TYPE.match(line):
            self.others.add(found[1])
        elif line and not NO_DECLARATION.match(line):
            while ARGUMENTS.search(line):
                line = ARGUMENTS.sub("", line)
            head, parenthesis, _ = line.partition("(")
            self.functions.update(FUNCTION.findall(head + parenthesis))
            self.others.update(OTHER.findall(line if not parenthesis else head))
            if found := ALIAS.match(line):
                self.aliases[found[1]] = line

    def misleads(self, other):
        """Whether a name in the other, or in a header that only the other includes, could mean one declared here."""
        alike = {name for name, line in self.aliases.items() if other.aliases.get(name) == line}  # which may stand twice
        if self.functions & other.called or (self.others - alike | self.inner - other.inner) & other.names:
            return True
        return any(self.others & names or self.functions & called
                   for header, (called, names) in other.headers.items() if header not in self.headers)


def read(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def code_of(text):
    return re.sub(r"[ \t]+$", "", NOT_CODE.sub('""', text.replace("}  // namespace\n", "@\n")), flags=re.M)


@functools.cache
def header(file):
    """What a header calls and names, and its text."""
    text = read(file)
    code = code_of(text)
    return set(CALLED.findall(code)), set(NAME.findall(code)), text


def headers_of(file, text, roots, found):
    """Every header of the tree that a file includes, directly or not."""
    for name in INCLUDE.findall(text):
        for root in (os.path.dirname(file), *roots):
            path = os.path.normpath(os.path.join(root, name))
            if os.path.exists(path):
                if path not in found:
                    called, names, its_text = header(path)
                    found[path] = called, names
                    headers_of(path, its_text, roots, found)
                break
    return found


def grouped(files, most, roots=()):
    sources = [Source(file, roots) for file in files]
    with_macros = [[source] for source in sources if source.defines_macros]  # which would apply to the sources after them
    sources = [source for source in sources if not source.defines_macros]
    apart = {source: {other for other in sources if other is not source and (source.misleads(other) or other.misleads(source))}
             for source in sources}
    groups = []
    for source in sorted(sources, key=lambda source: -len(apart[source])):  # those that fit into the fewest groups come first
        for group in groups:
            if len(group) < most and apart[source].isdisjoint(group):
                group.append(source)
                break
        else:
            groups.append([source])
    groups = [sorted(group, key=sources.index) for group in groups]
    return [[source.file for source in group] for group in sorted(groups, key=lambda group: sources.index(group[0])) + with_macros]


if __name__ == "__main__":
    tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for files in grouped(sys.argv[2:], int(sys.argv[1]), [os.path.join(tree, "app"), os.path.join(tree, "tests")]):
        if len(files) > 1:
            print("|".join(files))
