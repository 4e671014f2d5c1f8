#include "core/observation.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/json.h"
#include "core/words.h"

namespace attnscope {
namespace {

constexpr WordTable<FigureKind, 4> kKinds{{{FigureKind::measured, "measured"},
                                           {FigureKind::counted, "counted"},
                                           {FigureKind::modelled, "modelled"},
                                           {FigureKind::reported, "reported"}}};

// Reads an array of at most `most` objects, each through `parse`.
template <class T, class Parse>
void read_array(JsonReader& read, const char* key, size_t most, std::vector<T>& out, Parse parse) {
  if (!read.has(key)) return;
  const Json& array = *read.value(key);
  if (!array.is_array()) return read.fault(key, "must be an array");
  if (array.size() > most) return read.fault(key, "holds too many entries");
  for (size_t i = 0; i < array.size(); ++i) {
    Result<T> parsed = parse(array[i], read.path(key) + "/" + std::to_string(i));
    if (!parsed) return read.adopt(parsed.error());
    out.push_back(std::move(*parsed));
  }
}

template <class T, class Parse>
void read_part(JsonReader& read, const char* key, std::optional<T>& out, Parse parse) {
  const Json* value = read.value(key);
  if (!value) return;
  if (value->is_null()) return out.reset();
  Result<T> parsed = parse(*value, read.path(key));
  if (parsed)
    out = std::move(*parsed);
  else
    read.adopt(parsed.error());
}

// A text that is one of a few words: another one would be taken for the harmless one further on.
void read_one_of(JsonReader& read, const char* key, std::string& out, std::initializer_list<std::string_view> words) {
  read.text(key, out);
  if (std::find(words.begin(), words.end(), out) == words.end()) read.fault(key, "is not a word that is known here");
}

template <class T>
Result<T> finished(JsonReader& read, T value) {
  if (auto done = read.finish(); !done) return fail(done.error());
  return value;
}

Result<std::string> line_of(const Json& json, const std::string& where) {
  if (json.is_string() && json.get_ref<const std::string&>().size() <= Printed::kMostBytes)
    return json.get<std::string>();
  return fail(Stage::protocol, where + ": must be a line of text");
}

Result<SharedBuffer> shared_buffer_from_json(const Json& json, const std::string& where) {
  SharedBuffer b;
  JsonReader read(json, where, Stage::protocol);
  read.text("name", b.name);
  read.integer("bytes", b.bytes);
  read.boolean("dynamic", b.dynamic);
  return finished(read, b);
}

constexpr double kLongestUs = 1e15;  // some thirty years
constexpr double kMost = 1e300;      // of figures without a limit of their own: finite

Result<VariantInfo> variant_from_json(const Json& json, const std::string& where) {
  VariantInfo v;
  JsonReader read(json, where, Stage::protocol);
  read.integer("arch", v.arch, 0, 1000);
  read.integer("registers", v.registers);
  read.integer("spill_bytes", v.spill_bytes);
  read.integer("stack_bytes", v.stack_bytes);
  read.integer("static_shared_bytes", v.static_shared_bytes);
  read.integer("dynamic_shared_bytes", v.dynamic_shared_bytes);
  read_array(read, "shared_buffers", 4096, v.shared_buffers, shared_buffer_from_json);
  read.text("code_hash", v.code_hash);
  read.boolean("cached", v.cached);
  read.number("compile_ms", v.compile_ms, 0, kLongestUs);
  read.text("log", v.log, 16 << 20);
  return finished(read, v);
}

Result<Occupancy> occupancy_from_json(const Json& json, const std::string& where) {
  Occupancy o;
  JsonReader read(json, where, Stage::protocol);
  read.integer("ctas_per_sm", o.ctas_per_sm);
  read.integer("warps_per_sm", o.warps_per_sm);
  read.number("fraction", o.fraction, 0, 1);
  read.text("limiter", o.limiter);
  read.number("waves", o.waves, 0, kMost);
  read.integer("total_ctas", o.total_ctas);
  read.integer("resident_ctas", o.resident_ctas);
  read.integer("tail_ctas", o.tail_ctas);
  return finished(read, o);
}

Result<BadElement> bad_element_from_json(const Json& json, const std::string& where) {
  BadElement b;
  JsonReader read(json, where, Stage::protocol);
  read.integer("batch", b.batch);
  read.integer("head", b.head);
  read.integer("row", b.row);
  read.integer("column", b.column);
  read.number("expected", b.expected);
  read.number("got", b.got);
  return finished(read, b);
}

Result<Verdict> verdict_from_json(const Json& json, const std::string& where) {
  Verdict v;
  JsonReader read(json, where, Stage::protocol);
  read_one_of(read, "state", v.state, {"correct", "wrong", "unchecked"});
  read.text("reason", v.reason);
  read.integer("nonfinite", v.nonfinite);
  read.number("max_abs", v.max_abs);
  read.number("mean_abs", v.mean_abs);
  read.number("rel_frobenius", v.rel_frobenius);
  read.number("cosine", v.cosine);
  read.number("outside_share", v.outside_share, 0, 1);
  read.number("atol", v.atol, 0, kMost);
  read.number("rtol", v.rtol, 0, kMost);
  read.number("naive_rel_frobenius", v.naive_rel_frobenius);
  read.number("rel_frobenius_limit", v.rel_frobenius_limit);
  read.integer("rows_checked", v.rows_checked);
  read.integer("rows_total", v.rows_total);
  read_part(read, "first_bad", v.first_bad, bad_element_from_json);
  return finished(read, v);
}

// MessagePack has numbers that are none, and a time beyond every clock is none either.
bool is_time(const Json& json) {
  return json.is_number() && json.get<double>() >= 0 && json.get<double>() <= kLongestUs;
}

void read_us(JsonReader& read, Timing& t) {
  if (!read.has("us")) return;
  JsonReader us(*read.value("us"), read.path("us"), Stage::protocol);
  us.number("p10", t.p10, 0, kLongestUs);
  us.number("p50", t.p50, 0, kLongestUs);
  us.number("p90", t.p90, 0, kLongestUs);
  if (auto done = us.finish(); !done) read.adopt(done.error());
}

constexpr size_t kMostRounds = 1000, kMostSamples = 10000;  // of one round

Result<std::vector<double>> round_from_json(const Json& json, const std::string& where) {
  std::vector<double> round;
  if (!json.is_array() || json.size() > kMostSamples)
    return fail(Stage::protocol, where + ": must be an array of times");
  for (const Json& us : json) {
    if (!is_time(us)) return fail(Stage::protocol, where + ": must hold times only, in us");
    round.push_back(us.get<double>());
  }
  return round;
}

Result<Sampling> sampling_from_json(const Json& json, const std::string& where) {
  Sampling s;
  JsonReader read(json, where, Stage::protocol);
  read_array(read, "rounds", kMostRounds, s.rounds, round_from_json);
  read.text("stopped", s.stopped);
  read.integer("dropped", s.dropped, 0);
  if (read.has("empty_us"))
    read.number("empty_us", s.empty_us.emplace(), 0, kLongestUs);
  else
    read.ignore("empty_us");
  read.number("power_w", s.power_w, 0, 1e6);
  read.number("power_limit_w", s.power_limit_w, 0, 1e6);
  read.number("temperature_c", s.temperature_c, -kMost, kMost);
  read_array(read, "reasons", 64, s.reasons, [](const Json& word, const std::string& at) -> Result<std::string> {
    if (!word.is_string()) return fail(Stage::protocol, at + ": must be text");
    return word.get<std::string>();
  });
  return finished(read, s);
}

Result<Timing> timing_from_json(const Json& json, const std::string& where) {
  Timing t;
  JsonReader read(json, where, Stage::protocol);
  read.word("kind", t.kind, figure_kind_from_text);
  read_us(read, t);
  if (read.has("interval")) {
    const Json& interval = *read.value("interval");
    if (interval.is_array() && interval.size() == 2 && is_time(interval[0]) && is_time(interval[1])) {
      t.interval_low = interval[0].get<double>();
      t.interval_high = interval[1].get<double>();
    } else {
      read.fault("interval", "must be two times in us");
    }
  }
  read.integer("samples", t.samples);
  read.text("cache", t.cache);
  read.number("clock_mhz", t.clock_mhz, 0, 1e6);
  read.text("bound", t.bound);
  read_part(read, "sampling", t.sampling, sampling_from_json);
  return finished(read, t);
}

Result<Counters> counters_from_json(const Json& json, const std::string& where) {
  Counters c;
  JsonReader read(json, where, Stage::protocol);
  read.word("kind", c.kind, figure_kind_from_text);
  read.number("sampled_fraction", c.sampled_fraction, 0, 1);
  if (read.has("instructions")) {
    JsonReader classes(*read.value("instructions"), read.path("instructions"), Stage::protocol);
    if (read.value("instructions")->is_object())
      for (const auto& [name, unused] : read.value("instructions")->items())
        classes.integer(name.c_str(), c.instructions[name]);
    if (auto done = classes.finish(); !done) read.adopt(done.error());
  }
  read.number("active_lanes_mean", c.active_lanes_mean, 0, 32);
  read.integer("threads", c.threads);
  read.integer("shared_wavefronts", c.shared_wavefronts);
  read.integer("shared_wavefronts_ideal", c.shared_wavefronts_ideal);
  read.integer("shared_bank_conflicts", c.shared_bank_conflicts);
  read.integer("global_load_sectors", c.global_load_sectors);
  read.integer("global_store_sectors", c.global_store_sectors);
  read.integer("local_sectors", c.local_sectors);
  read.integer("barriers", c.barriers);
  read.integer("emulated_ctas", c.emulated_ctas);
  read.integer("total_ctas", c.total_ctas);
  return finished(read, c);
}

Result<Evidence> evidence_from_json(const Json& json, const std::string& where) {
  Evidence e;
  JsonReader read(json, where, Stage::protocol);
  read.text("name", e.name);
  read.number("value", e.value, -kMost, kMost);
  read.text("unit", e.unit);
  read.word("kind", e.kind, figure_kind_from_text);
  return finished(read, e);
}

Result<Finding> finding_from_json(const Json& json, const std::string& where) {
  Finding f;
  JsonReader read(json, where, Stage::protocol);
  read.text("rule", f.rule);
  read_one_of(read, "severity", f.severity, {"info", "warning", "error"});
  read.text("sentence", f.sentence);
  read_array(read, "evidence", 256, f.evidence, evidence_from_json);
  if (read.has("where")) {
    JsonReader inner(*read.value("where"), read.path("where"), Stage::protocol);
    if (read.value("where")->is_object())
      for (const auto& [name, unused] : read.value("where")->items()) inner.text(name.c_str(), f.where[name]);
    if (auto done = inner.finish(); !done) read.adopt(done.error());
  }
  if (read.has("est_gain_us")) {
    double gain = 0;
    read.number("est_gain_us", gain, -kMost, kMost);
    f.est_gain_us = gain;
  }
  if (read.has("next")) {
    JsonReader next(*read.value("next"), read.path("next"), Stage::protocol);
    if (const Json* set = next.value("set"); set && set->is_object()) {
      JsonReader knobs(*set, read.path("next") + "/set", Stage::protocol);
      for (const auto& [name, unused] : set->items()) knobs.integer(name.c_str(), f.next_set[name]);
      if (auto done = knobs.finish(); !done) read.adopt(done.error());
    }
    if (auto done = next.finish(); !done) read.adopt(done.error());
  }
  return finished(read, f);
}

Result<WatchReport> watch_from_json(const Json& json, const std::string& where) {
  WatchReport w;
  JsonReader read(json, where, Stage::protocol);
  read.integer("ctas", w.ctas, 0);
  read.integer("total_ctas", w.total_ctas, 0);
  read.integer("fills", w.fills, 0);
  read.integer("orders", w.orders, 0);
  read_array(read, "findings", 4096, w.findings, finding_from_json);
  return finished(read, w);
}

Result<Printed> printed_from_json(const Json& json, const std::string& where) {
  Printed p;
  JsonReader read(json, where, Stage::protocol);
  read_array(read, "lines", Printed::kMostLines, p.lines, line_of);
  read.integer("more", p.more, 0);
  return finished(read, p);
}

Result<Versions> versions_from_json(const Json& json, const std::string& where) {
  Versions v;
  JsonReader read(json, where, Stage::protocol);
  read.text("app", v.app);
  read.text("nvrtc", v.nvrtc);
  read.text("driver", v.driver);
  read.text("gpu", v.gpu);
  read.text("cublas", v.cublas);
  return finished(read, v);
}

Result<double> number_of(const Json& json, const std::string& where) {
  if (json.is_number() && std::isfinite(json.get<double>())) return json.get<double>();
  return fail(Stage::protocol, where + ": must be a finite number");
}

// The keys that stream; `read` marks them known.
void read_parts(JsonReader& read, Observation& o) {
  if (read.has("versions")) {
    auto versions = versions_from_json(*read.value("versions"), read.path("versions"));
    if (versions)
      o.versions = *versions;
    else
      read.adopt(versions.error());
  }
  read.text("device", o.device, 200);
  read_part(read, "variant", o.variant, variant_from_json);
  read_part(read, "occupancy", o.occupancy, occupancy_from_json);
  read_part(read, "verdict", o.verdict, verdict_from_json);
  read_part(read, "timing", o.timing, timing_from_json);
  read_part(read, "tflops", o.tflops, number_of);
  read_part(read, "counters", o.counters, counters_from_json);
  if (read.value("findings")) {
    o.findings.clear();
    read_array(read, "findings", 4096, o.findings, finding_from_json);
  }
  read_part(read, "watch", o.watch, watch_from_json);
  read_part(read, "printed", o.printed, printed_from_json);
  read_part(read, "failure", o.failure, failure_from_json);
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

}  // namespace

std::string_view to_string(FigureKind kind) { return word_of(kKinds, kind); }
bool WatchReport::has_errors() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.severity == "error"; });
}

Result<FigureKind> figure_kind_from_text(std::string_view text) { return value_of(kKinds, text); }

Json to_json(const Versions& v) {
  return Json{{"app", v.app}, {"nvrtc", v.nvrtc}, {"driver", v.driver}, {"gpu", v.gpu}, {"cublas", v.cublas}};
}

Json to_json(const VariantInfo& v) {
  Json buffers = Json::array();
  for (const SharedBuffer& b : v.shared_buffers)
    buffers.push_back({{"name", b.name}, {"bytes", b.bytes}, {"dynamic", b.dynamic}});
  return Json{{"arch", v.arch},
              {"registers", v.registers},
              {"spill_bytes", v.spill_bytes},
              {"stack_bytes", v.stack_bytes},
              {"static_shared_bytes", v.static_shared_bytes},
              {"dynamic_shared_bytes", v.dynamic_shared_bytes},
              {"shared_buffers", buffers},
              {"code_hash", v.code_hash},
              {"cached", v.cached},
              {"compile_ms", v.compile_ms},
              {"log", v.log}};
}

Json to_json(const Occupancy& o) {
  return Json{{"ctas_per_sm", o.ctas_per_sm},
              {"warps_per_sm", o.warps_per_sm},
              {"fraction", o.fraction},
              {"limiter", o.limiter},
              {"waves", o.waves},
              {"total_ctas", o.total_ctas},
              {"resident_ctas", o.resident_ctas},
              {"tail_ctas", o.tail_ctas}};
}

Json to_json(const BadElement& b) {
  return Json{{"batch", b.batch},
              {"head", b.head},
              {"row", b.row},
              {"column", b.column},
              {"expected", number_json(b.expected)},
              {"got", number_json(b.got)}};
}

Json to_json(const Verdict& v) {
  return Json{{"state", v.state},
              {"reason", v.reason},
              {"nonfinite", v.nonfinite},
              {"max_abs", number_json(v.max_abs)},
              {"mean_abs", number_json(v.mean_abs)},
              {"rel_frobenius", number_json(v.rel_frobenius)},
              {"cosine", number_json(v.cosine)},
              {"outside_share", v.outside_share},
              {"atol", v.atol},
              {"rtol", v.rtol},
              {"naive_rel_frobenius", number_json(v.naive_rel_frobenius)},
              {"rel_frobenius_limit", number_json(v.rel_frobenius_limit)},
              {"rows_checked", v.rows_checked},
              {"rows_total", v.rows_total},
              {"first_bad", optional_json(v.first_bad)}};
}

Json to_json(const Sampling& s) {
  return Json{{"rounds", s.rounds},
              {"stopped", s.stopped},
              {"dropped", s.dropped},
              {"empty_us", s.empty_us ? Json(*s.empty_us) : Json(nullptr)},
              {"power_w", s.power_w},
              {"power_limit_w", s.power_limit_w},
              {"temperature_c", s.temperature_c},
              {"reasons", s.reasons}};
}

Json to_json(const Timing& t) {
  return Json{{"kind", to_string(t.kind)},
              {"us", {{"p10", t.p10}, {"p50", t.p50}, {"p90", t.p90}}},
              {"interval", Json::array({t.interval_low, t.interval_high})},
              {"samples", t.samples},
              {"cache", t.cache},
              {"clock_mhz", t.clock_mhz},
              {"bound", t.bound},
              {"sampling", optional_json(t.sampling)}};
}

Json to_json(const Counters& c) {
  return Json{{"kind", to_string(c.kind)},
              {"sampled_fraction", c.sampled_fraction},
              {"instructions", c.instructions},
              {"active_lanes_mean", c.active_lanes_mean},
              {"threads", c.threads},
              {"shared_wavefronts", c.shared_wavefronts},
              {"shared_wavefronts_ideal", c.shared_wavefronts_ideal},
              {"shared_bank_conflicts", c.shared_bank_conflicts},
              {"global_load_sectors", c.global_load_sectors},
              {"global_store_sectors", c.global_store_sectors},
              {"local_sectors", c.local_sectors},
              {"barriers", c.barriers},
              {"emulated_ctas", c.emulated_ctas},
              {"total_ctas", c.total_ctas}};
}

Json to_json(const Finding& f) {
  Json evidence = Json::array();
  for (const Evidence& e : f.evidence)
    evidence.push_back({{"name", e.name}, {"value", e.value}, {"unit", e.unit}, {"kind", to_string(e.kind)}});
  return Json{{"rule", f.rule},
              {"severity", f.severity},
              {"sentence", f.sentence},
              {"evidence", evidence},
              {"where", f.where},
              {"est_gain_us", f.est_gain_us ? Json(*f.est_gain_us) : Json(nullptr)},
              {"next", {{"set", f.next_set}}}};
}

Json to_json(const WatchReport& w) {
  Json findings = Json::array();
  for (const Finding& f : w.findings) findings.push_back(to_json(f));
  return Json{
      {"ctas", w.ctas}, {"total_ctas", w.total_ctas}, {"fills", w.fills}, {"orders", w.orders}, {"findings", findings}};
}

Json to_json(const Printed& p) { return Json{{"lines", p.lines}, {"more", p.more}}; }

Json to_json(const Failure& f) { return Json{{"stage", to_string(f.stage)}, {"message", f.message}, {"hint", f.hint}}; }

Result<Failure> failure_from_json(const Json& json, const std::string& where) {
  Failure f;
  JsonReader read(json, where, Stage::protocol);
  read.required("stage");
  read.word("stage", f.stage, parse_stage);
  read.text("message", f.message);
  read.text("hint", f.hint);
  return finished(read, f);
}

Json to_json(const Observation& o) {
  Json experiment = to_json(o.experiment);
  experiment["hash"] = o.hash;
  Json findings = Json::array();
  for (const Finding& f : o.findings) findings.push_back(to_json(f));
  return Json{{"experiment", experiment},
              {"versions", to_json(o.versions)},
              {"device", o.device},
              {"variant", optional_json(o.variant)},
              {"occupancy", optional_json(o.occupancy)},
              {"verdict", optional_json(o.verdict)},
              {"timing", optional_json(o.timing)},
              {"tflops", o.tflops ? Json(*o.tflops) : Json(nullptr)},
              {"counters", optional_json(o.counters)},
              {"findings", findings},
              {"watch", optional_json(o.watch)},
              {"printed", optional_json(o.printed)},
              {"failure", optional_json(o.failure)}};
}

Result<Observation> observation_from_json(const Json& json, const std::string& where) {
  Observation o;
  JsonReader read(json, where, Stage::protocol);
  read.required("experiment");
  if (read.failed()) return fail(read.finish().error());
  auto experiment = experiment_from_json(*read.value("experiment"), where + "/experiment");
  if (!experiment) return fail(experiment.error());
  o.experiment = *experiment;
  o.hash = hash_of(o.experiment);
  read_parts(read, o);
  return finished(read, o);
}

Result<void> apply_part(Observation& observation, const Json& part) {
  Observation next = observation;
  JsonReader read(part, "part", Stage::protocol);
  read_parts(read, next);
  std::string bound;
  if (read.has("bound")) read.text("bound", bound);
  if (next.timing && !bound.empty()) next.timing->bound = bound;
  if (auto done = read.finish(); !done) return fail(done.error());
  observation = std::move(next);
  return {};
}

}  // namespace attnscope
