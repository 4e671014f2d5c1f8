#include "core/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/json.h"
#include "core/words.h"

namespace attnscope {
namespace {

constexpr WordTable<ProblemKind, 6> kKinds{{{ProblemKind::attention, "attention"},
                                            {ProblemKind::gemm, "gemm"},
                                            {ProblemKind::softmax, "softmax"},
                                            {ProblemKind::reduction, "reduction"},
                                            {ProblemKind::transpose, "transpose"},
                                            {ProblemKind::custom, "custom"}}};
constexpr WordTable<Causal, 3> kCausals{
    {{Causal::none, "none"}, {Causal::top_left, "top_left"}, {Causal::bottom_right, "bottom_right"}}};
constexpr WordTable<Layout, 2> kLayouts{{{Layout::BHSD, "BHSD"}, {Layout::BSHD, "BSHD"}}};
constexpr WordTable<DType, 3> kDTypes{{{DType::f16, "f16"}, {DType::bf16, "bf16"}, {DType::f32, "f32"}}};
constexpr WordTable<Distribution, 4> kDistributions{{{Distribution::normal, "normal"},
                                                     {Distribution::uniform, "uniform"},
                                                     {Distribution::large, "large"},
                                                     {Distribution::constant, "constant"}}};

// Limits at the door. A tensor above 2^34 elements would not fit any device this program names.
constexpr int64_t kMaxBatch = 65535, kMaxHeads = 65535, kMaxSeq = 1 << 24, kMaxHeadDim = 1024;
constexpr double kMaxElements = 17179869184.0;
constexpr int64_t kMaxSize = int64_t{1} << 40;  // of another kind's size: its buffers are held to what memory has
constexpr size_t kMaxSizes = 32;

Result<Causal> causal_of(std::string_view text) {
  if (text == "true" || text == "1") return Causal::bottom_right;
  if (text == "false" || text == "0") return Causal::none;
  return value_of(kCausals, text);
}

}  // namespace

std::string_view to_string(ProblemKind value) { return word_of(kKinds, value); }
std::string_view to_string(Causal value) { return word_of(kCausals, value); }
std::string_view to_string(Layout value) { return word_of(kLayouts, value); }
std::string_view to_string(DType value) { return word_of(kDTypes, value); }
std::string_view to_string(Distribution value) { return word_of(kDistributions, value); }
Result<Causal> parse_causal(std::string_view text) { return causal_of(text); }
Result<DType> parse_dtype(std::string_view text) { return value_of(kDTypes, text); }
Result<ProblemKind> parse_problem_kind(std::string_view text) { return value_of(kKinds, text); }

uint32_t bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

double Problem::effective_scale() const { return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(head_dim)); }

double Problem::flops() const {
  if (!is_attention()) {
    const bool product = kind == ProblemKind::gemm && sizes.contains("M") && sizes.contains("N") && sizes.contains("K");
    const double products = sizes.contains("B") ? double(sizes.at("B")) : 1;
    return product ? 2.0 * products * double(sizes.at("M")) * double(sizes.at("N")) * double(sizes.at("K")) : 0;
  }
  const double full = 4.0 * double(batch) * double(heads) * double(seq_q) * double(seq_k) * double(head_dim);
  return causal == Causal::none ? full : full / 2;
}

int64_t visible_keys(const Problem& problem, int64_t i) {
  if (problem.causal == Causal::none) return problem.seq_k;
  return std::clamp<int64_t>(i + first_visible(problem), 0, problem.seq_k);
}

int64_t first_visible(const Problem& problem) {
  return problem.causal == Causal::bottom_right ? problem.seq_k - problem.seq_q + 1 : 1;
}

Json to_json(const Problem& p) {
  if (!p.is_attention())
    return Json{
        {"kind", to_string(p.kind)}, {"sizes", p.sizes}, {"distribution", to_string(p.distribution)}, {"seed", p.seed}};
  return Json{{"kind", to_string(p.kind)},
              {"batch", p.batch},
              {"heads", p.heads},
              {"kv_heads", p.kv_heads},
              {"seq_q", p.seq_q},
              {"seq_k", p.seq_k},
              {"head_dim", p.head_dim},
              {"causal", to_string(p.causal)},
              {"layout", to_string(p.layout)},
              {"dtype", to_string(p.dtype)},
              {"scale", p.scale ? Json(*p.scale) : Json(nullptr)},
              {"distribution", to_string(p.distribution)},
              {"seed", p.seed}};
}

namespace {

void read_sizes(JsonReader& read, Problem& p, const std::string& where) {
  const Json* sizes = read.value("sizes");
  if (!sizes) return;
  JsonReader inner(*sizes, where + "/sizes");
  if (sizes->is_object())
    for (const auto& [name, unused] : sizes->items()) inner.integer(name.c_str(), p.sizes[name]);
  if (auto done = inner.finish(); !done) read.adopt(done.error());
}

void read_attention(JsonReader& read, Problem& p) {
  read.integer("batch", p.batch);
  read.integer("heads", p.heads);
  p.kv_heads = p.heads;
  read.integer("kv_heads", p.kv_heads);
  read.integer("seq_q", p.seq_q);
  read.integer("seq_k", p.seq_k);
  read.integer("head_dim", p.head_dim);
  read.word("causal", p.causal, causal_of);
  read.word("layout", p.layout, [](std::string_view text) { return value_of(kLayouts, text); });
  read.word("dtype", p.dtype, [](std::string_view text) { return value_of(kDTypes, text); });
  if (read.has("scale")) {
    double scale = 0;
    read.number("scale", scale);
    p.scale = scale;
  }
}

}  // namespace

Result<Problem> problem_from_json(const Json& json, const std::string& where) {
  Problem p;
  JsonReader read(json, where);
  read.word("kind", p.kind, [](std::string_view text) { return value_of(kKinds, text); });
  if (p.is_attention())
    read_attention(read, p);
  else
    read_sizes(read, p, where);
  read.word("distribution", p.distribution, [](std::string_view text) { return value_of(kDistributions, text); });
  read.unsigned_integer("seed", p.seed);
  if (auto done = read.finish(); !done) return fail(done.error());
  if (auto valid = validate(p, where); !valid) return fail(valid.error());
  return p;
}

Result<void> validate(const Problem& p, const std::string& where) {
  auto refuse = [&](const std::string& key, const std::string& reason, const std::string& hint) {
    return fail(Stage::input, where + "/" + key + ": " + reason, hint);
  };
  if (p.sizes.size() > kMaxSizes)
    return refuse("sizes", fmt::format("holds {} sizes; at most {} are taken", p.sizes.size(), kMaxSizes), "");
  for (const auto& [name, value] : p.sizes)
    if (value < 0 || value > kMaxSize)
      return refuse("sizes/" + name, fmt::format("{} is outside 0…2^40", value), "Choose a size in that range.");
  auto outside = [](int64_t value, int64_t high) { return value < 1 || value > high; };
  auto range = [&](const char* key, int64_t value, int64_t high) {
    return refuse(
        key, fmt::format("{} is outside 1…{}", value, high),
        value < 1 ? fmt::format("Set {} to 1 or more.", key) : fmt::format("Set {} to {} or less.", key, high));
  };
  if (outside(p.batch, kMaxBatch)) return range("batch", p.batch, kMaxBatch);
  if (outside(p.heads, kMaxHeads)) return range("heads", p.heads, kMaxHeads);
  if (outside(p.seq_q, kMaxSeq)) return range("seq_q", p.seq_q, kMaxSeq);
  if (outside(p.seq_k, kMaxSeq)) return range("seq_k", p.seq_k, kMaxSeq);
  if (outside(p.head_dim, kMaxHeadDim)) return range("head_dim", p.head_dim, kMaxHeadDim);
  if (p.kv_heads < 1 || p.heads % p.kv_heads != 0)
    return refuse("kv_heads", fmt::format("{} does not divide heads = {}", p.kv_heads, p.heads),
                  "Query heads share key heads evenly: choose a divisor of heads.");
  if (p.scale && !std::isfinite(*p.scale))
    return refuse("scale", "must be finite", "Leave it out for 1/sqrt(head_dim).");
  const double largest = double(p.batch) * double(p.heads) * double(std::max(p.seq_q, p.seq_k)) * double(p.head_dim);
  if (largest > kMaxElements)
    return refuse("seq_q", fmt::format("a tensor of {:.3g} elements is over 2^34", largest), "Choose smaller sizes.");
  return {};
}

namespace {

std::string known_keys(const Problem& base) {
  if (base.is_attention()) return "Known: B, H, S, D, dist and the JSON keys.";
  std::string known = "Known:";
  for (const auto& [name, unused] : base.sizes) known += " " + name + ",";
  return known + " dist, seed.";
}

}  // namespace

Result<Problem> problem_from_text(std::string_view text, Problem base) {
  static const std::map<std::string, std::vector<std::string>> kShort{{"B", {"batch"}},
                                                                      {"H", {"heads", "kv_heads"}},
                                                                      {"S", {"seq_q", "seq_k"}},
                                                                      {"D", {"head_dim"}},
                                                                      {"dist", {"distribution"}}};
  Json json = to_json(base);
  const std::string where = "--problem";
  const bool attention = base.is_attention();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string part(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Stage::input, where + ": \"" + part + "\" is not KEY=VALUE",
                  "Write B=1,H=8,S=512,D=64,causal=none,seed=0.");
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    auto found = attention || key == "dist" ? kShort.find(key) : kShort.end();
    const std::vector<std::string> names = found == kShort.end() ? std::vector<std::string>{key} : found->second;
    const bool is_size = base.sizes.contains(key);
    if (found == kShort.end() && !json.contains(key) && !is_size)
      return fail(Stage::input, where + "/" + key + ": is not a known key", known_keys(base));
    for (const std::string& name : names) {
      int64_t number = 0;
      auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      const bool whole = error == std::errc{} && end == value.data() + value.size();
      if (is_size) {
        if (!whole) return fail(Stage::input, where + "/" + key + ": \"" + value + "\" is not a whole number", "");
        json["sizes"][name] = number;
        continue;
      }
      const bool worded = name == "causal";
      if (whole && !worded)
        json[name] = number;
      else if (name == "scale") {
        double real = 0;
        auto [stop, bad] = std::from_chars(value.data(), value.data() + value.size(), real);
        if (bad != std::errc{} || stop != value.data() + value.size())
          return fail(Stage::input, where + "/scale: \"" + value + "\" is not a number", "");
        json[name] = real;
      } else
        json[name] = value;
    }
    if (key == "heads") json["kv_heads"] = json["heads"];
  }
  return problem_from_json(json, where);
}

std::string short_text(const Problem& p) {
  if (!p.is_attention()) {
    std::string text(to_string(p.kind));
    for (const auto& [name, value] : p.sizes) text += fmt::format(" {}={}", name, value);
    return text;
  }
  std::string text = fmt::format("B{} H{} ", p.batch, p.heads);
  if (p.kv_heads != p.heads) text += fmt::format("Hkv{} ", p.kv_heads);
  text += p.seq_q == p.seq_k ? fmt::format("S{}", p.seq_q) : fmt::format("Sq{} Sk{}", p.seq_q, p.seq_k);
  text += fmt::format(" D{}", p.head_dim);
  if (p.causal == Causal::bottom_right) text += " causal";
  if (p.causal == Causal::top_left) text += " causal (top-left)";
  return text;
}

}  // namespace attnscope
