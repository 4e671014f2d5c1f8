"""Git repositories that the reader of a recording fetched: a folder OWNER+NAME for each, which is its work tree or its .git, or holds a
bare one as `repo`."""
import pathlib
import subprocess
import sys


def folder_of(sources, name):
    for place in (pathlib.Path(sources) / name / "repo", pathlib.Path(sources) / name):
        if place.is_dir():
            return place
    sys.exit(f"{sources} has no {name}")


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True).stdout


def unpack(folder, tree):
    """The sources and headers: a snapshot may list data files that it does not have."""
    endings = {pathlib.PurePosixPath(name).suffix for name in git(folder, "ls-tree", "-r", "--name-only", "HEAD").decode("utf-8", "replace").split("\n")}
    wanted = [f"*{ending}" for ending in sorted(endings & {".cu", ".cuh", ".h", ".hpp", ".hxx", ".inl", ".inc", ".c", ".cpp"})]
    packed = subprocess.Popen(["git", "-C", folder, "archive", "HEAD", "--", *wanted], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree], stdin=packed.stdout, check=True)
    if packed.wait():
        sys.exit(f"{folder} could not be unpacked")
    (tree / ".git").mkdir()  # as a clone has it: the import looks for headers and launches within the repository
