#include "core/device_spec.h"

#include "core/json.h"

namespace attnscope {
namespace {
constexpr int64_t kBytes = int64_t{1} << 40;

void read_map(JsonReader& read, const char* key, std::map<std::string, double>& out) {
  if (!read.has(key)) return;
  JsonReader inner(*read.value(key), read.path(key), Stage::input);
  for (const auto& [name, unused] : read.value(key)->items()) inner.number(name.c_str(), out[name], 0, 1e9);
  if (auto done = inner.finish(); !done) read.adopt(done.error());
}

void read_map(JsonReader& read, const char* key, std::map<std::string, std::string>& out) {
  if (!read.has(key)) return;
  JsonReader inner(*read.value(key), read.path(key), Stage::input);
  for (const auto& [name, unused] : read.value(key)->items()) inner.text(name.c_str(), out[name]);
  if (auto done = inner.finish(); !done) read.adopt(done.error());
}

void read_words(JsonReader& read, const char* key, std::vector<std::string>& out) {
  if (!read.has(key)) return;
  const Json& list = *read.value(key);
  if (!list.is_array() || list.size() > 100) return read.fault(key, "must be a list of words");
  out.clear();
  for (const Json& word : list) {
    if (!word.is_string() || word.get_ref<const std::string&>().size() > 100)
      return read.fault(key, "must be a list of words");
    out.push_back(word.get<std::string>());
  }
}
}  // namespace

Json to_json(const DeviceSpec& s) {
  return Json{{"id", s.id},
              {"name", s.name},
              {"arch", s.arch},
              {"emulated", s.emulated},
              {"sms", s.sms},
              {"runs", s.runs},
              {"shared_static_block", s.shared_static_block},
              {"shared_optin_block", s.shared_optin_block},
              {"shared_sm", s.shared_sm},
              {"shared_reserved_block", s.shared_reserved_block},
              {"warps_sm", s.warps_sm},
              {"ctas_sm", s.ctas_sm},
              {"registers_sm", s.registers_sm},
              {"registers_block", s.registers_block},
              {"threads_block", s.threads_block},
              {"clock_mhz", s.clock_mhz},
              {"sustained_clock_mhz", s.sustained_clock_mhz},
              {"dram_gbs", s.dram_gbs},
              {"l2_mb", s.l2_mb},
              {"tensor_tflops_f16", s.tensor_tflops_f16},
              {"rates", s.rates},
              {"sources", s.sources}};
}

Result<DeviceSpec> device_spec_from_json(const Json& json, const std::string& where) {
  DeviceSpec s;
  JsonReader read(json, where);
  for (const char* key : {"id", "name", "arch", "sms", "shared_optin_block", "shared_sm", "warps_sm"})
    read.required(key);
  read.line("id", s.id, 200);
  read.line("name", s.name, 200);
  read.integer("arch", s.arch, 50, 200);
  read.boolean("emulated", s.emulated);
  read_words(read, "runs", s.runs);
  read.integer("sms", s.sms, 1, 100000);
  read.integer("shared_static_block", s.shared_static_block, 0, kBytes);
  read.integer("shared_optin_block", s.shared_optin_block, 0, kBytes);
  read.integer("shared_sm", s.shared_sm, 0, kBytes);
  read.integer("shared_reserved_block", s.shared_reserved_block, 0, kBytes);
  read.integer("warps_sm", s.warps_sm, 1, 1024);
  read.integer("ctas_sm", s.ctas_sm, 1, 1024);
  read.integer("registers_sm", s.registers_sm, 1, kBytes);
  read.integer("registers_block", s.registers_block, 1, kBytes);
  read.integer("threads_block", s.threads_block, 1, 65536);
  read.number("clock_mhz", s.clock_mhz, 0, 1e5);
  read.number("sustained_clock_mhz", s.sustained_clock_mhz, 0, 1e5);
  read.number("dram_gbs", s.dram_gbs, 0, 1e6);
  read.number("l2_mb", s.l2_mb, 0, 1e6);
  read.number("tensor_tflops_f16", s.tensor_tflops_f16, 0, 1e6);
  read_map(read, "rates", s.rates);
  read_map(read, "sources", s.sources);
  if (auto done = read.finish(); !done) return fail(done.error());
  return s;
}

}  // namespace attnscope
