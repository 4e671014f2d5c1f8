#include "device/emulated/emulated_device.h"

#include <algorithm>
#include <cmath>

#include "compile/sass.h"
#include "device/live_copy.h"
#include "device/model_input.h"
#include "device/parameters.h"
#include "emulator/isa/program.h"
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

// Empty: all of them.
std::vector<uint32_t> sample_of(int64_t total, double share) {
  const auto wanted = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(total) * share)));
  const int64_t count = share < 1 ? std::min<int64_t>(wanted, emulator::RunOptions::kMostSampled) : wanted;
  if (count >= total) return {};
  return emulator::spread_ctas(static_cast<uint32_t>(total), static_cast<uint32_t>(count));
}

std::span<std::byte> writable(std::span<const std::byte> bytes) {
  // The emulator refuses every store to a buffer that is not declared writable before it touches the host memory.
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// The buffers that a kernel may write, each between canaries.
struct Written {
  std::vector<std::shared_ptr<check::GuardedBuffer>> all, outputs;
};

// The operands' addresses, in order. Buffers that may be written are copied.
std::vector<uint64_t> place(const check::Operands& operands, emulator::GlobalMemory& memory, Written& written) {
  std::vector<uint64_t> addresses;
  for (const check::OperandContents& one : operands.all) {
    if (one.what.role == BufferRole::in) {
      addresses.push_back(memory.add(one.what.name, writable(one.bytes), false));
      continue;
    }
    auto buffer = std::make_shared<check::GuardedBuffer>(one.what.name, one.bytes.size());
    std::ranges::copy(one.bytes, buffer->data().begin());
    addresses.push_back(memory.add(one.what.name, buffer->data(), true, one.what.role != BufferRole::out));
    if (one.what.judged()) written.outputs.push_back(buffer);
    written.all.push_back(std::move(buffer));
  }
  return addresses;
}

// Lines as a terminal would show them: the calls of one CTA after the other, whatever each call ends with.
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

Result<LaunchOutcome> EmulatedDevice::run(const LaunchRequest& request, const LaunchEvents& events) {
  const auto& decoded = dynamic_cast<const Decoded&>(*request.loaded);
  const Problem& problem = request.problem;
  auto bound = bind(request);
  if (!bound) return fail(bound.error());
  const check::Operands& operands = *bound->operands;
  uint64_t copies = 0;
  for (const check::OperandContents& one : operands.all)
    if (one.what.role != BufferRole::in) copies += one.bytes.size();
  if (auto held = platform::hold_memory(copies, request.name + ": what it may write"); !held) return fail(held.error());
  const std::vector<std::string> before = check::hash_read_only(operands);
  emulator::GlobalMemory memory;
  Written written;
  const std::vector<uint64_t> addresses = place(operands, memory, written);
  auto parameters = pack_parameters(emulator::sass_of(*decoded.program).kernel, bound->arguments, addresses);
  if (!parameters) return fail(parameters.error());

  emulator::Launch launch;
  launch.program = decoded.program;
  for (size_t i = 0; i < 3; ++i) {
    launch.grid[i] = static_cast<uint32_t>(request.shape.grid[i]);
    launch.block[i] = static_cast<uint32_t>(request.shape.block[i]);
  }
  launch.dynamic_shared_bytes = static_cast<uint32_t>(request.dynamic_shared);
  launch.parameters = std::move(*parameters);
  launch.memory = &memory;

  emulator::RunOptions options;
  // Checked before CTAs are chosen: the grid may be too large for a list of its CTAs.
  if (auto possible = emulator::check_launch(launch, options); !possible) return fail(possible.error());
  const int64_t total = request.shape.ctas();
  options.cancel = events.cancel;
  const Trial& trial = request.trial;
  options.ctas = trial.ctas.empty() ? sample_of(total, request.sampled_share) : trial.ctas;
  if (trial.ctas.empty()) options.trace_ctas = ctas_to_trace(problem, request.shape.grid, options.ctas);
  options.watch = trial.watch;
  options.shared_names = trial.shared_names;
  options.shared_fill = trial.shared_fill;
  options.random_fill = trial.random_fill;
  options.order_seed = trial.order_seed;
  if (options.ctas.empty())
    options.work_budget = kWorkPerMs * static_cast<uint64_t>(std::max(kLeastBudgetMs, request.max_time_ms));
  options.progress = [&](const emulator::Progress& progress) {
    if (events.on_progress) events.on_progress(static_cast<int64_t>(progress.counters.ctas), progress.wanted_ctas);
    if (events.on_counters) events.on_counters(emulator::counters_of(progress.counters));
    if (events.on_output) events.on_output([&] { return live_copy(written.outputs.front()->data()); });
  };
  options.printed = [&](const std::vector<emulator::PrintedCall>& calls, uint64_t more) {
    if (events.on_printed) events.on_printed(printed_of(calls, more));
  };
  if (events.on_start) events.on_start();
  auto result = emulator::run(launch, options);
  if (!result) return fail(result.error());
  // With a mask, the longest CTA is the one too long to trace, and the others do not represent it.
  if (result->traces.size() < options.trace_ctas.size()) result->traces.clear();
  for (const auto& buffer : written.all)
    if (auto intact = buffer->check_guards(); !intact) return fail(intact.error());
  if (auto same = check::check_read_only(operands, before, check::hash_read_only(operands)); !same)
    return fail(same.error());

  LaunchOutcome outcome;
  outcome.outputs.assign(written.outputs.begin(), written.outputs.end());
  outcome.output = outcome.outputs.front();
  outcome.counters = emulator::counters_of(result->counters);
  outcome.partial = result->counters.ctas < result->counters.total_ctas;
  outcome.emulated = EmulatedDetail{decoded.program, std::move(*result)};
  return outcome;
}

}  // namespace

std::unique_ptr<Device> make_emulated_device(DeviceSpec spec, std::filesystem::path decoded_cache) {
  return std::make_unique<EmulatedDevice>(std::move(spec), std::move(decoded_cache));
}

}  // namespace attnscope::device
