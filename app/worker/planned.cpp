#include "worker/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/hash.h"
#include "explain/explain.h"
#include "worker/watch_run.h"

namespace attnscope::worker {

std::string launch_words(const Kernel& launch) {
  return fmt::format("launch {}, {}", launch.step.value_or(0) + 1, launch.entry);
}

std::vector<LaunchFigures> steps_of(const Kernel& program) {
  std::vector<LaunchFigures> steps;
  for (const ProgramStep& one : program.steps) {
    LaunchFigures& step = steps.emplace_back();
    switch (one.kind) {
      case ProgramStep::Kind::launch:
        step.name = one.entry;
        break;
      case ProgramStep::Kind::memset:
        step.name = "memset " + program.buffers[one.to].name;
        break;
      case ProgramStep::Kind::copy:
        step.name = "copy " + program.buffers[one.from].name + " to " + program.buffers[one.to].name;
        break;
    }
  }
  return steps;
}

std::vector<device::LaunchStep> device_steps(const Kernel& program, const std::vector<PlannedLaunch>& launches,
                                             const std::vector<std::shared_ptr<const device::Loaded>>& loaded) {
  std::vector<device::LaunchStep> steps;
  size_t next = 0;
  for (const ProgramStep& from : program.steps) {
    device::LaunchStep& step = steps.emplace_back();
    step.kind = from.kind;
    step.to = from.to;
    step.from = from.from;
    step.byte = from.byte;
    if (from.kind != ProgramStep::Kind::launch) continue;
    const PlannedLaunch& launch = launches[next];
    step.name = launch.name;
    step.loaded = loaded[next++];
    step.shape = launch.launch.shape;
    step.dynamic_shared = launch.launch.dynamic_shared;
    step.arguments = launch.arguments;
    step.shared_names = shared_names(*launch.variant, launch.launch.dynamic_parts);
  }
  return steps;
}

Headliner headliner(const std::vector<LaunchFigures>& steps) {
  Headliner made;
  const auto longest = longest_launch(steps);
  if (!longest) return made;
  made.variant = steps[*longest].variant;
  made.occupancy = steps[*longest].occupancy;
  std::string codes;
  for (const LaunchFigures& step : steps)
    if (step.variant) codes += step.variant->code_hash + "\n";
  if (made.variant) made.variant->code_hash = xxh3_128(codes);
  return made;
}

std::vector<Finding> merged(const std::vector<PlannedLaunch>& launches, std::vector<std::vector<Finding>> findings) {
  if (launches.size() == 1 && !launches.front().kernel.step) return std::move(findings.front());
  std::vector<Finding> all;
  for (size_t i = 0; i < findings.size(); ++i) {
    for (Finding& one : findings[i]) {
      size_t alike = 0;
      for (const auto& other : findings) alike += static_cast<size_t>(std::ranges::count(other, one));
      const bool of_all = findings.size() > 1 && alike == findings.size();
      // A knob that only one launch's grid uses does have an effect.
      if (one.rule == Rule(RuleId::knob_unused) && !of_all && findings.size() > 1) continue;
      if (of_all && i + 1 < findings.size()) continue;  // the finding of the last launch stands for all
      if (!of_all) {
        one.sentence = fmt::format("{} ({}): {}", launches[i].kernel.entry,
                                   fmt::format("launch {}", launches[i].kernel.step.value_or(0) + 1), one.sentence);
        one.where["launch"] = std::to_string(launches[i].kernel.step.value_or(0) + 1);
      }
      all.push_back(std::move(one));
    }
  }
  explain::rank(all);
  return all;
}

NamedBytes bytes_named(const Workload& workload, const std::vector<ArgumentValue>& arguments) {
  std::map<size_t, size_t> named;  // the smallest offset of each operand; bytes before it are not passed
  const auto name = [&](size_t operand, size_t offset) {
    const auto [one, fresh] = named.try_emplace(operand, offset);
    if (!fresh) one->second = std::min(one->second, offset);
  };
  for (const ArgumentValue& one : arguments) {
    if (one.operand) name(*one.operand, one.offset);
    for (const auto& address : one.addresses) name(address.operand, address.offset);
  }
  NamedBytes sum;
  for (const auto& [operand, offset] : named) {
    const Operand& one = workload.operands[operand];
    const double bytes = double(one.bytes() - offset);
    sum.all += bytes;
    if (one.role != BufferRole::out) sum.by_use.read += bytes;
    if (one.role != BufferRole::in) sum.by_use.written += bytes;
  }
  return sum;
}

}  // namespace attnscope::worker
