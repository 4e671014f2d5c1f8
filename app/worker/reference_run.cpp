#include "worker/reference_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/reference_kernel.h"
#include "check/known_reference.h"
#include "check/verdict.h"

namespace attnscope::worker {
namespace {

std::string name_of(const Kernel& kernel, const Config& config) {
  const std::string knobs = short_text(config, kernel);
  return kernel.id + (knobs.empty() ? "" : " " + knobs);
}

// The reference's buffers: what both kernels have begins with the same contents.
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
  // Its contents lie in `made` and in `own`, which outlives the run.
  return std::shared_ptr<const check::Operands>(shared.get(), [shared, kept = *made](const check::Operands*) {});
}

// What the reference left in each output of `workload`; a Failure that says why that is no reference.
Result<std::vector<check::Expected>> expected_outputs(const Workload& workload, const Workload& theirs,
                                                      const KernelAsReference& reference,
                                                      const device::LaunchOutcome& outcome) {
  if (outcome.partial) return fail(Stage::check, "only a sample of its CTAs ran", "");
  std::vector<check::Expected> all;
  for (const Operand& wanted : workload.operands) {
    if (!wanted.judged()) continue;
    size_t at = 0;
    const Operand* found = nullptr;
    for (const Operand& one : theirs.operands) {
      if (!one.judged()) continue;
      if (one.name == wanted.name) {
        found = &one;
        break;
      }
      ++at;
    }
    if (found == nullptr || at >= outcome.outputs.size())
      return fail(Stage::internal, "there is no output " + wanted.name, "Report this with the kernel.");
    const auto bytes = outcome.outputs[at]->data();
    check::Expected& one = all.emplace_back();
    one.output = wanted.name;
    one.atol = reference.atol.value_or(2 * check::default_tolerance(wanted.type));
    one.rtol = reference.rtol.value_or(2 * check::default_tolerance(wanted.type));
    for (int64_t i = 0; i < found->elements(); ++i) {
      if (found->role == BufferRole::out && is_floating(found->type) && check::is_poison(found->type, bytes.data(), i))
        return fail(Stage::check, fmt::format("it never wrote element {} of {}", i, wanted.name), "");
      one.values.push_back(check::load_value(found->type, bytes.data(), i));
    }
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
  const std::string name = name_of(*reference.kernel, *config);
  const auto because = [&](const std::string& why) {
    return check::unchecked(fmt::format("The reference, the kernel {}, is no measure: {}", name, why));
  };
  const Problem& problem = request.experiment.problem;
  auto theirs = catalog::reference_workload(request.kernel, workload, problem);
  if (!theirs) return fail(theirs.error());
  auto inputs = shared_inputs(*theirs, problem, operands);
  if (!inputs) return because(inputs.error().message);
  Request other;
  other.kernel = *reference.kernel;
  other.experiment = request.experiment;
  other.experiment.kernel = other.kernel.id;
  other.experiment.kernel_hash = other.kernel.content_hash;
  other.experiment.config = *config;
  other.experiment.measure.sampled_share = 1;
  other.cancel = request.cancel;
  auto ran = run_over(services, other, std::move(*inputs), sink);
  if (!ran) {
    if (ran.error().stage == Stage::cancelled) return fail(ran.error());
    if (services.lost())
      return fail(ran.error().stage, fmt::format("the reference, the kernel {}: {}", name, ran.error().message),
                  ran.error().hint);
    return because(ran.error().message);
  }
  if (!ran->fault.empty()) return because(ran->fault);
  auto expected = expected_outputs(workload, *theirs, reference, ran->outcome);
  if (!expected) return because(expected.error().message);
  auto verdict = check::judge_by(*expected, workload, operands, outcome.outputs);
  if (!verdict) return verdict;
  verdict->against = name;
  if (verdict->state == VerdictState::correct)
    verdict->reason = fmt::format("agreement with the kernel {}, which is not known to be right", name);
  return verdict;
}

}  // namespace attnscope::worker
