#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json_fwd.h"
#include "core/result.h"
#include "core/words.h"
#include "search/recorded.h"

namespace attnscope {
namespace search {

// Why a config in a T4 file has no time; `correct`: it has one.
enum class Invalidity { correct, compile, runtime, timeout, correctness, constraints };

}  // namespace search

template <>
struct Words<search::Invalidity> : NamesAsWords<search::Invalidity> {};

namespace search {

// A config in a T4 file, version 1.0.0, the open format of autotuning results that Kernel Tuner reads and writes
// (github.com/odgaard/TuningSchema). Times are in ms.
struct T4Result {
  std::vector<std::pair<std::string, Json>> configuration;
  Invalidity invalidity = Invalidity::correct;
  std::optional<double> ms;         // the objective; only for a correct config
  std::vector<double> runtimes_ms;  // samples
  double compile_ms = 0;
  std::optional<double> modelled_ms;  // a model's time, stored as a measurement of its own
};
Json t4_of(const std::vector<T4Result>& results);

// A Failure (Stage::input) for a file without results, with two results for one config, or with a config that lacks a
// knob of the first one; it names the config.
Result<Recorded> recorded_from_t4(const Json& json, const std::string& where);

}  // namespace search
}  // namespace attnscope
