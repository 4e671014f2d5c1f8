"""What an observation is made of. Made by cmake/python_types.py from docs/observation.schema.json: change that."""
from dataclasses import dataclass
from typing import Dict, List, Optional


@dataclass(frozen=True)
class Counters:
    active_lanes_mean: float
    barriers: int  # warp arrivals
    emulated_ctas: int
    global_load_sectors: int
    global_store_sectors: int
    instructions: Dict[str, int]  # warp instructions by class
    kind: str
    local_sectors: int
    sampled_fraction: float
    shared_bank_conflicts: int
    shared_wavefronts: int
    shared_wavefronts_ideal: int
    threads: int  # thread instructions
    total_ctas: int


@dataclass(frozen=True)
class Options:
    fast_math: bool
    fmad: bool
    maxrregcount: int  # 0: no limit
    compiler: Optional[str] = None  # left out where it is nvrtc; nvcc is the one that the machine has
    launch_bounds: Optional[int] = None  # CTAs an SM that registers must suffice for; left out where it is as the source says


@dataclass(frozen=True)
class Config:
    knobs: Dict[str, int]  # knob -> value
    options: Options


@dataclass(frozen=True)
class Kernel:
    hash: str  # XXH3-128 of manifest and source
    id: str


@dataclass(frozen=True)
class Measure:
    cache: str
    max_time_ms: int
    sampled_share: float


@dataclass(frozen=True)
class Problem:
    distribution: str
    kind: str
    seed: int
    batch: Optional[int] = None  # B
    causal: Optional[str] = None
    dtype: Optional[str] = None
    head_dim: Optional[int] = None
    heads: Optional[int] = None
    kv_heads: Optional[int] = None
    layout: Optional[str] = None
    scale: Optional[float] = None  # null: 1/sqrt(head_dim)
    seq_k: Optional[int] = None  # keys
    seq_q: Optional[int] = None  # query rows
    sizes: Optional[Dict[str, int]] = None  # the kernel's sizes by name


@dataclass(frozen=True)
class Experiment:
    config: Config
    device: str
    hash: str  # XXH3-128 of the canonical JSON of the other keys
    kernel: Kernel
    measure: Measure
    problem: Problem


@dataclass(frozen=True)
class Overrun:
    buffer: str
    bytes: int  # the buffer's size
    past: int  # bytes from its end to the access


@dataclass(frozen=True)
class Failure:
    hint: str
    message: str
    stage: str
    absent_variable: Optional[str] = None  # a __constant__ one that the compiled kernel does not have
    kind: Optional[str] = None  # left out where the stage says enough
    overrun: Optional[Overrun] = None  # an emulated access past a buffer's end


@dataclass(frozen=True)
class Evidence:
    kind: str
    name: str
    unit: str
    value: float


@dataclass(frozen=True)
class Gain:
    estimated: Optional[float]  # us saved, if nothing else gets in the way
    tried: Optional[float]  # us saved by `next`, run on the same device; negative: it costs


@dataclass(frozen=True)
class Next:
    set: Dict[str, int]  # knob and value


@dataclass(frozen=True)
class Finding:
    evidence: List[Evidence]
    gain: Optional[Gain]  # what a cure saves; null: not known
    group: str  # what it is about; follows from the rule
    next: Optional[Next]  # what to try; null: nothing is known
    rule: str
    sentence: str
    severity: str
    where: Dict[str, str]


@dataclass(frozen=True)
class Occupancy:
    ctas_per_sm: int
    fraction: float  # of the device's warps per SM
    limiter: str
    resident_ctas: int
    tail_ctas: int  # CTAs in the last, partial wave
    total_ctas: int
    warps_per_sm: int
    waves: float  # grid / (CTAs per SM x SMs)


@dataclass(frozen=True)
class Printed:
    lines: List[str]
    more: int


@dataclass(frozen=True)
class Sampling:
    dropped: int  # samples left out: thermal or hardware slowdown, or a clock over 3 % off the run's median
    empty_us: Optional[float]  # cold: an empty kernel timed in the same way
    power_limit_w: float
    power_w: float
    reasons: List[str]  # what held the clock back, in NVML's words
    rounds: List[List[float]]  # us; one list for each placement of the buffers in memory, in the order taken
    stopped: str
    temperature_c: float


@dataclass(frozen=True)
class Line:
    address: int  # bytes from the kernel's first instruction
    source: str  # file:line; empty: not known
    us: float
    waiting_address: int  # of the instruction that waits for it longest; itself where it issues
    waiting_source: str
    launch: Optional[int] = None  # of a program: the index in `launches`; left out elsewhere


@dataclass(frozen=True)
class Term:
    kind: str
    lines: List[Line]  # those that carry most, longest first
    us: float


@dataclass(frozen=True)
class PhaseTerm:
    kind: str
    us: float


@dataclass(frozen=True)
class Phase:
    name: str  # a function of the source, with the loop where it has one
    terms: List[PhaseTerm]
    us: float


@dataclass(frozen=True)
class Terms:
    list: List[Term]  # longest first; they sum to the time
    missing: str  # why there are none; else empty
    phases: List[Phase]  # pieces of the source, longest first; they sum to the time


@dataclass(frozen=True)
class Us:
    p10: float
    p50: float
    p90: float


@dataclass(frozen=True)
class Timing:
    bound: str  # of a modelled time; "MUFU and shuffle latency" has the waits for constants too
    cache: str
    clock_mhz: float
    interval: List[float]  # us; measured: 95 % bootstrap interval of the median; modelled: the model's error bar
    kind: str
    samples: int
    sampling: Optional[Sampling]  # how a measured timing came about; null for a modelled one
    terms: Optional[Terms]  # how a modelled time splits; null for a measured one
    us: Us


@dataclass(frozen=True)
class SharedBuffer:
    bytes: int
    dynamic: bool
    name: str


@dataclass(frozen=True)
class Variant:
    arch: int  # compute capability x 10
    cached: bool
    code_hash: str  # equal for equal machine code
    compile_ms: float
    compiler: str  # NVRTC or nvcc with its version; empty for a file of machine code
    dynamic_shared_bytes: int
    log: str
    registers: int  # per thread
    shared_buffers: List[SharedBuffer]
    spill_bytes: int
    stack_bytes: int
    static_shared_bytes: int


@dataclass(frozen=True)
class FirstBad:
    batch: int
    column: int
    expected: float
    got: float
    head: int
    row: int


@dataclass(frozen=True)
class Verdict:
    atol: float
    cosine: float
    first_bad: Optional[FirstBad]
    max_abs: float
    mean_abs: float
    naive_rel_frobenius: float
    nonfinite: int  # positions of NaN or Inf that differ from the reference's
    outside_share: float  # share of elements outside atol + rtol*|reference|
    reason: str
    rel_frobenius: float
    rel_frobenius_limit: float
    rows_checked: int
    rows_total: int
    rtol: float
    state: str
    against: Optional[str] = None  # another kernel, whose outputs were the reference: correct means agreement with it; left out where the reference is fp64


@dataclass(frozen=True)
class Versions:
    app: str
    cublas: str
    driver: str
    gpu: str
    nvcc: str
    nvrtc: str


@dataclass(frozen=True)
class Watch:
    ctas: int  # watched
    fills: int  # runs that filled shared memory with other values at the start
    findings: List[Finding]
    orders: int  # runs in another order of the warps
    total_ctas: int  # of the grid
    needless: Optional[List[Finding]] = None  # no faults: barriers without which the watched runs stay the same


@dataclass(frozen=True)
class FragmentCycles:
    ctas: int
    high: float
    kind: str
    low: float
    median: float  # clocks of one execution, over the CTAs


@dataclass(frozen=True)
class Hardware:
    cupti: str  # CUPTI's version
    dram_busy: Optional[float]  # % of the DRAM's bandwidth
    dram_read_bytes: Optional[int]
    dram_write_bytes: Optional[int]
    failure: Optional[Failure]  # why there are none; null where there are
    global_load_sectors: Optional[int]
    global_store_sectors: Optional[int]
    kind: str
    local_sectors: Optional[int]
    passes: int  # how many times the run was repeated to read them all
    shared_wavefronts: Optional[int]
    sm_busy: Optional[float]  # % of the instructions that the SMs could issue to a pipe
    tensor_busy: Optional[float]  # % of the clocks of the SMs in use
    threads: Optional[int]  # thread instructions
    warp_instructions: Optional[int]
    warps_active: Optional[float]  # % of the warps that fit on the SMs in use


@dataclass(frozen=True)
class LaunchFigures:
    counters: Optional[Counters]
    name: str  # the kernel's entry, "memset x" or "copy a to b"
    occupancy: Optional[Occupancy]
    timing: Optional[Timing]  # modelled, also where a GPU measured the whole program
    variant: Optional[Variant]


@dataclass(frozen=True)
class ObservationFields:
    """What came of one experiment, as `attnscope run --json` prints it. Every key is always there, except `launches` of a kernel with one launch, `hardware`, which only `attnscope counters` asks for, and `fragment_cycles`, which only microbenchmarks have; a part that was not reached is null."""
    counters: Optional[Counters]
    device: str
    experiment: Experiment
    failure: Optional[Failure]
    findings: List[Finding]
    occupancy: Optional[Occupancy]
    printed: Optional[Printed]  # what the kernel's printf wrote in the emulator, CTA by CTA; `more` counts the calls after those
    tflops: Optional[float]
    timing: Optional[Timing]
    variant: Optional[Variant]
    verdict: Optional[Verdict]
    versions: Versions
    watch: Optional[Watch]  # what a watch of the config saw (docs/emulator.md, Watches)
    fragment_cycles: Optional[FragmentCycles] = None  # what a microbenchmark's fragment takes a CTA, by `attnscope micro` (docs/sweeping.md); left out elsewhere
    hardware: Optional[Hardware] = None  # what the GPU's own counters say of one run, by `attnscope counters` (docs/measuring.md); left out elsewhere
    launches: Optional[List[LaunchFigures]] = None  # of a program: its steps in order; `variant` and `occupancy` are those of the longest launch, `timing` and `counters` of all; left out where there is one launch


@dataclass(frozen=True)
class AskedExperiment:
    config: Config
    device: str
    kernel: Kernel
    measure: Measure
    problem: Problem
