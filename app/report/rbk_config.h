#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::report {

// One problem of robust-kbench's grid, in its terms.
struct RbkShape {
  std::string name;
  int64_t batch_size = 1, num_heads = 1, seq_len = 1, head_dim = 64;
  bool causal = false;
  std::string dtype = "float16";
  bool operator==(const RbkShape&) const = default;
};

// How far an element may be from the reference: |got - expected| <= atol + rtol * |expected|.
struct Tolerances {
  double atol = 0, rtol = 0;
};

// When a kernel counts as faster: by this factor over the baseline, on this many shapes.
struct GainWanted {
  double speedup = 1.1;
  int64_t shapes = 2;
};

// rbk_config.yaml: robust-kbench's grid, and what is timed on it.
struct RbkConfig {
  std::vector<RbkShape> shapes;
  std::vector<std::string> runners;      // "ID" or "ID:KNOB=VALUE,…"; empty: every kernel
  std::string baseline;                  // one of the runners; empty: the first
  std::optional<Tolerances> tolerances;  // empty: the verdict's own
  GainWanted gain;
  std::string output_dir;
  bool save_json = true, save_csv = true, save_markdown = true, save_html = true;
  // robust-kbench's own timing. attnscope times in passes until the interval is narrow, so both only limit what is
  // accepted.
  int64_t warmups = 0, iterations = 0;
};

// Failure (Stage::input) for an unknown key, a wrong type or a size outside its range; each names its place in the
// file.
Result<RbkConfig> rbk_config_from_yaml(const std::string& text, const std::string& where);

// Failure (Stage::input) for a dtype other than float16, bfloat16 and float32.
Result<Problem> problem_of(const RbkShape& shape, const std::string& where);

Json to_json(const RbkShape& shape);

}  // namespace attnscope::report
