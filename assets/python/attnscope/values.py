"""What the functions of this package return. An observation's own fields are in observation_types.py, made from its schema;
the others are read strictly from the program's JSON (docs/sweeping.md, docs/explaining.md)."""
import json as json_module
import pathlib
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Union

from .observation_types import AskedExperiment, ObservationFields, Problem
from .table import Row, Table

Path = Union[str, pathlib.Path]


def problem_text(problem: Problem) -> str:
    if problem.sizes is not None:
        return " ".join(f"{name}{value}" for name, value in problem.sizes.items())
    lengths = f"S{problem.seq_q}" + (f"x{problem.seq_k}" if problem.seq_k != problem.seq_q else "")
    return f"B{problem.batch} H{problem.heads} {lengths} D{problem.head_dim}" + ("" if problem.causal == "none" else f" {problem.causal}")


@dataclass(frozen=True)
class Observation(ObservationFields, Table):
    __doc__ = ObservationFields.__doc__
    json: Dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # as the program wrote it

    @property
    def us(self) -> Optional[float]:
        """The median time; timing.kind says whether it is measured or modelled."""
        return self.timing.us.p50 if self.timing else None

    @property
    def correct(self) -> Optional[bool]:
        """None: it was not checked, did not get so far, or agrees with another kernel, which need not be right."""
        if self.verdict is None or self.verdict.state == "unchecked":
            return None
        return None if self.verdict.state == "correct" and self.verdict.against else self.verdict.state == "correct"

    @property
    def sound(self) -> bool:
        """Correct, and a watch of it, if there was one, found no error."""
        return self.correct is True and not any(one.severity == "error" for one in (self.watch.findings if self.watch else []))

    def save(self, path: Path) -> None:
        """As `attnscope run --json` writes it: `attnscope compare` and `read` take it."""
        pathlib.Path(path).write_text(json_module.dumps(self.json, indent=2) + "\n", encoding="utf-8")

    def rows(self) -> List[Row]:
        timing, occupancy, variant = self.timing, self.occupancy, self.variant
        return [{"kernel": self.experiment.kernel.id, **self.experiment.config.knobs, "problem": problem_text(self.experiment.problem),
                 "device": self.device, "us": self.us, "us_low": timing.interval[0] if timing else None,
                 "us_high": timing.interval[1] if timing else None, "kind": timing.kind if timing else None,
                 "verdict": self.verdict.state if self.verdict else None, "sound": self.sound, "tflops": self.tflops,
                 "registers": variant.registers if variant else None,
                 "shared_bytes": variant.static_shared_bytes + variant.dynamic_shared_bytes if variant else None,
                 "occupancy": occupancy.fraction if occupancy else None, "hash": self.experiment.hash}]

    def caption(self) -> str:
        return "; ".join(finding.sentence for finding in self.findings[:3])


@dataclass(frozen=True)
class Side:
    """One of the two of a comparison."""
    experiment: AskedExperiment
    us: Optional[float]
    verdict: Optional[str]
    headline: Optional[str]


@dataclass(frozen=True)
class Comparison(Table):
    """A's time over B's: above 1, B is faster."""
    kind: str
    how: str  # "in turn", "recorded" or "modelled"
    a: Side
    b: Side
    ratio: float
    interval: List[float]  # of the ratio: 95 %, or the bar of two modelled times
    blocks: int
    tie: bool

    @property
    def faster(self) -> Optional[str]:
        """"a", "b", or None where they cannot be told apart."""
        return None if self.tie else "b" if self.ratio > 1 else "a"

    def rows(self) -> List[Row]:
        return [{"": name, "kernel": side.experiment.kernel.id, **side.experiment.config.knobs, "us": side.us, "kind": self.kind,
                 "verdict": side.verdict} for name, side in (("A", self.a), ("B", self.b))]

    def caption(self) -> str:
        figures = f"A/B {self.ratio:.4f} ({self.interval[0]:.4f} to {self.interval[1]:.4f}), {self.how}"
        return ("cannot be told apart: " if self.tie else f"{'A' if self.faster == 'a' else 'B'} is faster: ") + figures


@dataclass(frozen=True)
class ScanValue:
    value: int
    text: str
    state: str
    current: bool
    fastest: bool
    tie: bool  # cannot be told apart from the fastest
    us: Optional[float]
    kind: Optional[str]
    verdict: str
    reason: str
    hint: str
    warnings: List[str]
    same_code_as: Optional[str]
    observation: Optional[Observation]


@dataclass(frozen=True)
class KnobScan:
    knob: str
    summary: str
    values: List[ScanValue]


@dataclass(frozen=True)
class Scan(Table):
    """Every value of a knob with the others held."""
    experiment: AskedExperiment
    knobs: List[KnobScan]

    def rows(self) -> List[Row]:
        return [{"knob": scan.knob, "value": one.text, "us": one.us, "kind": one.kind, "verdict": one.verdict, "fastest": one.fastest,
                 "tie": one.tie, "reason": one.reason} for scan in self.knobs for one in scan.values]

    def caption(self) -> str:
        return " ".join(f"{scan.knob}: {scan.summary}" for scan in self.knobs)


@dataclass(frozen=True)
class SweepRow:
    config: str
    knobs: Dict[str, int]
    us: float
    interval: List[float]
    kind: str
    verdict: str
    fastest: bool
    tie: bool  # cannot be told apart from the fastest
    watched: bool
    same_code_as: Optional[str]
    hash: str
    options: Optional[Dict[str, Any]] = None  # compile options, where the program searches them


@dataclass(frozen=True)
class Rejected:
    config: str
    why: str
    reason: str
    hint: str


@dataclass(frozen=True)
class Sweep(Table):
    """The correct configs of a space, the fastest first, and why the others are not among them."""
    experiment: AskedExperiment
    space: Dict[str, Any]
    strategy: str
    seed: int
    budget: Optional[int]
    model: Optional[str]
    configs: int
    tried: int
    known: int  # answered by earlier runs
    correct: List[SweepRow]
    rejected: List[Rejected]
    command: Optional[str]  # runs the first one again

    @property
    def best(self) -> Optional[SweepRow]:
        return self.correct[0] if self.correct else None

    def rows(self) -> List[Row]:
        return [{**one.knobs, **(one.options or {}), "us": one.us, "us_low": one.interval[0], "us_high": one.interval[1], "kind": one.kind,
                 "verdict": one.verdict, "fastest": one.fastest, "tie": one.tie, "watched": one.watched} for one in self.correct]

    def caption(self) -> str:
        return f"{self.strategy}: {self.tried} of {self.configs} configs tried, {len(self.correct)} correct, {len(self.rejected)} rejected"


@dataclass(frozen=True)
class StoredResult:
    finished_at: float  # seconds since 1970
    observation: Observation


@dataclass(frozen=True)
class Results(Table):
    """Stored results, as a sequence."""
    list: List[StoredResult]

    def __len__(self) -> int:
        return len(self.list)

    def __iter__(self) -> Iterator[StoredResult]:
        return iter(self.list)

    def __getitem__(self, at: int) -> StoredResult:
        return self.list[at]

    def rows(self) -> List[Row]:
        return [{"finished_at": one.finished_at, **one.observation.rows()[0]} for one in self.list]
