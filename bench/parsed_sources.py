#!/usr/bin/env python3
"""What tree-sitter reads of published kernels: their signatures, and the launches in their files.

parsed_sources.py READER --draw SEED DIR [--draw SEED DIR …] [--out bench/results/parsed_sources.txt]

DIR holds the git repositories that import_kernels.py draws from with that seed.
tree-sitter-cpp gets a text in which CUDA's words are blanks and a launch is a call of a call, at equal length;
tree-sitter-cuda gets the text as it is. READER is build/…/bench/source_facts (-DATTNSCOPE_BENCH=ON), which says what this
program's own reader reads. A fact counts only outside nodes with an ERROR or a MISSING token: of a
signature the declarator, of a launch its expression. Needs the packages tree-sitter, tree-sitter-cpp (0.23.4) and
tree-sitter-cuda (0.21.2).
"""
import argparse, collections, datetime, pathlib, re, resource, subprocess, sys, tempfile, time

import tree_sitter, tree_sitter_cpp, tree_sitter_cuda

import import_kernels
from fetched import folder_of, git

WORDS = (rb"\b__(?:global|device|host|constant|shared|managed|restrict|forceinline|noinline|grid_constant)__\b|"
         rb"\b__(?:launch_bounds|cluster_dims)__\s*\((?:[^()]|\([^()]*\))*\)|\b__align__\s*\([^()]*\)|\bextern(?=\s+__shared__)")
MARKS = rb"<\s*<\s*<|>\s*>\s*>"  # some authors' formatters write << <
LIMIT_S = 20


def blanked(text):
    """The text at equal length, and where the launches' parentheses are; a template's own >>> outside a launch stays."""
    text = re.sub(WORDS, lambda match: re.sub(rb"[^\n]", b" ", match.group()), text)
    out, opening, places = bytearray(text), None, set()
    for mark in re.finditer(MARKS, text):
        if mark.group().startswith(b"<"):
            opening = mark
        elif opening is not None:
            out[opening.start():opening.end()] = re.sub(rb"[<>]", b" ", opening.group())[:-1] + b"("
            places.add(opening.end() - 1)
            out[mark.start():mark.end()] = b")" + re.sub(rb"[<>]", b" ", mark.group())[1:]
            opening = None
    return bytes(out), places


def name_of(node):
    """The plain name behind a declarator or a callee: of ns::k<4> it is k."""
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        node = inner if inner is not None else next((one for one in node.named_children if one.type == "identifier"), None)
    return node.text.decode(errors="replace") if node is not None else ""


def facts(root, places):
    """Names of functions whose signature is clean, and how many clean launches there are: calls of calls at `places`."""
    functions, launches, stack = set(), 0, [root]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.type == "function_declarator" and not node.has_error:
            functions.add(name_of(node))
        if node.type != "call_expression" or node.has_error:
            continue
        callee = node.child_by_field_name("function")
        if places is None:
            launches += any(one.type == "kernel_call_syntax" for one in node.children)
        elif callee is not None and callee.type == "call_expression":
            launches += callee.child_by_field_name("arguments").start_byte in places
    return functions, launches


def ours(reader, texts, files):
    """Launches and signatures that our reader finds, its seconds, and the signatures that it does not."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, (key, text) in enumerate(sorted(texts.items())):
            names.append(str(pathlib.Path(folder, f"{number}.cu")))
            pathlib.Path(names[-1]).write_bytes(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([reader], input="\n".join(names) + "\n", capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = signatures = 0
    missed = []
    for key, line in zip(sorted(texts), said.splitlines(), strict=True):
        defined, count = line.split("|")
        found += int(count)
        for name in files[key]:
            signatures += name in defined.split()
            if name not in defined.split():
                missed.append(f"  {key[0].replace('+', '/')} {key[1]} {name}")
    return found, signatures, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, missed


def hostile(reader):
    """How long texts of a megabyte take that a person who means harm would write; each is ended after LIMIT_S of CPU time."""
    lines = []
    for said, text in (("a<", b"a<"), ("k<<<1,", b"k<<<1,"), ("(", b"(")):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "hostile.cu")
            file.write_bytes(text * (1_000_000 // len(text)))
            seconds = []
            for words, given in (([reader], f"{file}\n"), ([sys.executable, __file__, "--parse", str(file)], "")):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(words, input=given, text=True, capture_output=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S)))
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                seconds.append(f"{spent:.2f} s" if done.returncode == 0 else f"ended after {LIMIT_S} s")
        lines.append(f"  {said!r} again and again: our reader {seconds[0]}, tree-sitter-cpp {seconds[1]}")
    return lines


def main():
    if sys.argv[1:2] == ["--parse"]:
        tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language())).parse(pathlib.Path(sys.argv[2]).read_bytes())
        return
    arguments = argparse.ArgumentParser()
    arguments.add_argument("reader")
    arguments.add_argument("--draw", required=True, nargs=2, action="append", metavar=("SEED", "DIR"))
    arguments.add_argument("--out")
    options = arguments.parse_args()
    kernels, files, texts = [], collections.defaultdict(list), {}
    for seed, sources in options.draw:
        for one in import_kernels.drawn(pathlib.Path(sources), int(seed)):
            kernels.append(one)
            files[one.repository, one.file].append(one.name)
            texts[one.repository, one.file] = git(folder_of(sources, one.repository), "show", f"HEAD:{one.file}")
    in_text = {key: import_kernels.without_comments(text.decode("utf-8", "replace")) for key, text in texts.items()}
    in_text = {key: re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text) for key, text in in_text.items()}
    launches = sum(len(re.findall(r"<\s*<\s*<", text)) for text in in_text.values())
    in_macros = sum(len(re.findall(r"<\s*<\s*<", line)) for text in in_text.values()
                    for line in re.findall(r"^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*", text, flags=re.M))
    lines = ["What tree-sitter reads of published kernels (bench/parsed_sources.py READER --draw 16 DIR --draw 17 DIR).",
             str(datetime.date.today()), "",
             f"{len(kernels)} kernels of {len(texts)} files; the files have {launches} launches outside comments, "
             f"{in_macros} of these in macros.", ""]
    found, signatures, spent, missed = ours(options.reader, texts, files)
    lines += [f"our reader: {signatures} of {len(kernels)} signatures ({signatures / len(kernels):.1%}); {found} of {launches} launches "
              f"({found / launches:.1%}); {spent:.1f} s", "signatures that are not read:", *missed, ""]
    for said, module, cuda in (("tree-sitter-cpp, CUDA's words blanked", tree_sitter_cpp, False), ("tree-sitter-cuda", tree_sitter_cuda, True)):
        parser = tree_sitter.Parser(tree_sitter.Language(module.language()))
        clean = signatures = found = 0
        missed, began = [], time.process_time()
        for key, text in sorted(texts.items()):
            text, places = (text, None) if cuda else blanked(text)
            root = parser.parse(text).root_node
            clean += not root.has_error
            functions, count = facts(root, places)
            found += count
            for name in files[key]:
                signatures += name in functions
                if name not in functions:
                    missed.append(f"  {key[0].replace('+', '/')} {key[1]} {name}")
        lines += [f"{said}: {clean} of {len(texts)} files without an error ({clean / len(texts):.1%}); {signatures} of {len(kernels)} "
                  f"signatures ({signatures / len(kernels):.1%}); {found} of {launches} launches ({found / launches:.1%}); "
                  f"{time.process_time() - began:.1f} s", "signatures that are not read:", *missed, ""]
    lines += ["One megabyte of text, CPU time:", *hostile(options.reader), ""]
    text = "\n".join(lines)
    print(text)
    if options.out:
        pathlib.Path(options.out).write_text(text)


if __name__ == "__main__":
    main()
