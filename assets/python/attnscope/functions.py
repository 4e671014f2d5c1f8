"""run, explain, compare, scan, sweep and results: each calls the program once and returns a typed value."""
import contextlib
import json
import os
import pathlib
import tempfile
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Union

from .call import Progress, call, result_of
from .decode import read as decoded
from .errors import AttnscopeError
from .values import Comparison, Observation, Path, Results, Scan, StoredResult, Sweep

Knobs = Mapping[str, Union[int, str]]  # numbers or labels
Sizes = Union[str, Mapping[str, Union[int, str]]]  # "B=1,S=512", or the same as a mapping
Options = Mapping[str, Union[bool, int, str]]  # {"maxrregcount": 64, "fast_math": False}
Workers = Union[str, Sequence[str]]  # one, or several
Extent = Union[int, str, Sequence[Union[int, str]]]  # 16, "ceil_div(n, 256),8" or (16, 8)


def experiment_words(kernel: Optional[str], knobs: Optional[Knobs], options: Optional[Options], problem: Optional[Sizes], device: Optional[str],
                     preset: Optional[Path], kernels: Sequence[Path], worker: Optional[Workers]) -> List[str]:
    """The options of `attnscope run`. What is not given is the preset's, or the default's."""
    sizes = problem if problem is None or isinstance(problem, str) else pairs(problem)
    words = [f"--{name}={value}" for name, value in (("preset", preset), ("kernel", kernel), ("problem", sizes), ("device", device))
             if value is not None]
    words += [f"--set={knob}={value}" for knob, value in (knobs or {}).items()]
    words += [f"--option={name}={'on' if value is True else 'off' if value is False else value}" for name, value in (options or {}).items()]
    words += [f"--worker={one}" for one in ([worker] if isinstance(worker, str) else worker or [])]
    return words + [f"--kernels={folder}" for folder in kernels]


def pairs(sizes: Mapping[str, Union[int, str]]) -> str:
    return ",".join(f"{name}={value}" for name, value in sizes.items())


def option(name: str, value: Any) -> List[str]:
    return [] if value is None else [f"--{name}={value}"]


def listed(value: Union[None, int, str, Sequence[Union[int, str]]]) -> Optional[str]:
    return value if value is None or isinstance(value, str) else str(value) if isinstance(value, int) else ",".join(map(str, value))


@contextlib.contextmanager
def code_words(code: Union[None, bytes, Path], entry: Optional[str], grid: Optional[Extent], block: Optional[Extent],
               shared: Union[None, int, str], args: Union[None, str, Sequence[str]], cooperative: bool) -> Iterator[List[str]]:
    """The file to run and how it is launched. Bytes become a file for as long as the program needs it."""
    launch = option("entry", entry) + option("grid", listed(grid)) + option("block", listed(block)) + option("shared", shared)
    launch += option("args", listed(args)) + (["--cooperative"] if cooperative else [])
    with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
        if isinstance(code, (bytes, bytearray, memoryview)):
            path = pathlib.Path(folder, "kernel.cubin")
            path.write_bytes(code)
            code = path
        yield ([] if code is None else [os.path.abspath(code)]) + launch


def watch_words(watch: Union[None, bool, str]) -> List[str]:
    return [] if watch is None else ["--no-watch"] if watch is False else ["--watch" if watch is True else f"--watch={watch}"]


def observed(words: List[str], progress: Optional[Progress]) -> Observation:
    observation = decoded(Observation, result_of(words, progress))
    if observation.failure:
        told = observation.failure
        raise AttnscopeError(told.stage, told.message, told.hint, observation=observation)
    return observation


@contextlib.contextmanager
def files_of(*given: Union[Observation, Path]) -> Iterator[List[str]]:
    """A path for each: its own, or that of a file with the observation."""
    with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
        paths = []
        for at, one in enumerate(given):
            path = pathlib.Path(folder, f"{at}.json")
            if isinstance(one, Observation):
                one.save(path)
            paths.append(str(path if isinstance(one, Observation) else one))
        yield paths


def run(kernel: Optional[str] = None, *, knobs: Optional[Knobs] = None, options: Optional[Options] = None, problem: Optional[Sizes] = None,
        device: Optional[str] = None, preset: Optional[Path] = None, kernels: Sequence[Path] = (), worker: Optional[Workers] = None,
        watch: Union[None, bool, str] = None, deadline_ms: Optional[int] = None, code: Union[None, bytes, Path] = None,
        entry: Optional[str] = None, grid: Optional[Extent] = None, block: Optional[Extent] = None, shared: Union[None, int, str] = None,
        args: Union[None, str, Sequence[str]] = None, cooperative: bool = False) -> Observation:
    """Runs one experiment. A wrong or racy output is an observation that says so; a refusal or a crash is an
    AttnscopeError, with the observation until then.

    `code` is a kernel without a manifest: a cubin or fatbinary, as its bytes or its path (Triton's `compiled.asm["cubin"]`, what
    cuobjdump extracts from a PyTorch extension), or the path of a .cu file. Machine code does not say how it is launched:
    `entry` names the kernel, `grid`, `block` and `shared` bytes launch it, `args` are its parameters in order, as
    ["n=300", "2.5:f32", "x:in:f32:n", "y:inout:f32:n"]."""
    words = ["run", "--json", *experiment_words(kernel, knobs, options, problem, device, preset, kernels, worker), *watch_words(watch)]
    with code_words(code, entry, grid, block, shared, args, cooperative) as file:
        return observed(words + option("deadline", deadline_ms) + file, False)


def explain(kernel: Optional[str] = None, *, knobs: Optional[Knobs] = None, options: Optional[Options] = None,
            problem: Optional[Sizes] = None, device: Optional[str] = None, preset: Optional[Path] = None, kernels: Sequence[Path] = (),
            worker: Optional[Workers] = None, against: Optional[Path] = None, tries: bool = False,
            progress: Optional[Progress] = None) -> Observation:
    """Runs one experiment and says why it is slow, wrong or refused (`findings`). `tries` also runs every config that
    differs in one knob, and says what each finding's cure gains; `against` is a preset to compare with."""
    words = ["explain", "--json", *experiment_words(kernel, knobs, options, problem, device, preset, kernels, worker)]
    return observed(words + option("against", against) + (["--try"] if tries else []), progress)


def compare(a: Union[Observation, Path], b: Union[Observation, Path], *, device: Optional[str] = None, blocks: Optional[int] = None,
            recorded: bool = False) -> Comparison:
    """Times two experiments in turn: observations, or files of observations or presets. `recorded` uses their samples."""
    with files_of(a, b) as paths:
        words = ["compare", *paths, "--json", *option("device", device), *option("blocks", blocks)]
        return decoded(Comparison, result_of(words + (["--recorded"] if recorded else [])))


def scan(kernel: Optional[str] = None, *, knob: Union[None, str, Sequence[str]] = None, knobs: Optional[Knobs] = None,
         options: Optional[Options] = None, problem: Optional[Sizes] = None, device: Optional[str] = None, preset: Optional[Path] = None,
         kernels: Sequence[Path] = (), worker: Optional[Workers] = None, watch: bool = False, progress: Optional[Progress] = None) -> Scan:
    """Runs every value of a knob, or of all, with the others held."""
    wanted = [knob] if isinstance(knob, str) else list(knob or [])
    words = ["scan", "--json", *experiment_words(kernel, knobs, options, problem, device, preset, kernels, worker)]
    words += [f"--knob={name}" for name in wanted] + (["--watch"] if watch else [])
    return decoded(Scan, result_of(words, progress))


def sweep(kernel: Optional[str] = None, *, space: Union[None, Path, Mapping[str, Any]] = None,
          knobs: Optional[Knobs] = None, options: Optional[Options] = None, problem: Optional[Sizes] = None,
          device: Optional[str] = None, preset: Optional[Path] = None, kernels: Sequence[Path] = (),
          worker: Optional[Workers] = None, slurm: Optional[str] = None, workers: Optional[int] = None, strategy: Optional[str] = None,
          budget: Optional[int] = None, seed: Optional[int] = None, model: Optional[str] = None, watch: Optional[bool] = None,
          fresh: bool = False, progress: Optional[Progress] = None) -> Sweep:
    """Searches a kernel's configs for the fastest correct one. `space` is a file, what such a file holds
    ({"knobs": {"BLOCK_M": [16, 32]}}), or only knobs and the values to try; without it, every value of the knobs that
    `knobs` does not hold. `options` holds compile options. Each of several in `worker` takes the next config; `slurm` are
    srun's arguments for each of as many `workers`."""
    words = ["sweep", "--json", *experiment_words(kernel, knobs, options, problem, device, preset, kernels, worker), *watch_words(watch)]
    for name, value in (("strategy", strategy), ("budget", budget), ("seed", seed), ("model", model), ("slurm", slurm), ("workers", workers)):
        words += option(name, value)
    words += ["--fresh"] if fresh else []
    with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
        if isinstance(space, Mapping):
            path = pathlib.Path(folder, "space.json")
            whole = any(isinstance(value, Mapping) for value in space.values())
            path.write_text(json.dumps(dict(space) if whole else {"knobs": {name: list(values) for name, values in space.items()}}),
                            encoding="utf-8")
            space = path
        return decoded(Sweep, result_of(words + option("space", space), progress))


def results(*, kernel: Union[None, str, Sequence[str]] = None, knobs: Optional[Knobs] = None,
            problem: Optional[Sizes] = None, device: Optional[str] = None, verdict: Optional[str] = None, since: Optional[str] = None,
            fastest: bool = False, limit: Optional[int] = None, store: Optional[Path] = None) -> Results:
    """Stored results, the newest or the fastest first; all without `limit`. `since` is a day, "2026-11-22"."""
    sizes = problem if problem is None or isinstance(problem, str) else pairs(problem)
    words = ["results", "--json"] + [f"--kernel={one}" for one in ([kernel] if isinstance(kernel, str) else kernel or [])]
    words += [f"--set={knob}={value}" for knob, value in (knobs or {}).items()] + (["--fastest"] if fastest else [])
    for name, value in (("problem", sizes), ("device", device), ("verdict", verdict), ("since", since), ("limit", limit), ("store", store)):
        words += option(name, value)
    _, text, failure = call(words)
    if failure:
        raise failure
    return Results([decoded(StoredResult, json.loads(line), str(at)) for at, line in enumerate(text.splitlines())])


def read(path: Path) -> Observation:
    """An observation that `save` or `attnscope run --json` wrote. OSError: the file cannot be read."""
    try:
        return decoded(Observation, json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    except ValueError as error:
        raise AttnscopeError("input", f"{path} is not JSON: {error}", "Give the JSON of `attnscope run --json`.") from error


def devices() -> List[Any]:
    """What can run a kernel here, as `attnscope devices --json` lists it."""
    return list(result_of(["devices", "--json"]))


def kernels() -> List[Any]:
    """Every kernel with its knobs, as `attnscope kernels --json` lists it."""
    return list(result_of(["kernels", "--json"]))
