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
#include "core/source_pieces.h"
#include "core/words.h"
#include "core/workload.h"

namespace attnscope {

struct KnobValue {
  int64_t value = 0;
  std::string label;  // empty: the number is shown
  std::string text() const { return label.empty() ? std::to_string(value) : label; }
  bool operator==(const KnobValue&) const = default;
};

// A named compile-time parameter with its legal values.
struct Knob {
  std::string name;  // the macro's name
  std::vector<KnobValue> values;
  int64_t default_value = 0;
  std::string doc;
  const KnobValue* find(int64_t value) const;
  std::string text_of(int64_t value) const;  // its label, or its digits
};

struct Restriction {
  std::string expr;
  std::string why;
};

struct SharedPart {
  std::string name;
  std::string bytes;  // expression, in bytes
};

// Where a kernel's online softmax keeps its state for a query row. The expressions know every knob, the problem's
// sizes, `scale`, `row` (in the CTA), `key` (in the tile) and `column`.
struct SoftmaxPlaces {
  // A register, identified by the instruction that writes it.
  struct Written {
    std::string line;        // text that occurs on one source line only
    std::string op;          // "FFMA": selects the line's instructions with this opcode
    std::string warp = "0";  // the warp that computes the row
    std::string lane = "0";
    std::string turn = "0";  // which of the lane's executions within a tile
  };
  // A float in shared memory.
  struct Kept {
    std::string buffer;  // its name in shared_map or in the source
    std::string byte;    // offset in the buffer
  };
  std::string rows, keys;  // query rows per CTA, which lie along x (heads along y, batches along z); keys per tile
  std::string ends;        // text that occurs only on the line of the barrier after a tile
  std::string unit = "1";  // m is in units of score × this
  Written m, l;            // the running maximum and sum
  std::optional<Kept> scores, weights, o;  // by key; by key, what the scores have become at the tile's end; by column
};

// What a microbenchmark measures: one function of its source, which stands for a part of other kernels.
struct ClockedFragment {
  // A kernel that contains this part if `when` holds, a condition over the kernel's knobs, its problem and the
  // fragment's knobs.
  struct StandsFor {
    std::string kernel;  // kernel id
    std::string when = "1";
  };
  std::string cycles;      // an f32 buffer of role out: each CTA's clocks for one execution, by clock64
  std::string function;    // in the source; its modelled time is the fragment's time
  int64_t executions = 1;  // of the function, per CTA
  std::vector<StandsFor> stands;
  std::string fits = "1";  // condition over its knobs and an attention problem: true if the fragment is a part of it
  std::string work = "1";  // expression over its knobs: the work by which tiles of different sizes are compared
  std::string unit;        // of the work, "scores"; the same for all fragments that stand for a kernel
};

struct LaunchExpressions {
  std::string grid[3];
  std::string block[3];
  std::string dynamic_shared = "0";
  std::string static_shared;           // bytes, to predict a limit before compiling; empty: known only after compiling
  std::vector<std::string> constants;  // the source's __device__ const integers that dynamic_shared uses
  bool cooperative = false;            // as by cudaLaunchCooperativeKernel: all CTAs exist at once
};

struct Supports {
  std::vector<DType> dtypes;
  std::vector<int64_t> head_dims;
  std::vector<Causal> causals;
  std::vector<Layout> layouts = {Layout::BHSD};
  bool grouped_heads = false;  // kv_heads < heads
};

// What makes machine code of a source: NVRTC, which comes with attnscope, or the nvcc of the machine that compiles.
enum class CompilerChoice { nvrtc, nvcc };
template <>
struct Words<CompilerChoice> : NamesAsWords<CompilerChoice> {};

// How a kernel is compiled by default.
struct CompileOptions {
  bool fast_math = true;  // -use_fast_math, as in the reports' runs on an L4
  bool fmad = true;
  int maxrregcount = 0;   // 0: no limit
  int launch_bounds = 0;  // CTAs an SM that registers must suffice for; 0: as the source says
  CompilerChoice compiler = CompilerChoice::nvrtc;
  bool operator==(const CompileOptions&) const = default;
};

// A buffer as a manifest declares it: an Operand whose values are expressions.
struct BufferDeclaration {
  std::string name;
  BufferRole role = BufferRole::in;
  ElementType type = ElementType::f32;
  std::vector<std::string> shape;
  BufferInit init;
  std::string symbol = {};  // the __constant__ variable that holds its contents; empty: it is passed as a parameter
  bool guessed = false;     // its length is a guess
};

// A parameter that is neither a buffer's address nor a size: a value of a C type, or a struct of such values.
struct ArgumentDeclaration {
  std::string name;   // of a buffer, a size or (attention) an entry of the table; empty: a value or a struct
  std::string value;  // expression
  ElementType type = ElementType::i32;
  std::vector<ArgumentDeclaration> fields;  // fields of a struct, in order, laid out as in C
  std::string offset = {};  // for a buffer: expression for the element whose address is passed; empty: the first
};

// One step of a program: a launch, or the host's action between two launches.
struct ProgramStep {
  enum class Kind { launch, memset, copy };
  Kind kind = Kind::launch;
  // For a launch, as for a kernel:
  std::string entry;
  LaunchExpressions launch;
  std::vector<SharedPart> shared_map;
  std::vector<ArgumentDeclaration> arguments;
  // Indices into Kernel::buffers. A memset fills all of `to`; a copy writes all of `from` to all of `to`.
  size_t to = 0, from = 0;
  int byte = 0;  // memset: the value
};

struct Kernel;

// A second kernel that computes the reference outputs from the same inputs. Agreement with it does not prove
// correctness.
struct KernelAsReference {
  std::shared_ptr<const Kernel> kernel;  // for the same problem; its own reference must not be a kernel
  std::map<std::string, int64_t> knobs;  // those that differ from its defaults
  // Empty: twice the tolerance of the output's type, because both sides are rounded.
  std::optional<double> atol, rtol;
};

// The type in which a kernel accumulates.
enum class Accumulate { f32, f16 };
template <>
struct Words<Accumulate> : NamesAsWords<Accumulate> {};

// One rung as values: a .cu file and its manifest, or a library's routine. `content_hash` identifies it, not a path.
struct Kernel {
  std::string id;
  std::string title;
  std::string story;
  int rung = 0;                      // number at the start of its file's name; 0: none
  std::string source_name;           // "02_tiled.cu"
  std::string source;                // text
  std::string manifest_name;         // for messages: the path as given
  std::string manifest;              // JSON text
  std::vector<NamedLines> phases;    // of the source
  std::string entry;                 // name of the kernel in the source, or of the library's routine
  std::vector<std::string> headers;  // header sets that the source includes besides CUDA's own: "cutlass"
  Library library;                   // set for a library's routine, which has no source
  std::string install;               // for a library: what to do if it is missing
  ProblemKind problem = ProblemKind::attention;
  std::vector<Knob> knobs;
  std::vector<Restriction> requires_;  // a config that violates one is refused
  std::vector<Restriction> warns;      // a config that matches one still runs, with a warning on the knob
  Supports supports;
  int min_arch = 75;
  LaunchExpressions launch;
  std::vector<SharedPart> shared_map;
  std::vector<std::string> args;         // attention's
  CompileOptions options;                // the options that a draft of this kernel starts with
  std::optional<SoftmaxPlaces> softmax;  // attention only; empty: the manifest does not describe it
  // For kernels other than attention:
  std::map<std::string, int64_t> sizes;  // with their defaults
  std::vector<BufferDeclaration> buffers;
  std::vector<ArgumentDeclaration> arguments;
  std::vector<ReferenceSpec> references;
  std::optional<KernelAsReference> reference_kernel;  // used instead of `references`
  std::optional<ClockedFragment> fragment;            // empty: not a microbenchmark
  // A program of several launches over the same buffers, in order. entry, launch, shared_map and arguments are then
  // those of its first launch. Empty: one launch.
  std::vector<ProgramStep> steps;
  std::optional<size_t> step;  // index of the step, in a kernel that launches() returned for a program
  // The accumulation type that the kernel declares: f32, f16, or a knob that selects it.
  std::string accumulate = "f32";
  // An expression over the knobs: how many of the problem's products run on Tensor Cores. Empty: the manifest does not
  // say.
  std::string tensor_products;
  std::string content_hash;  // XXH3-128 of manifest and source
  const Knob* find_knob(const std::string& name) const;
  // Its launches in order, each as a kernel with that entry, launch and arguments; the kernel itself if it is not a
  // program.
  std::vector<Kernel> launches() const;
  // A place in the manifest, for messages: "launch/grid" gives "softmax.json/launch/grid", or
  // "softmax.json/launches/1/grid" in a program.
  std::string where(std::string_view key) const;
  // The problem that a draft starts with: the usual attention problem, or this kernel's default sizes.
  Problem default_problem() const;
};
// Null if no kernel has that id.
const Kernel* find_kernel(const std::vector<Kernel>& kernels, const std::string& id);

}  // namespace attnscope
