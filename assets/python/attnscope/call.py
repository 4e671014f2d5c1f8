"""Calls the program and reads what it says: results from stdout, notes, progress and failures as lines of JSON from stderr."""
import json
import subprocess
import sys
import threading
from typing import IO, Any, Callable, Dict, List, Optional, Tuple, Union

from .errors import AttnscopeError
from .program import environment, find

# Called with the work done, the total (0: not known), and the program's own message.
OnProgress = Callable[[int, int, str], None]
Progress = Union[bool, OnProgress]
BAR = 24


class Bar:
    """One line on stderr, as in a terminal or a notebook's output."""

    def __init__(self) -> None:
        self.width = 0

    def __call__(self, done: int, of: int, text: str) -> None:
        filled = BAR * done // of if of else 0
        line = f"[{'#' * filled}{'.' * (BAR - filled)}] {text}" if text and of else text
        sys.stderr.write("\r" + line.ljust(self.width) + ("" if line else "\r"))
        sys.stderr.flush()
        self.width = len(line)


def shown(progress: Optional[Progress]) -> Optional[OnProgress]:
    """None asks for a bar on a terminal and in a notebook, True for a bar everywhere, False for none."""
    if callable(progress):
        return progress
    notebook = "ipykernel" in sys.modules
    return Bar() if progress or (progress is None and (sys.stderr.isatty() or notebook)) else None


class Notes:
    """What the program says on stderr."""

    def __init__(self, progress: Optional[OnProgress]) -> None:
        self.progress = progress
        self.failure: Optional[Dict[str, str]] = None
        self.texts: List[str] = []

    def read(self, stream: IO[str]) -> None:
        for line in stream:
            try:
                said = json.loads(line)
            except ValueError:
                said = None
            if not isinstance(said, dict):
                self.texts.append(line.rstrip("\n"))  # the loader, or a program that is not attnscope
            elif isinstance(said.get("failure"), dict):
                self.failure = said["failure"]
            elif isinstance(said.get("progress"), dict):
                if self.progress:
                    self.progress(said["progress"].get("done", 0), said["progress"].get("of", 0), said["progress"].get("text", ""))
            else:
                self.texts.append(str(said.get("note", "")))


def call(words: List[str], progress: Optional[Progress] = False) -> Tuple[int, str, Optional[AttnscopeError]]:
    """The exit status, stdout, and the failure that the program told, if it told one. AttnscopeError: it does not start. An
    interrupt ends it."""
    notes = Notes(shown(progress))
    try:
        process = subprocess.Popen([str(find()), *words], env={**environment(), "ATTNSCOPE_NOTES": "json"}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    except OSError as error:
        raise AttnscopeError("input", str(error), "Install the wheel, or name the program in $ATTNSCOPE_PROGRAM.") from error
    assert process.stdout and process.stderr
    reader = threading.Thread(target=notes.read, args=(process.stderr,), daemon=True)
    reader.start()
    try:
        text = process.stdout.read()
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
    if notes.failure:
        told = notes.failure
        return status, text, AttnscopeError(told.get("stage", ""), told.get("message", ""), told.get("hint", ""), status)
    if status not in (0, 1):
        stage = "input" if status == 2 else "crash"
        return status, text, AttnscopeError(stage, "\n".join(notes.texts) or f"the program ended with {status}", "", status)
    return status, text, None


def result_of(words: List[str], progress: Optional[Progress] = False) -> Any:
    """The JSON that the program prints. AttnscopeError: it refused, or printed none."""
    status, text, failure = call(words, progress)
    if failure and not text.strip():
        raise failure
    try:
        return json.loads(text)
    except ValueError as error:
        raise AttnscopeError("protocol", f"attnscope {words[0]} printed no JSON: {text[:60]!r}",
                             "Use the program and the Python package of one version.", status) from error
