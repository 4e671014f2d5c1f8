#include "worker/reference_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/reference_kernel.h"
#include "check/known_reference.h"
#include "check/verdict.h"
#include "core/hash.h"
#include "platform/memory.h"
#include "worker/pipeline_stages.h"

namespace attnscope::worker {
namespace {

// The reference's buffers. Buffers that both kernels have start with the same contents.
Result<std::shared_ptr<const check::Operands>> shared_inputs(const Workload& of, const Problem& problem,
                                                             const check::Operands& own) {
  auto made = check::make_operands(of, problem);
  if (!made) return made;
  auto shared = std::make_shared<check::Operands>();
  shared->all = (*made)->all;
  for (check::OperandContents& one : shared->all) {
    const auto twin =
        std::ranges::find(own.all, one.what.name, [](const check::OperandContents& it) { return it.what.name; });
    if (twin != own.all.end() && one.what.has_contents() && twin->what.has_contents() &&
        twin->what.role != BufferRole::workspace && twin->bytes.size() == one.bytes.size())
      one.bytes = twin->bytes;
  }
  // The contents are in `made` and in `own`, both of which outlive the run.
  return std::shared_ptr<const check::Operands>(shared.get(), [shared, kept = *made](const check::Operands*) {});
}

// The key of a kept reference: everything that its outputs depend on.
std::string key_of(const Experiment& experiment, const check::Operands& inputs) {
  std::string key = hash_of(experiment);
  for (const check::OperandContents& one : inputs.all) key += " " + one.what.name + " " + xxh3_128(one.bytes);
  return xxh3_128(key);
}

// Runs the reference over those inputs, or returns the kept outputs of an identical run.
Result<OverBuffers> run_or_kept(Services& services, const Request& other,
                                const std::shared_ptr<const check::Operands>& inputs, Sink& sink) {
  const std::string key = key_of(other.experiment, *inputs);
  if (auto kept = services.reference.find(key)) return std::move(*kept);
  auto ran = run_over(services, other, inputs, sink);
  if (ran) services.reference.keep(key, *ran);
  return ran;
}

// Checks that the reference wrote all of an output. A value may equal the poison by chance: hardly ever in four bytes,
// often in one or two, so for those types only a tenth of the elements or more counts as unwritten.
Result<void> check_written(const Operand& output, std::span<const std::byte> bytes) {
  if (output.role != BufferRole::out) return {};
  int64_t poisoned = 0, first = 0;
  for (int64_t i = 0; i < output.elements(); ++i)
    if (check::is_poison(output.type, bytes.data(), i) && poisoned++ == 0) first = i;
  const bool narrow = !is_floating(output.type) && bytes_of(output.type) < 4;
  if (poisoned == 0 || (narrow && 10 * poisoned < output.elements())) return {};
  return fail(Stage::check, fmt::format("it never wrote element {} of {}", first, output.name), "");
}

// The reference's output for each output of `workload`, or a Failure that says why it cannot serve as a reference.
Result<std::vector<check::Expected>> expected_outputs(const Workload& workload, const Workload& theirs,
                                                      const KernelAsReference& reference,
                                                      const device::LaunchOutcome& outcome) {
  if (outcome.partial) return fail(Stage::check, "only a sample of its CTAs ran", "");
  std::vector<check::Expected> all;
  for (const Operand& wanted : workload.operands) {
    if (!wanted.judged()) continue;
    const auto at = check::output_named(theirs, wanted.name);
    if (!at || *at >= outcome.outputs.size())
      return fail(Stage::internal, "there is no output " + wanted.name, "Report this with the kernel.");
    const Operand& found = *std::ranges::find(theirs.operands, wanted.name, &Operand::name);
    const auto elements = static_cast<size_t>(found.elements());
    if (auto held = platform::hold_memory(sizeof(double) * elements, "the reference's " + wanted.name); !held)
      return fail(held.error());
    const auto bytes = outcome.outputs[*at]->data();
    if (auto written = check_written(found, bytes); !written) return fail(written.error());
    check::Expected& one = all.emplace_back();
    one.output = wanted.name;
    one.atol = reference.atol.value_or(2 * check::default_tolerance(wanted.type));
    one.rtol = reference.rtol.value_or(2 * check::default_tolerance(wanted.type));
    one.exact = bytes;
    one.values.reserve(elements);
    for (size_t i = 0; i < elements; ++i)
      one.values.push_back(check::load_value(found.type, bytes.data(), static_cast<int64_t>(i)));
  }
  return all;
}

}  // namespace

Result<Verdict> judge_by_kernel(Services& services, const Request& request, const Workload& workload,
                                const check::Operands& operands, const device::LaunchOutcome& outcome, Sink& sink) {
  const KernelAsReference& reference = *request.kernel.reference_kernel;
  if (outcome.partial) return check::unchecked("Only a sample of the CTAs ran.");
  auto config = catalog::config_of(reference);
  if (!config) return fail(config.error());
  Request other;
  other.kernel = *reference.kernel;
  other.experiment = request.experiment;
  other.experiment.kernel = other.kernel.id;
  other.experiment.kernel_hash = other.kernel.content_hash;
  other.experiment.config = *config;
  other.experiment.measure.sampled_share = 1;
  other.compile_ms = request.compile_ms;
  other.cancel = request.cancel;
  const std::string name = who(other);
  const auto because = [&](const std::string& why) {
    return check::unchecked(fmt::format("The kernel {} cannot serve as the reference: {}", name, why));
  };
  const Problem& problem = request.experiment.problem;
  auto theirs = catalog::reference_workload(request.kernel, workload, problem);
  if (!theirs) return fail(theirs.error());
  auto inputs = shared_inputs(*theirs, problem, operands);
  if (!inputs) return because(inputs.error().message);
  auto ran = run_or_kept(services, other, *inputs, sink);
  if (!ran) {
    if (ran.error().stage == Stage::cancelled) return fail(ran.error());
    if (services.lost())
      return fail(ran.error().stage, fmt::format("the reference, the kernel {}: {}", name, ran.error().message),
                  ran.error().hint);
    return because(ran.error().message);
  }
  if (!ran->fault.empty()) return because(ran->fault);
  const auto own = check::judge(*theirs, **inputs, ran->outcome.outputs, ran->outcome.partial);
  if (!own) return fail(own.error());
  if (own->state == VerdictState::wrong) return because("its own reference finds it wrong: " + own->reason);
  auto expected = expected_outputs(workload, *theirs, reference, ran->outcome);
  if (!expected) return because(expected.error().message);
  auto verdict = check::judge_by(*expected, workload, operands, outcome.outputs);
  if (!verdict) return verdict;
  verdict->against = name;
  if (verdict->state == VerdictState::correct)
    verdict->reason =
        fmt::format("agreement with the kernel {}, which is {}", name,
                    own->state == VerdictState::correct ? "right by its own reference" : "not known to be right");
  return verdict;
}

}  // namespace attnscope::worker
