"""Finds the program that this package drives, and starts it."""
import os
import pathlib
import sys
from typing import Dict, List


def places() -> List[pathlib.Path]:
    """Where the program may be, best first: $ATTNSCOPE_PROGRAM and nothing else if it is set; inside the wheel; beside a
    bundle's share/, or in a source tree's build/release; in $PATH."""
    named = os.environ.get("ATTNSCOPE_PROGRAM")
    if named:
        return [pathlib.Path(named)]
    package = pathlib.Path(__file__).resolve().parent
    found = [package / "bin" / "attnscope"]
    if package.parts[-3:] == ("assets", "python", "attnscope"):
        top = package.parents[2]
        found += [top.parents[1] / "bin" / "attnscope", top / "build" / "release" / "attnscope"]
    return found + [pathlib.Path(folder, "attnscope") for folder in os.get_exec_path() if os.path.isabs(folder)]


def find() -> pathlib.Path:
    """The program. FileNotFoundError says where it was looked for."""
    looked = places()
    script = os.path.realpath(sys.argv[0] or "-")  # the command itself may be the first in $PATH
    for place in looked:
        if place.is_file() and os.access(place, os.X_OK) and os.path.realpath(place) != script:
            return place
    raise FileNotFoundError(f"there is no attnscope program at {looked[0]}"
                            + ("" if len(looked) == 1 else f" nor in {len(looked) - 1} other places")
                            + ": install the wheel, or name the program in $ATTNSCOPE_PROGRAM.")


def environment() -> Dict[str, str]:
    """The environment to start it with: NVIDIA's wheels are where this Python finds its packages, and a benchmark's
    PyTorch is this Python's."""
    variables = dict(os.environ)
    folders = [folder for folder in sys.path if folder and os.path.isabs(folder)
               and any(os.path.isdir(os.path.join(folder, name)) for name in ("nvidia", "cutlass_library"))]
    if folders:
        variables.setdefault("ATTNSCOPE_SITE_PACKAGES", os.pathsep.join(folders))
    if sys.executable:
        variables.setdefault("ATTNSCOPE_PYTHON", sys.executable)
    return variables


def main() -> int:
    """The command `attnscope`: becomes the program, so that signals, pipes and the exit status are the program's own."""
    try:
        program = find()
        os.execve(program, [str(program), *sys.argv[1:]], environment())
    except OSError as error:
        print(f"attnscope: {error}", file=sys.stderr)
    return 2
