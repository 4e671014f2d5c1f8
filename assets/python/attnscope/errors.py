"""What the functions of this package raise."""
from typing import Any, Optional


class AttnscopeError(Exception):
    """The program refused, ended a run, or did not start. `stage` says where ("input", "compile", "deadline", …), `message`
    names the file, knob or config, `hint` says what to do, and `status` is the program's exit status, or None if it did not
    end by itself. `observation` is what came of the run until then, if one began."""

    def __init__(self, stage: str, message: str, hint: str = "", status: Optional[int] = None, observation: Any = None) -> None:
        super().__init__(f"{stage}: {message}" + (f"\n{hint}" if hint else ""))
        self.stage, self.message, self.hint, self.status, self.observation = stage, message, hint, status, observation
