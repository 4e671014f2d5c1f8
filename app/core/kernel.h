#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"

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

struct LaunchExpressions {
  std::string grid[3];
  std::string block[3];
  std::string dynamic_shared = "0";
  std::string static_shared;  // bytes, so that a limit is foretold before compiling; empty: only the compiler knows
};

struct Supports {
  std::vector<DType> dtypes;
  std::vector<int64_t> head_dims;
  std::vector<Causal> causals;
  std::vector<Layout> layouts = {Layout::BHSD};
  bool grouped_heads = false;  // kv_heads < heads
};

// One rung: a .cu file and its manifest, as values. No path decides what it is: `content_hash` does.
struct Kernel {
  std::string id;
  std::string title;
  std::string story;
  int rung = 0;              // the number its file's name starts with; 0 none
  std::string source_name;   // "02_tiled.cu"
  std::string source;        // text
  std::string manifest_name;  // for messages: the path as given
  std::string manifest;      // JSON text
  std::string entry;
  ProblemKind problem = ProblemKind::attention;
  std::vector<Knob> knobs;
  std::vector<Restriction> requires_;  // a config that breaks one is refused
  std::vector<Restriction> warns;      // a config that meets one runs; the knob says what to expect
  Supports supports;
  int min_arch = 75;
  LaunchExpressions launch;
  std::vector<SharedPart> shared_map;
  std::vector<std::string> args;
  std::string accumulate = "f32";  // the type the kernel declares to accumulate in: f32 or f16
  std::string content_hash;   // XXH3-128 of manifest and source
  const Knob* find_knob(const std::string& name) const;
};

}  // namespace attnscope
