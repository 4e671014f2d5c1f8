#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.h"

namespace attnscope {

enum class ElementType { f16, bf16, f32, f64, i32, u32, i64, u8, i8, i16, u16 };
template <>
struct Words<ElementType> : NamesAsWords<ElementType> {};
uint32_t bytes_of(ElementType type);
bool is_floating(ElementType type);

enum class BufferRole {
  in,         // only read; a write is a Failure
  out,        // poisoned before the run, judged after it
  inout,      // initialised, read, written and judged
  workspace,  // initialised; not judged afterwards
};
template <>
struct Words<BufferRole> : NamesAsWords<BufferRole> {};
constexpr bool is_judged(BufferRole role) { return role == BufferRole::out || role == BufferRole::inout; }

// What a buffer holds before the run.
struct BufferInit {
  // unset: nothing is written, as after cudaMalloc, so a read before a write is a fault.
  enum class Kind { random, zeros, ones, iota, fill, unset };
  Kind kind = Kind::random;
  // random: [low, high], for integers including both ends. Empty: the problem's distribution (floats), or 0…99
  // (integers). fill: `low` in every element.
  std::optional<double> low, high;
  bool operator==(const BufferInit&) const = default;
};
template <>
struct Words<BufferInit::Kind> : NamesAsWords<BufferInit::Kind> {};

// A buffer of a kernel for one problem and config: row-major, in global memory.
struct Operand {
  std::string name;
  BufferRole role = BufferRole::in;
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  BufferInit init;
  std::string symbol = {};  // the machine code's variable that holds its contents; empty: none
  bool guessed = false;     // its length is a guess
  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * bytes_of(type); }
  bool judged() const { return is_judged(role); }
  // True if it has contents before the run, so that reading it before a write is not a fault.
  bool has_contents() const { return role != BufferRole::out && init.kind != BufferInit::Kind::unset; }
};

// One parameter of a kernel: the address of an operand, or a value.
struct ArgumentValue {
  std::string name;               // for messages
  std::optional<size_t> operand;  // index into Workload::operands
  std::vector<std::byte> bytes;   // a value, as its C type stores it
  std::optional<int64_t> whole;   // a size; 4 or 8 bytes wide, as the kernel declares it
  // In a struct: an operand's address, 8 bytes, and its place in `bytes`.
  struct Address {
    size_t at, operand;
    size_t offset = 0;  // bytes into the operand
  };
  std::vector<Address> addresses = {};
  size_t offset = 0;  // for an operand's address: bytes into it
};

enum class ReferenceKind {
  each,
  copy,
  scale,
  relu,
  gelu,
  silu,
  add,
  mul,
  saxpy,
  gemm,
  gemm_nt,
  gemm_tn,
  attention,
  attention_causal,
  transpose,
  softmax,
  layernorm,
  rmsnorm,
  reduce_sum,
  reduce_max,
  reduce_min,
  scan,
  sort,
  histogram
};
template <>
struct Words<ReferenceKind> : NamesAsWords<ReferenceKind> {};

// How an output is judged.
struct ReferenceSpec {
  ReferenceKind kind = ReferenceKind::each;
  std::vector<std::string> inputs;  // operands, with their contents before the run
  std::string output;
  std::string expr;                  // kind "each": expression for one element, over the inputs' names
  double value = 0;                  // eps of the norms; factor of "scale", "saxpy" and "gemm_nt"
  std::optional<double> beta;        // "gemm": factor of c; empty: 1
  std::optional<double> atol, rtol;  // empty: the tolerances of the output's type
};

// A Failure (Stage::catalog) at `where` if the number of inputs does not fit its kind.
Result<void> known_reference(const ReferenceSpec& spec, const std::string& where);

// The operands and arguments of a kernel that is not attention: its manifest's buffers and args, evaluated.
struct Workload {
  std::vector<Operand> operands;
  std::vector<ArgumentValue> arguments;
  std::vector<ReferenceSpec> references;  // empty: the verdict is "unchecked"
  size_t bytes() const;                   // of all operands except workspaces
};

}  // namespace attnscope
