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
  in,         // only read: writing it is a Failure
  out,        // poisoned before the run, judged after it
  inout,      // initialised, read, written and judged
  workspace,  // initialised; not judged afterwards
};
template <>
struct Words<BufferRole> : NamesAsWords<BufferRole> {};
constexpr bool is_judged(BufferRole role) { return role == BufferRole::out || role == BufferRole::inout; }

// What a buffer holds before the run.
struct BufferInit {
  // unset: nothing, as cudaMalloc leaves it, so a read before a write is a fault.
  enum class Kind { random, zeros, ones, iota, fill, unset };
  Kind kind = Kind::random;
  // random: [low, high]; integers include both ends. Empty: as the problem's distribution says (floats), 0…99
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
  std::string symbol = {};  // of a variable of the machine code that has its contents; empty: none
  bool guessed = false;     // its length is a guess
  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * bytes_of(type); }
  bool judged() const { return is_judged(role); }
  // Has contents before the run: reading it before a write is no fault.
  bool has_contents() const { return role != BufferRole::out && init.kind != BufferInit::Kind::unset; }
};

// One parameter of a kernel, in order: the address of an operand, or a value.
struct ArgumentValue {
  std::string name;               // for messages
  std::optional<size_t> operand;  // index into Workload::operands
  std::vector<std::byte> bytes;   // of a value, as its C type stores it
  std::optional<int64_t> whole;   // a size: as wide as the kernel declares it, 4 or 8 bytes
  // Of a struct: where in `bytes` the addresses of operands go, 8 bytes each.
  struct Address {
    size_t at, operand;
    size_t offset = 0;  // bytes into the operand
  };
  std::vector<Address> addresses = {};
  size_t offset = 0;  // of an operand's address: bytes into it
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
  std::vector<std::string> inputs;  // operands, as they were before the run
  std::string output;
  std::string expr;                  // kind "each": of one element, over the inputs' names
  double value = 0;                  // eps of the norms, the factor of "scale", "saxpy" and "gemm_nt"
  std::optional<double> beta;        // "gemm": the factor of c; empty: 1
  std::optional<double> atol, rtol;  // empty: those of the output's type
};

// A Failure (Stage::catalog) at `where` if it does not have as many inputs as its kind needs.
Result<void> known_reference(const ReferenceSpec& spec, const std::string& where);

// What a kernel that is not attention works on: its manifest's buffers and args, evaluated.
struct Workload {
  std::vector<Operand> operands;
  std::vector<ArgumentValue> arguments;
  std::vector<ReferenceSpec> references;  // empty: the verdict is "unchecked"
  size_t bytes() const;                   // of all operands except workspaces
};

}  // namespace attnscope
