"""attnscope, the workbench for attention kernels, from Python.

    import attnscope
    before = attnscope.run("tiled", problem="B=1,H=8,S=512,D=64", device="emulated:l4")
    after = attnscope.run("tiled", knobs={"NUM_WARPS": 8}, problem="B=1,H=8,S=512,D=64", device="emulated:l4")
    print(attnscope.compare(before, after).caption())

Every function calls the program once. docs/python.md describes them.
"""
from .errors import AttnscopeError
from .functions import compare, devices, explain, kernels, read, results, run, scan, sweep
from .values import Comparison, Observation, Results, Scan, Sweep

__all__ = ["AttnscopeError", "Comparison", "Observation", "Results", "Scan", "Sweep", "compare", "devices", "explain", "kernels", "read",
           "results", "run", "scan", "sweep"]
