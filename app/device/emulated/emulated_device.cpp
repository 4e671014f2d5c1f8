#include "device/emulated/emulated_device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "compile/sass.h"
#include "device/live_copy.h"
#include "device/model_input.h"
#include "device/parameters.h"
#include "emulator/isa/program.h"
#include "emulator/watch/touch_log.h"
#include "platform/memory.h"

namespace attnscope::device {
namespace {

class Decoded final : public Loaded {
 public:
  explicit Decoded(std::shared_ptr<const emulator::Program> ready) : program(std::move(ready)) {}
  std::shared_ptr<const emulator::Program> program;
};

// Warp instructions (RunOptions::work_budget) per millisecond: a slow core runs 75 M a second, so two such cores take 1
// s of a budget of 2 s.
constexpr uint64_t kWorkPerMs = 75'000;
constexpr int64_t kLeastBudgetMs = 2000;

// Empty: all CTAs.
std::vector<uint32_t> sample_of(int64_t total, double share) {
  const auto wanted = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(total) * share)));
  const int64_t count = share < 1 ? std::min<int64_t>(wanted, emulator::RunOptions::kMostSampled) : wanted;
  if (count >= total) return {};
  auto ctas = emulator::spread_ctas(static_cast<uint32_t>(total), static_cast<uint32_t>(count));
  ctas.back() = static_cast<uint32_t>(total - 1);  // what reads past the end is most often the last
  return ctas;
}

std::vector<uint32_t> with_the_rest(std::vector<uint32_t> ctas, int64_t total) {
  const std::set<uint32_t> first(ctas.begin(), ctas.end());
  for (uint32_t cta = 0; cta < static_cast<uint32_t>(total); ++cta)
    if (!first.contains(cta)) ctas.push_back(cta);
  return ctas;
}

std::span<std::byte> writable(std::span<const std::byte> bytes) {
  // The emulator refuses stores to buffers that are not declared writable before they touch the host memory.
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// The buffers that a kernel may write, each between canaries.
struct Written {
  std::vector<std::shared_ptr<check::GuardedBuffer>> all, outputs;
};

// The operands of a run in the emulator's memory.
struct Placed {
  emulator::GlobalMemory memory;
  Written written;
  std::vector<std::shared_ptr<check::GuardedBuffer>> buffers;  // by operand; null for an input
  // By operand, for those without contents; otherwise empty.
  std::vector<std::vector<bool>> bytes_written;
  std::vector<uint64_t> addresses;  // by operand
};

// Copies the buffers that may be written. `tracks`: records what launches write, for later launches.
void place(const check::Operands& operands, bool tracks, Placed& placed) {
  placed.bytes_written.resize(operands.all.size());
  for (size_t i = 0; i < operands.all.size(); ++i) {
    const check::OperandContents& one = operands.all[i];
    if (one.what.role == BufferRole::in) {
      placed.addresses.push_back(placed.memory.add(one.what.name, writable(one.bytes), false));
      placed.buffers.push_back(nullptr);
      continue;
    }
    auto buffer = std::make_shared<check::GuardedBuffer>(one.what.name, one.bytes.size());
    if (!one.bytes.empty()) std::memcpy(buffer->data().data(), one.bytes.data(), one.bytes.size());
    const bool follows = tracks && !one.what.has_contents();
    if (follows) placed.bytes_written[i].resize(one.bytes.size());
    placed.addresses.push_back(placed.memory.add(one.what.name, buffer->data(), true, one.what.has_contents(),
                                                 follows ? &placed.bytes_written[i] : nullptr));
    if (one.what.judged()) placed.written.outputs.push_back(buffer);
    placed.written.all.push_back(buffer);
    placed.buffers.push_back(std::move(buffer));
  }
}

// Performs a memset or a copy.
void perform(const LaunchStep& step, const check::Operands& operands, Placed& placed) {
  const auto to = placed.buffers[step.to]->data();
  std::vector<bool>& known = placed.bytes_written[step.to];
  if (step.kind == ProgramStep::Kind::memset) {
    std::ranges::fill(to, static_cast<std::byte>(step.byte));
    known.assign(known.size(), true);
    return;
  }
  const auto& source = placed.buffers[step.from];
  std::ranges::copy(source ? std::span<const std::byte>(source->data()) : operands.all[step.from].bytes, to.begin());
  if (!known.empty() && !placed.bytes_written[step.from].empty())
    known = placed.bytes_written[step.from];
  else
    known.assign(known.size(), true);
}

// Lines as a terminal would show them: the calls of one CTA after the other, joined where a call does not end its line.
Printed printed_of(const std::vector<emulator::PrintedCall>& calls, uint64_t more) {
  Printed printed;
  std::string line;
  const auto end_line = [&] {
    if (printed.lines.size() < Printed::kMostLines) printed.lines.push_back(line);
    line.clear();
  };
  for (const emulator::PrintedCall& call : calls) {
    if (printed.lines.size() >= Printed::kMostLines) ++more;
    for (const char c : call.text)
      if (c == '\n')
        end_line();
      else if (line.size() < Printed::kMostBytes)
        line += c == '\t' || (c >= ' ' && c <= '~') ? c : '?';  // a kernel may print any byte
  }
  if (!line.empty()) end_line();
  printed.more = static_cast<int64_t>(more);
  return printed;
}

// A program's events: CTAs counted over all its launches, and one report of what all of them printed.
class ProgramEvents {
 public:
  ProgramEvents(const LaunchRequest& request, const LaunchEvents& events) : events_(events) {
    for (const LaunchStep& step : request.steps)
      if (step.kind == ProgramStep::Kind::launch) total_ += step.shape.ctas();
  }
  ~ProgramEvents() { end(); }
  ProgramEvents(const ProgramEvents&) = delete;
  ProgramEvents& operator=(const ProgramEvents&) = delete;

  // The events of the next launch.
  LaunchEvents next(const LaunchStep& step) {
    done_ = ahead_;
    ahead_ += step.shape.ctas();
    LaunchEvents of;
    of.cancel = events_.cancel;
    of.on_progress = [this](int64_t done, int64_t) {
      if (events_.on_progress) events_.on_progress(done_ + done, total_);
    };
    of.on_output = events_.on_output;
    of.on_printed = [this](const Printed& one) {
      for (const std::string& line : one.lines)
        if (printed_.lines.size() < Printed::kMostLines)
          printed_.lines.push_back(line);
        else
          ++printed_.more;
      printed_.more += one.more;
    };
    return of;
  }
  void end() {
    if (printed_ != Printed{} && events_.on_printed) events_.on_printed(printed_);
    printed_ = {};
  }

 private:
  const LaunchEvents& events_;
  Printed printed_;
  int64_t total_ = 0, done_ = 0, ahead_ = 0;  // CTAs
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(DeviceSpec spec, std::filesystem::path cache) : spec_(std::move(spec)), cache_(std::move(cache)) {}
  const DeviceSpec& spec() const override { return spec_; }
  Result<std::shared_ptr<const Loaded>> load(const compile::Variant& variant) override;
  Result<LaunchOutcome> run(const LaunchRequest& request, const LaunchEvents& events) override;

 private:
  DeviceSpec spec_;
  std::filesystem::path cache_;
};

Result<std::shared_ptr<const Loaded>> EmulatedDevice::load(const compile::Variant& variant) {
  auto sass = compile::disassemble(variant.cubin, variant.entry_symbol, {.nvdisasm = {}, .cache_dir = cache_});
  if (!sass) return fail(sass.error());
  auto program = emulator::prepare(*sass);
  if (!program) return fail(program.error());
  return std::make_shared<const Decoded>(*program);
}

// One launch of a run.
struct OneLaunch {
  const Decoded& decoded;
  std::string name;
  const model::LaunchShape& shape;
  int64_t dynamic_shared = 0;
  std::span<const ArgumentValue> arguments;
  const std::vector<SharedPlace>& shared_names;
  bool whole = false;  // all CTAs run, because later steps read what it writes
};

Result<emulator::Launch> launch_in(const OneLaunch& one, const Placed& placed) {
  auto parameters = pack_parameters(emulator::sass_of(*one.decoded.program).kernel, one.arguments, placed.addresses);
  if (!parameters) return fail(parameters.error());
  emulator::Launch launch;
  launch.program = one.decoded.program;
  for (size_t i = 0; i < 3; ++i) {
    launch.grid[i] = static_cast<uint32_t>(one.shape.grid[i]);
    launch.block[i] = static_cast<uint32_t>(one.shape.block[i]);
  }
  launch.dynamic_shared_bytes = static_cast<uint32_t>(one.dynamic_shared);
  launch.cooperative = one.shape.cooperative;
  launch.parameters = std::move(*parameters);
  launch.memory = &placed.memory;
  return launch;
}

Result<emulator::RunResult> execute(const OneLaunch& one, const LaunchRequest& request, const LaunchEvents& events,
                                    const Placed& placed) {
  const auto launch = launch_in(one, placed);
  if (!launch) return fail(launch.error());
  emulator::RunOptions options;
  // Checked before CTAs are chosen, because the grid may be too large for a list of its CTAs.
  if (auto possible = emulator::check_launch(*launch, options); !possible) return fail(possible.error());
  const int64_t total = one.shape.ctas();
  options.cancel = events.cancel;
  const Trial& trial = request.trial;
  const bool is_trial = !trial.ctas.empty();
  if (!one.whole) options.ctas = is_trial ? trial.ctas : sample_of(total, request.sampled_share);
  // Its CTAs wait for each other, so the others run too.
  if (one.shape.cooperative && !options.ctas.empty()) options.ctas = with_the_rest(std::move(options.ctas), total);
  if (!is_trial) options.trace_ctas = ctas_to_trace(request.problem, one.shape.grid, options.ctas);
  options.watch = trial.watch;
  options.probes = trial.probes;
  options.shared_names = one.shared_names;
  options.shared_fill = trial.shared_fill;
  options.random_fill = trial.random_fill;
  options.order_seed = trial.order_seed;
  if (!one.whole) {
    options.open_for_warps = trial.open_for_warps;
    options.open_for_lanes = trial.open_for_lanes;
  }
  if (trial.step_budget > 0) options.step_budget = trial.step_budget;
  if (options.ctas.empty() && !one.whole)
    options.work_budget = kWorkPerMs * static_cast<uint64_t>(std::max(kLeastBudgetMs, request.max_time_ms));
  options.progress = [&](const emulator::Progress& progress) {
    if (events.on_progress) events.on_progress(static_cast<int64_t>(progress.counters.ctas), progress.wanted_ctas);
    if (events.on_counters) events.on_counters(emulator::counters_of(progress.counters));
    if (events.on_output) events.on_output([&] { return live_copy(placed.written.outputs.front()->data()); });
  };
  options.printed = [&](const std::vector<emulator::PrintedCall>& calls, uint64_t more) {
    if (events.on_printed) events.on_printed(printed_of(calls, more));
  };
  auto result = emulator::run(*launch, options);
  // With a mask, the CTA that is too long to trace is the longest one, and the others do not represent it.
  if (result && result->traces.size() < options.trace_ctas.size()) result->traces.clear();
  return result;
}

Result<std::vector<LaunchOutcome::Step>> execute_all(const LaunchRequest& request,
                                                     std::span<const ArgumentValue> arguments,
                                                     const check::Operands& operands, const LaunchEvents& events,
                                                     Placed& placed) {
  std::vector<LaunchOutcome::Step> steps;
  const auto launch = [&](const OneLaunch& one, const LaunchEvents& told) -> Result<void> {
    auto result = execute(one, request, told, placed);
    if (!result) return fail(result.error());
    LaunchOutcome::Step& step = steps.emplace_back();
    step.counters = emulator::counters_of(result->counters);
    step.emulated = EmulatedDetail{one.decoded.program, std::move(*result)};
    return {};
  };
  if (request.steps.empty()) {
    const auto& decoded = dynamic_cast<const Decoded&>(*request.loaded);
    auto done = launch(
        {decoded, request.name, request.shape, request.dynamic_shared, arguments, request.trial.shared_names, false},
        events);
    return done ? Result<std::vector<LaunchOutcome::Step>>(std::move(steps)) : fail(done.error());
  }
  ProgramEvents told(request, events);
  const auto last =
      std::ranges::find(request.steps.rbegin(), request.steps.rend(), ProgramStep::Kind::launch, &LaunchStep::kind);
  for (const LaunchStep& step : request.steps) {
    if (step.kind != ProgramStep::Kind::launch) {
      perform(step, operands, placed);
      steps.emplace_back();
      continue;
    }
    const auto& decoded = dynamic_cast<const Decoded&>(*step.loaded);
    auto done = launch(
        {decoded, step.name, step.shape, step.dynamic_shared, step.arguments, step.shared_names, &step != &*last},
        told.next(step));
    if (!done) return fail_of(step.name, done.error());
  }
  told.end();
  return steps;
}

Result<LaunchOutcome> EmulatedDevice::run(const LaunchRequest& request, const LaunchEvents& events) {
  auto bound = bind(request);
  if (!bound) return fail(bound.error());
  const check::Operands& operands = *bound->operands;
  uint64_t copies = 0;
  const bool tracks = request.trial.watch && !request.steps.empty();
  for (const check::OperandContents& one : operands.all)
    if (one.what.role != BufferRole::in) copies += one.bytes.size() + (tracks ? one.bytes.size() / 8 : 0);
  if (auto held = platform::hold_memory(copies, request.name + ": what it may write"); !held) return fail(held.error());
  const std::vector<std::string> before = check::hash_read_only(operands);
  Placed placed;
  place(operands, tracks, placed);
  if (events.on_start) events.on_start();
  auto steps = execute_all(request, bound->arguments, operands, events, placed);
  if (!steps) return fail(steps.error());
  for (const auto& buffer : placed.written.all)
    if (auto intact = buffer->check_guards(); !intact) return fail(intact.error());
  if (auto same = check::check_read_only(operands, before, check::hash_read_only(operands)); !same)
    return fail(same.error());

  LaunchOutcome outcome;
  outcome.outputs.assign(placed.written.outputs.begin(), placed.written.outputs.end());
  outcome.output = outcome.outputs.front();
  for (const LaunchOutcome::Step& step : *steps) {
    if (!step.counters) continue;
    outcome.counters = step.counters;
    outcome.partial = step.counters->emulated_ctas < step.counters->total_ctas;
  }
  if (request.steps.empty())
    outcome.emulated = std::move(steps->front().emulated);
  else
    outcome.steps = std::move(*steps);
  return outcome;
}

}  // namespace

Result<Touches> touches_of(const LaunchRequest& request, uint64_t most_work, const std::atomic<bool>& cancel) {
  auto bound = bind(request);
  if (!bound) return fail(bound.error());
  uint64_t copies = 0;
  for (const check::OperandContents& one : bound->operands->all)
    // A copy, and two bytes for each byte of it: who stored it.
    if (one.what.role != BufferRole::in) copies += 4 * one.bytes.size();
  if (auto held = platform::hold_memory(copies, request.name + ": what it may write"); !held) return fail(held.error());
  Placed placed;
  place(*bound->operands, false, placed);
  const auto& decoded = dynamic_cast<const Decoded&>(*request.loaded);
  const auto launch = launch_in({decoded, request.name, request.shape, request.dynamic_shared, bound->arguments,
                                 request.trial.shared_names, true},
                                placed);
  if (!launch) return fail(launch.error());
  return emulator::touches_of(*launch, most_work, cancel);
}

std::unique_ptr<Device> make_emulated_device(DeviceSpec spec, std::filesystem::path decoded_cache) {
  return std::make_unique<EmulatedDevice>(std::move(spec), std::move(decoded_cache));
}

}  // namespace attnscope::device
