#include "bench_of_one.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "catalog/devices.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "check/inputs.h"
#include "cuda_api/locate.h"
#include "device/emulated/emulated_device.h"
#include "device/model_input.h"
#include "emulator/emulator.h"
#include "support/test_cache.h"

namespace attnscope::kernel_tests {
namespace {

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;
const std::filesystem::path kCache = test_cache();

const catalog::Catalog& catalog_of(const std::string& folder) {
  static std::map<std::string, catalog::Catalog> loaded;
  auto found = loaded.find(folder);
  if (found == loaded.end()) found = loaded.emplace(folder, catalog::load_catalog({kSource / folder})).first;
  return found->second;
}

compile::Compiler& compiler() {
  // Each test is a process: what one compiles, the next one finds in the cache.
  static compile::Compiler one({.cache_dir = kCache / "variants"});
  return one;
}

Result<device::Device*> device_of(int arch) {
  static std::map<int, std::unique_ptr<device::Device>> made;
  const std::map<int, const char*> files{{80, "a100"}, {89, "l4"}, {90, "h200"}};
  auto found = made.find(arch);
  if (found == made.end()) {
    auto spec = catalog::load_device(kSource / "assets/devices" / (std::string(files.at(arch)) + ".json"));
    if (!spec) return fail(spec.error());
    found = made.emplace(arch, device::make_emulated_device(*spec, kCache / "programs")).first;
  }
  return found->second.get();
}

struct Checked {
  std::shared_ptr<const check::AttentionInputs> inputs;
  std::shared_ptr<const check::Reference> reference;
};

// A row of NaN, one with an infinity, one whose scores are all -infinity, one of huge scores; and a key with an
// infinity, which makes the scores of every row infinite, of either sign.
void put_special_values(const Problem& problem, check::AttentionInputs& inputs) {
  auto* q = reinterpret_cast<uint16_t*>(inputs.q.data());
  auto* k = reinterpret_cast<uint16_t*>(inputs.k.data());
  const auto dim = static_cast<size_t>(problem.head_dim);
  constexpr uint16_t kNaN = 0x7e00, kInfinite = 0x7c00, kSign = 0x8000, kHuge = 0x7b53;  // 60,000
  for (size_t d = 0; d < dim; ++d) q[dim + d] = kNaN;
  q[2 * dim + 5] = kInfinite;
  q[3 * dim + 1] = kInfinite | kSign;
  for (size_t d = 0; d < dim; ++d) q[4 * dim + d] = static_cast<uint16_t>(kHuge | (q[4 * dim + d] & kSign));
  for (size_t row = 0; row < static_cast<size_t>(problem.seq_k); ++row)
    k[row * dim + 1] = static_cast<uint16_t>((k[row * dim + 1] & ~kSign) | 1);  // above 0
  k[7 * dim + 9] = kInfinite;
}

Result<Checked> checked(const Problem& problem, bool special, check::Accumulate accumulate) {
  static std::map<std::string, Checked> made;
  auto& one = made[hash_of(Experiment{{problem, "", {}, "", {}}, ""}) + (special ? " special" : "") +
                   (accumulate == check::Accumulate::f16 ? " f16" : "")];
  if (one.reference) return one;
  auto inputs = check::make_inputs(problem);
  if (!inputs) return fail(inputs.error());
  if (special) put_special_values(problem, *inputs);
  one.inputs = std::make_shared<check::AttentionInputs>(std::move(*inputs));
  auto reference = check::make_reference(problem, *one.inputs, accumulate);
  if (!reference) return fail(reference.error());
  one.reference = *reference;
  return one;
}

struct Prepared {
  Kernel kernel;
  Problem problem;
  Config config;
  std::shared_ptr<const compile::Variant> variant;
};

Result<Prepared> prepare(const Case& named) {
  Prepared p;
  const catalog::Catalog& catalog = catalog_of(named.folder);
  const auto found = std::find_if(catalog.kernels.begin(), catalog.kernels.end(),
                                  [&](const Kernel& k) { return k.id == named.kernel; });
  if (found == catalog.kernels.end())
    return catalog.failures.empty() ? fail(Stage::input, named.kernel + ": no such kernel")
                                    : fail(catalog.failures.front());
  p.kernel = *found;
  auto problem = problem_from_text(named.problem);
  if (!problem) return fail(problem.error());
  p.problem = *problem;
  std::map<std::string, int64_t> overrides;
  for (const std::string& setting : named.settings) {
    auto parsed = catalog::parse_setting(p.kernel, setting);
    if (!parsed) return fail(parsed.error());
    overrides.insert(*parsed);
  }
  CompileOptions options;
  options.fast_math = named.fast_math;
  auto config = catalog::complete_config(p.kernel, overrides, options);
  if (!config) return fail(config.error());
  p.config = *config;
  if (auto allowed = catalog::check_restrictions(p.kernel, p.problem, p.config, named.arch); !allowed)
    return fail(allowed.error());
  auto variant = compiler().compile({p.kernel.source, p.kernel.source_name, p.kernel.entry,
                                     catalog::macros(p.kernel, p.problem, p.config), p.problem.dtype, options,
                                     named.arch, p.kernel.headers});
  if (!variant) return fail(variant.error());
  p.variant = *variant;
  return p;
}

}  // namespace

std::string text_of(const Case& named) {
  std::string text = fmt::format("sm_{} {} {}", named.arch, named.kernel, named.problem);
  for (const std::string& setting : named.settings) text += " " + setting;
  if (named.special) text += " with NaN and infinities";
  return named.fast_math ? text : text + " exact math";
}

Result<std::shared_ptr<const compile::Variant>> compile(const Case& named) {
  return prepare(named).map([](const Prepared& p) { return p.variant; });
}

Result<Ran> run(const Case& named) {
  auto prepared = prepare(named);
  if (!prepared) return fail(prepared.error());
  auto device = device_of(named.arch);
  if (!device) return fail(device.error());
  auto loaded = (*device)->load(*prepared->variant);
  if (!loaded) return fail(loaded.error());
  auto launch = catalog::launch_of(prepared->kernel, prepared->problem, prepared->config);
  if (!launch) return fail(launch.error());
  auto accumulate = catalog::accumulate_of(prepared->kernel, prepared->config);
  if (!accumulate) return fail(accumulate.error());
  auto known = checked(prepared->problem, named.special, *accumulate);
  if (!known) return fail(known.error());
  device::LaunchRequest request;
  request.loaded = *loaded;
  request.problem = prepared->problem;
  request.args = prepared->kernel.args;
  request.shape = launch->shape;
  request.dynamic_shared = launch->dynamic_shared;
  request.inputs = known->inputs;
  auto outcome = (*device)->run(request, {});
  if (!outcome) return fail(outcome.error());
  const auto output = outcome->output->data();
  auto verdict = check::judge(output, *known->reference);
  if (!verdict) return fail(verdict.error());
  return Ran{prepared->kernel,    prepared->problem, prepared->variant,
             std::move(*outcome), *verdict,          {output.begin(), output.end()}};
}

bool have_headers(const std::string& kernel) {
  return std::ranges::all_of(catalog_of("kernels").kernels, [&](const Kernel& one) {
    return one.id != kernel || std::ranges::all_of(one.headers, [](const std::string& name) {
             return cuda_api::locate_headers(name).has_value();
           });
  });
}

std::vector<DeviceSpec> device_specs() { return catalog::load_devices(kSource / "assets/devices").devices; }

DeviceSpec device_spec(const std::string& id) {
  for (const DeviceSpec& spec : device_specs())
    if (spec.id == id) return spec;
  ADD_FAILURE() << "no device " << id;
  return {};
}

Counted counted(const Ran& ran, const std::vector<std::string>& settings, int64_t times) {
  std::map<std::string, int64_t> knobs;
  for (const std::string& setting : settings) knobs.insert(*catalog::parse_setting(ran.kernel, setting));
  const Config config = *catalog::complete_config(ran.kernel, knobs, {});
  const catalog::Launch launch = *catalog::launch_of(ran.kernel, ran.problem, config);
  const auto& emulated = *ran.outcome.emulated;
  Counted out{ran.problem, ran.variant->info, launch.shape, *ran.outcome.counters,
              device::schedule_of(*emulated.program, emulated.result, ran.problem, launch.shape.grid)};
  out.info.dynamic_shared_bytes = launch.dynamic_shared;
  out.problem.batch *= times;
  out.launch.grid[2] *= times;
  out.counters.total_ctas *= times;
  return out;
}

model::Modelled modelled(const Counted& of, const DeviceSpec& spec) {
  const Occupancy occupancy = model::occupancy(spec, of.info, of.launch);
  return model::latency({spec, of.problem, of.info, of.launch, occupancy, of.counters, &of.schedule});
}

}  // namespace attnscope::kernel_tests
