#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/library.h"
#include "core/problem.h"
#include "core/workload.h"

namespace attnscope {

struct KnobValue {
  int64_t value = 0;
  std::string label;  // empty: the number itself
  std::string text() const { return label.empty() ? std::to_string(value) : label; }
  bool operator==(const KnobValue&) const = default;
};

// A named compile-time parameter with its legal values.
struct Knob {
  std::string name;  // the macro
  std::vector<KnobValue> values;
  int64_t default_value = 0;
  std::string doc;
  const KnobValue* find(int64_t value) const;
  std::string text_of(int64_t value) const;  // label or digits
};

struct Restriction {
  std::string expr;
  std::string why;
};

struct SharedPart {
  std::string name;
  std::string bytes;  // expression
};

// Where a kernel's online softmax keeps what it holds of a query row. The expressions know every knob, the problem's
// sizes, `scale`, `row` (in the CTA), `key` (in the tile) and `column`.
struct SoftmaxPlaces {
  // The register that an instruction of a source line writes, for the row.
  struct Written {
    std::string line;        // a piece of the source that only one line has
    std::string op;          // "FFMA": of that line's instructions, those of this opcode
    std::string warp = "0";  // who computes the row
    std::string lane = "0";
    std::string turn = "0";  // which of the lane's executions in a tile
  };
  // A float of shared memory.
  struct Kept {
    std::string buffer;  // as shared_map names it, or the source
    std::string byte;    // in it
  };
  std::string rows, keys;  // query rows of a CTA, which lie along x (heads along y, batches along z); keys of a tile
  std::string ends;        // a piece of the source that only the line of the barrier behind a tile has
  std::string unit = "1";  // m counts scores times this
  Written m, l;            // the running maximum and sum
  std::optional<Kept> scores, weights, o;  // by key; what became of them at the tile's end; by column
};

// What a microbenchmark clocks: one function of its source, which stands for a part of other kernels.
struct ClockedFragment {
  // A kernel that has such a part, where `when` holds: a condition over its knobs, its problem and the fragment's
  // knobs.
  struct StandsFor {
    std::string kernel;  // id
    std::string when = "1";
  };
  std::string cycles;      // a buffer of role out and f32: each CTA's clocks of one execution, by clock64
  std::string function;    // of the source: its modelled time is the fragment's
  int64_t executions = 1;  // of the function, by a CTA
  std::vector<StandsFor> stands;
  std::string fits = "1";  // condition over its knobs and an attention problem: it is a part of that one
  std::string work = "1";  // expression over its knobs: by what tiles of several sizes are compared
  std::string unit;        // of the work: "scores"; the same in all that stand for a kernel
};

struct LaunchExpressions {
  std::string grid[3];
  std::string block[3];
  std::string dynamic_shared = "0";
  std::string static_shared;           // bytes, to predict a limit before compiling; empty: only the compiler knows
  std::vector<std::string> constants;  // __device__ const integers of the source that dynamic_shared names
};

struct Supports {
  std::vector<DType> dtypes;
  std::vector<int64_t> head_dims;
  std::vector<Causal> causals;
  std::vector<Layout> layouts = {Layout::BHSD};
  bool grouped_heads = false;  // kv_heads < heads
};

// How a kernel is compiled by default.
struct CompileOptions {
  bool fast_math = true;  // the reports' L4 runs: -use_fast_math
  bool fmad = true;
  int maxrregcount = 0;   // 0: no limit
  int launch_bounds = 0;  // CTAs an SM that registers must suffice for; 0: as the source says
  bool operator==(const CompileOptions&) const = default;
};

// A buffer as a manifest declares it: Operand with expressions.
struct BufferDeclaration {
  std::string name;
  BufferRole role = BufferRole::in;
  ElementType type = ElementType::f32;
  std::vector<std::string> shape;
  BufferInit init;
  std::string symbol = {};  // of a __constant__ variable that has its contents; empty: it is passed as a parameter
  bool guessed = false;     // its length is a guess
};

// A parameter that is not the name of a buffer or a size: a value of a C type, or a struct of them.
struct ArgumentDeclaration {
  std::string name;   // of a buffer, a size or (attention) the table; empty: a value or a struct
  std::string value;  // expression
  ElementType type = ElementType::i32;
  std::vector<ArgumentDeclaration> fields;  // of a struct, in order, laid out as C does
  std::string offset = {};  // of a buffer: the element that the address is of, an expression; empty: the first
};

// One step of a program: a launch, or what the host does between two launches.
struct ProgramStep {
  enum class Kind { launch, memset, copy };
  Kind kind = Kind::launch;
  // Of a launch, as a kernel's own:
  std::string entry;
  LaunchExpressions launch;
  std::vector<SharedPart> shared_map;
  std::vector<ArgumentDeclaration> arguments;
  // Indices into Kernel::buffers. A memset fills the whole of `to`; a copy takes all of `from` to all of `to`.
  size_t to = 0, from = 0;
  int byte = 0;  // of a memset
};

struct Kernel;

// Another kernel that says what the outputs should be, from the same inputs: what agrees with it is not yet right.
struct KernelAsReference {
  std::shared_ptr<const Kernel> kernel;  // of the same problem; its own reference is no kernel
  std::map<std::string, int64_t> knobs;  // that differ from its defaults
  std::optional<double> atol, rtol;      // empty: twice those of the output's type, since both sides are rounded
};

// The type in which a kernel accumulates.
enum class Accumulate { f32, f16 };
template <>
struct Words<Accumulate> : NamesAsWords<Accumulate> {};

// One rung: a .cu file and its manifest, or a library's routine, as values. `content_hash` identifies it, not a path.
struct Kernel {
  std::string id;
  std::string title;
  std::string story;
  int rung = 0;                      // the number its file's name starts with; 0 none
  std::string source_name;           // "02_tiled.cu"
  std::string source;                // text
  std::string manifest_name;         // for messages: the path as given
  std::string manifest;              // JSON text
  std::string entry;                 // the kernel in the source, or the library's routine
  std::vector<std::string> headers;  // whose headers the source includes beside CUDA's own: "cutlass"
  Library library;                   // not the source's: a routine of that library, and no source
  std::string install;               // of a library: what to do if it is missing
  ProblemKind problem = ProblemKind::attention;
  std::vector<Knob> knobs;
  std::vector<Restriction> requires_;  // a config that breaks one is refused
  std::vector<Restriction> warns;      // a config that matches one still runs; the knob says what to expect
  Supports supports;
  int min_arch = 75;
  LaunchExpressions launch;
  std::vector<SharedPart> shared_map;
  std::vector<std::string> args;         // attention's
  CompileOptions options;                // what a draft of this kernel starts from
  std::optional<SoftmaxPlaces> softmax;  // attention's: empty: the manifest does not say
  // Of kernels that are not attention:
  std::map<std::string, int64_t> sizes;  // with their defaults
  std::vector<BufferDeclaration> buffers;
  std::vector<ArgumentDeclaration> arguments;
  std::vector<ReferenceSpec> references;
  std::optional<KernelAsReference> reference_kernel;  // instead of `references`
  std::optional<ClockedFragment> fragment;            // empty: it is no microbenchmark
  // A program of several launches over the same buffers: what it does, in order. entry, launch, shared_map and
  // arguments are then its first launch's. Empty: one launch.
  std::vector<ProgramStep> steps;
  std::optional<size_t> step;      // of a program, whose launch this is (launches())
  std::string accumulate = "f32";  // what the kernel declares to accumulate in: f32, f16, or a knob that says which
  std::string content_hash;        // XXH3-128 of manifest and source
  const Knob* find_knob(const std::string& name) const;
  // Its launches in order, each as a kernel with that entry, launch and arguments: itself where it is no program.
  std::vector<Kernel> launches() const;
  // A place in the manifest, for messages: of "launch/grid" it is "softmax.json/launch/grid", or
  // "softmax.json/launches/1/grid" in a program.
  std::string where(std::string_view key) const;
  // The problem that a draft starts with: attention's usual one, or this kernel's sizes.
  Problem default_problem() const;
};
// Null if no kernel has that id.
const Kernel* find_kernel(const std::vector<Kernel>& kernels, const std::string& id);

}  // namespace attnscope
