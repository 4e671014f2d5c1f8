// Kernels as people write them for nvcc, through the reader of `attnscope import`, compiler and emulator, compared with
// results that are computed independently. NAME.patch.json is what a person adds to the manifest that import writes:
// sizes, roles, shapes, initial contents and, where one of ours fits, the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <set>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "catalog/import.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "check/known_reference.h"
#include "core/json.h"
#include "device/emulated/emulated_device.h"
#include "emulator/emulator.h"
#include "emulator/isa/forms.h"
#include "plain_kernels.h"
#include "platform/atomic_file.h"
#include "support/test_cache.h"

namespace attnscope::kernel_tests {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/kernels/plain";
const fs::path kPlainCache = test_cache();

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".cu") all.push_back(entry.path().stem().string());
  std::ranges::sort(all);
  return all;
}

// A manifest lists its buffers; a patch names them.
Json patched(const std::string& manifest, Json patch) {
  Json json = *parse_json(manifest, "manifest");
  for (Json& buffer : json["buffers"])
    if (patch.contains("buffers") && patch["buffers"].contains(buffer["name"].get<std::string>()))
      buffer.merge_patch(patch["buffers"][buffer["name"].get<std::string>()]);
  patch.erase("buffers");
  const Json sizes = patch.value("sizes", Json());
  patch.erase("sizes");
  if (!sizes.is_null()) json["sizes"] = sizes;
  json.merge_patch(patch);
  return json;
}

Result<Kernel> imported(const std::string& name) {
  auto source = platform::read_file(kFolder / (name + ".cu"), 1 << 20);
  auto patch_text = platform::read_file(kFolder / (name + ".patch.json"), 1 << 20);
  if (!source || !patch_text) return fail(Stage::input, name + ": a file is missing");
  auto patch = parse_json(*patch_text, name + ".patch.json");
  if (!patch) return fail(patch.error());
  const std::string entry = patch->value("entry", "");
  auto made = catalog::import_kernel(name + ".cu", *source, entry);
  if (!made) return fail(made.error());
  if (!entry.empty()) patch->erase("entry");
  return catalog::parse_kernel({name + ".json", patched(made->manifest, *patch).dump(), name + ".cu", *source});
}

device::Device* device_of(int arch) {
  static std::map<int, std::unique_ptr<device::Device>> made;
  const std::map<int, const char*> files{{80, "a100"}, {89, "l4"}, {90, "h200"}};
  auto& one = made[arch];
  if (!one)
    one = device::make_emulated_device(*catalog::load_device(fs::path(ATTNSCOPE_SOURCE_DIR) / "assets/devices" /
                                                             (std::string(files.at(arch)) + ".json")),
                                       kPlainCache / "programs");
  return one.get();
}

struct PlainRun {
  Workload workload;
  std::shared_ptr<const check::Operands> operands;
  device::LaunchOutcome outcome;
};

Result<PlainRun> run_plain(const Kernel& kernel, int arch) {
  static compile::Compiler compiler({.cache_dir = kPlainCache / "variants"});
  const Problem problem = kernel.default_problem();
  auto config = catalog::complete_config(kernel, {}, kernel.options);
  if (!config) return fail(config.error());
  compile::CompileRequest asked;
  asked.source = kernel.source;
  asked.file_name = kernel.source_name;
  asked.entry = kernel.entry;
  asked.macros = catalog::macros(kernel, problem, *config);
  asked.dtype = catalog::dtype_macro(problem);
  asked.options = kernel.options;
  asked.arch = arch;
  auto variant = compiler.compile(asked);
  if (!variant) return fail(variant.error());
  auto loaded = device_of(arch)->load(**variant);
  if (!loaded) return fail(loaded.error());
  auto launch = catalog::launch_of(kernel, problem, *config);
  if (!launch) return fail(launch.error());
  auto workload = catalog::workload_of(kernel, problem, *config);
  if (!workload) return fail(workload.error());
  auto operands = check::make_operands(*workload, problem);
  if (!operands) return fail(operands.error());
  device::LaunchRequest request;
  request.name = kernel.id;
  request.loaded = *loaded;
  request.problem = problem;
  request.operands = *operands;
  request.arguments = workload->arguments;
  request.shape = launch->shape;
  request.dynamic_shared = launch->dynamic_shared;
  auto outcome = device_of(arch)->run(request, {});
  if (!outcome) return fail(outcome.error());
  return PlainRun{std::move(*workload), std::move(*operands), std::move(*outcome)};
}

std::vector<double> values_of(const Operand& what, std::span<const std::byte> bytes) {
  std::vector<double> values;
  for (int64_t i = 0; i < what.elements(); ++i) values.push_back(check::load_value(what.type, bytes.data(), i));
  return values;
}

const Independent* independent_of(const std::string& name) {
  for (const auto* list : {&results_of_algorithms(), &results_of_features()})
    if (const auto found = list->find(name); found != list->end()) return &found->second;
  return nullptr;
}

// The first wrong element; empty: all are right.
std::string against_independent(const PlainRun& run, const Independent& independent, const Problem& problem) {
  Buffers before;
  for (const check::OperandContents& one : run.operands->all) before[one.what.name] = values_of(one.what, one.bytes);
  const Buffers expected = independent.expected(before, problem.sizes);
  size_t output = 0;
  for (const Operand& operand : run.workload.operands) {
    if (!operand.judged()) continue;
    const auto got = values_of(operand, run.outcome.outputs[output++]->data());
    if (!expected.contains(operand.name)) return operand.name + " is written and not expected";
    const std::vector<double>& want = expected.at(operand.name);
    if (got.size() != want.size()) return operand.name + " has another length";
    for (size_t i = 0; i < got.size(); ++i)
      if (!(std::abs(got[i] - want[i]) <= independent.tolerance * (1 + std::abs(want[i]))))
        return fmt::format("{}[{}]: {} instead of {}", operand.name, i, got[i], want[i]);
  }
  return "";
}

// What is wrong with the kernel as code of `arch`; empty if it runs and its results are right. Adds the opcode forms of
// its code to `forms`.
std::string complaint(const std::string& name, int arch, std::set<std::string>& forms) {
  const auto kernel = imported(name);
  if (!kernel) return kernel.error().message + "\n" + kernel.error().hint;
  const auto run = run_plain(*kernel, arch);
  if (!run) return run.error().message + "\n" + run.error().hint;
  for (const auto& instruction : emulator::sass_of(*run->outcome.emulated->program).instructions)
    forms.insert(emulator::form_of(instruction));
  if (const Independent* independent = independent_of(name))
    return against_independent(*run, *independent, kernel->default_problem());
  const auto verdict = check::judge(run->workload, *run->operands, run->outcome.outputs, false);
  if (!verdict) return verdict.error().message;
  return verdict->state == VerdictState::correct ? "" : std::string(to_string(verdict->state)) + ": " + verdict->reason;
}

class PlainKernels : public testing::TestWithParam<int> {};

TEST_P(PlainKernels, ImportRunAndAreRight) {
  size_t tried = 0, right = 0;
  std::set<std::string> forms;
  const std::vector<std::string> all = names();
  for (size_t i = 0; i < all.size(); i += ATTNSCOPE_CASE_STRIDE) {
    ++tried;
    const std::string wrong = complaint(all[i], GetParam(), forms);
    EXPECT_EQ(wrong, "") << all[i];
    right += wrong.empty();
  }
  std::cout << right << " of " << tried << " kernels run on sm_" << GetParam() << " and are right\n";
  EXPECT_GE(right * ATTNSCOPE_CASE_STRIDE, 40u);
  std::map<emulator::Basis, size_t> basis;
  for (const std::string& form : forms) {
    ASSERT_NE(emulator::find_form(form), nullptr) << form;
    ++basis[emulator::basis_of(form)];
  }
  std::cout << forms.size() << " opcode forms in them: " << basis[emulator::Basis::recorded] << " recorded, "
            << basis[emulator::Basis::kin] << " recorded for sources of another kind, "
            << basis[emulator::Basis::definition] << " by definition and output\n";
}

INSTANTIATE_TEST_SUITE_P(On, PlainKernels, testing::Values(80, 89, 90),
                         [](const auto& one) { return "sm" + std::to_string(one.param); });

TEST(Plain, EachKernelHasAResultToMeet) {
  for (const std::string& name : names()) {
    const auto kernel = imported(name);
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_TRUE((independent_of(name) != nullptr) != !kernel->references.empty()) << name;
  }
}

// A checker that cannot fail proves nothing: it must refuse one wrong element in each kind of output.
TEST(Plain, AWrongElementIsSeen) {
  const auto kernel = imported("saxpy");
  ASSERT_TRUE(kernel);
  auto run = run_plain(*kernel, 90);
  ASSERT_TRUE(run) << run.error().message;
  auto changed = std::make_shared<check::GuardedBuffer>("y", run->outcome.output->data().size());
  std::ranges::copy(run->outcome.output->data(), changed->data().begin());
  check::store_value(ElementType::f32, changed->data().data(), 2000, 1e6);
  const std::vector<std::shared_ptr<const check::GuardedBuffer>> outputs{changed};
  const auto verdict = check::judge(run->workload, *run->operands, outputs, false);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->state, VerdictState::wrong);
  EXPECT_NE(verdict->reason.find("y[2000]"), std::string::npos) << verdict->reason;
}

}  // namespace
}  // namespace attnscope::kernel_tests
