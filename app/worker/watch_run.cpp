#include "worker/watch_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "check/verdict.h"

namespace attnscope::worker {
namespace {

using emulator::WatchFinding;
using emulator::WatchKind;

// NaN whether read as two fp16 or one fp32.
constexpr uint32_t kNanFill = 0x7fff7fff;

// The lanes of a warp do stay together in this machine code, so the output may be right; but nothing guarantees it.
Severity severity_of(WatchKind kind) { return emulator::is_warp_race(kind) ? Severity::warning : Severity::error; }

// `line`: "02_tiled.cu:174".
void place(Finding& finding, const std::string& line, const char* file_key, const char* line_key) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return;
  finding.where[file_key] = line.substr(0, colon);
  finding.where[line_key] = line.substr(colon + 1, line.find_first_not_of("0123456789", colon + 1) - colon - 1);
}

Finding finding_of(const WatchFinding& from, const model::LaunchShape& shape) {
  Finding finding;
  finding.rule = emulator::rule_of(from.kind);
  finding.severity = severity_of(from.kind);
  finding.sentence = from.message;
  finding.evidence.push_back({"times seen", static_cast<double>(from.count), "", FigureKind::counted});
  place(finding, from.line, "file", "line");
  if (from.other != from.op) place(finding, from.other_line, "other_file", "other_line");
  if (!from.buffer.empty()) {
    finding.where["buffer"] = from.buffer;
    finding.where["element"] = fmt::format("byte {}", from.buffer_byte);
  }
  const auto x = static_cast<uint32_t>(shape.grid[0]), y = static_cast<uint32_t>(shape.grid[1]);
  const auto cta = [&](uint32_t i) { return fmt::format("{}, {}, {}", i % x, i / x % y, i / x / y); };
  finding.where["cta"] = cta(from.cta);
  if (from.other_cta != from.cta) finding.where["other_cta"] = cta(from.other_cta);
  finding.where["threads"] = from.thread == from.other_thread ? fmt::format("{}", from.thread)
                                                              : fmt::format("{}, {}", from.other_thread, from.thread);
  return finding;
}

class Watcher {
 public:
  explicit Watcher(const WatchRun& run) : run_(run), ctas_(ctas_to_watch(run.launch.shape)) {
    int64_t all = 0;
    for (const device::LaunchStep& step : run.launch.steps)
      if (step.kind == ProgramStep::Kind::launch) all += step.shape.ctas();
    if (all > 0) before_ = all - run.launch.shape.ctas();
    total_ = (static_cast<int64_t>(ctas_.size()) + before_) * (1 + kFills + kOrders);
  }

  // True if every CTA is requested and the sample leaves some out.
  bool all_ctas() const { return run_.whole_grid && run_.launch.shape.ctas() > static_cast<int64_t>(ctas_.size()); }

  Result<WatchReport> all() {
    device::Trial watched;
    watched.watch = true;
    watched.shared_names = run_.launch.trial.shared_names;
    report_.total_ctas = before_ + run_.launch.shape.ctas();
    report_.ctas = all_ctas() ? report_.total_ctas : before_ + static_cast<int64_t>(ctas_.size());
    if (report_.ctas > kMostCtas)
      return fail(Stage::input,
                  fmt::format("{}: a grid of {} CTAs is too large to watch whole", run_.launch.name, report_.ctas),
                  fmt::format("At most {} CTAs: choose smaller sizes, or --watch=sample.", kMostCtas));
    if (all_ctas()) {
      total_ += report_.ctas;
      watched.ctas.resize(static_cast<size_t>(run_.launch.shape.ctas()));
      std::iota(watched.ctas.begin(), watched.ctas.end(), 0u);
    }
    auto base = attempt(watched);
    if (!base) return fail(base.error());
    base_ = base->outputs;
    // The runs below execute only the sample and leave the other outputs unwritten.
    if (all_ctas()) {
      auto sample = attempt({});
      if (!sample) return fail(sample.error());
      base_ = sample->outputs;
    }
    report_.fills = kFills;
    report_.orders = kOrders;
    if (base->emulated) tell(base->emulated->result.findings, run_.launch.shape);
    if (base->emulated) tell_unwritten(base->emulated->result.unwritten);
    if (base->emulated)
      for (const WatchFinding& from : base->emulated->result.suspected)
        suspected_.push_back(finding_of(from, run_.launch.shape));
    for (size_t i = 0; i < base->steps.size(); ++i)
      if (base->steps[i].emulated) tell(base->steps[i].emulated->result.findings, run_.launch.steps[i].shape, i);
    if (auto done = fills(); !done) return fail(done.error());
    if (auto done = orders(); !done) return fail(done.error());
    return report_;
  }

 private:
  // How other contents or another order changed the output.
  struct Change {
    std::string how;       // "with shared memory full of NaN"
    std::string why;       // what is wrong with the output, or how much of it differs
    bool verdict = false;  // the verdict changed, or the run failed
    int64_t element = -1;  // the first element of `buffer` whose bits differ
    std::string buffer = {};
  };

  Result<void> fills();
  Result<void> orders();
  // `step`: for a program, the launch's step number.
  void tell(const std::vector<WatchFinding>& findings, const model::LaunchShape& shape,
            std::optional<size_t> step = {});
  void tell_unwritten(const std::vector<emulator::UnwrittenBuffer>& buffers);
  Result<device::LaunchOutcome> attempt(device::Trial trial);
  // Empty if the output has the same bits. Failure: cancelled.
  Result<std::optional<Change>> change_by(device::Trial trial, std::string how);
  Result<Change> judged(size_t output, std::span<const std::byte> bytes, std::string how);
  size_t element_bytes(const std::string& buffer) const;
  void excuse_unused_reads();
  void blame_suspected();
  void tell(RuleId rule, const std::vector<Change>& changes, int64_t tried, const char* what);

  const WatchRun& run_;
  std::vector<uint32_t> ctas_;
  int64_t before_ = 0;  // CTAs of the launches before a program's last; every run executes all of them
  int64_t done_ = 0, total_ = 0;
  std::vector<std::shared_ptr<const check::GuardedBuffer>> base_;  // the outputs of the unchanged run
  std::optional<Verdict> base_verdict_;
  WatchReport report_;
  std::vector<Finding> suspected_;
  // The first CTA of each of the watched run's findings; empty: every run executes it.
  std::vector<std::optional<uint32_t>> first_ctas_;
};

void Watcher::tell(const std::vector<WatchFinding>& findings, const model::LaunchShape& shape,
                   std::optional<size_t> step) {
  bool is_last = true;
  for (size_t i = step.value_or(0) + 1; step && i < run_.launch.steps.size(); ++i)
    is_last = is_last && run_.launch.steps[i].kind != ProgramStep::Kind::launch;
  for (const WatchFinding& from : findings) {
    Finding& finding = report_.findings.emplace_back(finding_of(from, shape));
    if (step) finding.where["launch"] = std::to_string(*step + 1);
    first_ctas_.push_back(is_last ? std::optional(from.cta) : std::nullopt);
  }
}

// A warning only, because a kernel may leave part of its output to another kernel. Buffers of guessed length are
// skipped. An unwritten second half is only a note, because host code often allocates as much for the output as for the
// input.
void Watcher::tell_unwritten(const std::vector<emulator::UnwrittenBuffer>& buffers) {
  for (const emulator::UnwrittenBuffer& one : buffers) {
    Severity severity = Severity::warning;
    if (run_.launch.operands) {
      const auto& all = run_.launch.operands->all;
      const auto found =
          std::ranges::find(all, one.buffer, [](const check::OperandContents& it) { return it.what.name; });
      if (found == all.end() || found->what.role != BufferRole::out || found->what.guessed) continue;
      const uint64_t all_bytes = found->what.bytes();
      if (!one.line.empty() && one.first + one.bytes == all_bytes && 2 * one.bytes >= all_bytes)
        severity = Severity::info;
    }
    const size_t width = element_bytes(one.buffer);
    const uint64_t count = (one.bytes + width - 1) / width, first = one.first / width;
    Finding& finding = report_.findings.emplace_back();
    first_ctas_.emplace_back();
    finding.rule = RuleId::output_unwritten;
    finding.severity = severity;
    finding.sentence =
        fmt::format("{} element{} of {} {} never written, the first is element {}; {}.", count, count == 1 ? "" : "s",
                    one.buffer, count == 1 ? "is" : "are", first,
                    one.line.empty() ? "nothing stores to it" : "its neighbour is stored at " + one.line);
    finding.evidence.push_back({"elements never written", static_cast<double>(count), "", FigureKind::counted});
    finding.where["buffer"] = one.buffer;
    finding.where["element"] = std::to_string(first);
    place(finding, one.line, "file", "line");
  }
}

Result<device::LaunchOutcome> Watcher::attempt(device::Trial trial) {
  device::LaunchRequest launch = run_.launch;
  if (trial.ctas.empty()) trial.ctas = ctas_;
  const auto ctas = before_ + static_cast<int64_t>(trial.ctas.size());
  launch.trial = std::move(trial);
  device::LaunchEvents events;
  events.cancel = run_.cancel;
  events.on_progress = [&](int64_t done, int64_t) { run_.on_progress(done_ + done, total_); };
  run_.on_progress(done_, total_);
  auto outcome = run_.emulated.run(launch, events);
  done_ += ctas;
  return outcome;
}

Result<std::optional<Watcher::Change>> Watcher::change_by(device::Trial trial, std::string how) {
  auto outcome = attempt(std::move(trial));
  if (!outcome) {
    if (outcome.error().stage == Stage::cancelled) return fail(outcome.error());
    return Change{std::move(how), outcome.error().message, true, -1};
  }
  for (size_t i = 0; i < base_.size(); ++i) {
    const auto output = outcome->outputs[i]->data(), base = base_[i]->data();
    if (std::memcmp(output.data(), base.data(), base.size()) == 0) continue;
    auto change = judged(i, output, std::move(how));
    if (!change) return fail(change.error());
    return std::move(*change);
  }
  return std::optional<Change>();
}

size_t Watcher::element_bytes(const std::string& buffer) const {
  if (!run_.launch.operands) return bytes_of(run_.launch.problem.dtype);
  for (const check::OperandContents& one : run_.launch.operands->all)
    if (one.what.name == buffer) return bytes_of(one.what.type);
  return 1;
}

Result<Watcher::Change> Watcher::judged(size_t index, std::span<const std::byte> output, std::string how) {
  Change change{std::move(how), "", false, -1, base_[index]->name()};
  const auto base = base_[index]->data();
  const size_t width = element_bytes(change.buffer);
  int64_t differ = 0;
  for (size_t i = 0; i < base.size(); i += width) {
    if (std::memcmp(base.data() + i, output.data() + i, width) == 0) continue;
    if (differ++ == 0) change.element = static_cast<int64_t>(i / width);
  }
  change.why = fmt::format("{} element{} of {} {} other bits", differ, differ == 1 ? "" : "s", change.buffer,
                           differ == 1 ? "has" : "have");
  auto reference = run_.reference();
  if (!reference && reference.error().stage == Stage::cancelled) return fail(reference.error());
  if (!reference || *reference == nullptr) return change;
  const check::JudgeOptions partial{.partial = true};
  if (!base_verdict_) {
    auto verdict = check::judge(base, **reference, partial);
    if (!verdict) return fail(verdict.error());
    base_verdict_ = *verdict;
  }
  auto verdict = check::judge(output, **reference, partial);
  if (!verdict) return fail(verdict.error());
  change.verdict = verdict->state != base_verdict_->state;
  if (change.verdict) {
    std::string reason = verdict->reason;
    if (reason.ends_with('.')) reason.pop_back();
    change.why = fmt::format("the output is {}{}{}, where the ordinary run's is {}", to_string(verdict->state),
                             reason.empty() ? "" : ": ", reason, to_string(base_verdict_->state));
  }
  return change;
}

void Watcher::tell(RuleId rule, const std::vector<Change>& changes, int64_t tried, const char* what) {
  if (changes.empty()) return;
  const auto worst = std::find_if(changes.begin(), changes.end(), [](const Change& c) { return c.verdict; });
  const bool verdict = worst != changes.end();
  const Change& named = verdict ? *worst : changes.front();
  Finding finding;
  finding.rule = rule;
  finding.severity = verdict ? Severity::error : Severity::warning;
  finding.sentence =
      fmt::format("{}: {}, {}; {} of {} {} change the output.", verdict ? "Right by luck" : "Not the same every time",
                  named.how, named.why, changes.size(), tried, what);
  finding.evidence.push_back(
      {fmt::format("{} that change the output", what), static_cast<double>(changes.size()), "", FigureKind::counted});
  finding.evidence.push_back({fmt::format("{} tried", what), static_cast<double>(tried), "", FigureKind::counted});
  if (named.element >= 0) {
    finding.where["buffer"] = named.buffer;
    finding.where["element"] = std::to_string(named.element);
  }
  report_.findings.push_back(std::move(finding));
}

Result<void> Watcher::fills() {
  std::vector<Change> changes;
  const auto look = [&](device::Trial trial, const char* how) -> Result<void> {
    auto change = change_by(std::move(trial), how);
    if (!change) return fail(change.error());
    if (*change) changes.push_back(std::move(**change));
    return {};
  };
  device::Trial nan, large, random;
  nan.shared_fill = kNanFill, large.shared_fill = kLargeFill, random.random_fill = 1;
  if (auto done = look(nan, "with shared memory full of NaN"); !done) return done;
  if (auto done = look(large, "with shared memory full of 1e30"); !done) return done;
  if (auto done = look(random, "with shared memory full of random words"); !done) return done;
  if (changes.empty())
    excuse_unused_reads();
  else
    blame_suspected();
  tell(RuleId::luck_fill, changes, kFills, "contents of shared memory");
  return {};
}

// A read that does not affect the output is not an error: CUTLASS' pipeline fetches one tile past the last. CTAs that
// did not run with other contents are left unchanged.
void Watcher::excuse_unused_reads() {
  const bool whole = static_cast<int64_t>(ctas_.size()) == run_.launch.shape.ctas();
  for (size_t i = 0; i < report_.findings.size(); ++i) {
    Finding& finding = report_.findings[i];
    if (finding.rule != emulator::rule_of(WatchKind::shared_never_written)) continue;
    // A program's earlier launches run whole, but the launch that reads their results may be a sample.
    if (first_ctas_[i] ? !std::ranges::binary_search(ctas_, *first_ctas_[i]) : !whole) continue;
    finding.severity = Severity::warning;
    finding.sentence += fmt::format(
        " The output does not depend on it: with {} other contents of shared memory every bit stays the same.", kFills);
  }
}

// A part of a vector that nothing has written counts as an error if the output depends on the contents of shared memory
// and nothing else explains that.
void Watcher::blame_suspected() {
  const auto explains = [](const Finding& finding) {
    return finding.severity == Severity::error &&
           (finding.rule == RuleId::race_shared || finding.rule == RuleId::race_copy ||
            finding.rule == RuleId::never_written_shared);
  };
  if (std::ranges::any_of(report_.findings, explains)) return;
  std::ranges::move(suspected_, std::back_inserter(report_.findings));
}

// Half of the orders start with shared memory full of 1e30, which reveals what a warp reads too early.
Result<void> Watcher::orders() {
  std::vector<Change> changes;
  for (int64_t seed = 1; seed <= kOrders; ++seed) {
    device::Trial trial;
    trial.order_seed = static_cast<uint64_t>(seed);
    const bool filled = seed > kOrders / 2;
    if (filled) trial.shared_fill = kLargeFill;
    auto change = change_by(std::move(trial), fmt::format("with the warps in order {}{}", seed,
                                                          filled ? " and shared memory full of 1e30" : ""));
    if (!change) return fail(change.error());
    if (*change) changes.push_back(std::move(**change));
  }
  tell(RuleId::luck_order, changes, kOrders, "orders of the warps");
  return {};
}

}  // namespace

std::vector<uint32_t> ctas_to_watch(const model::LaunchShape& launch) {
  const int64_t total = launch.ctas();
  std::vector<uint32_t> ctas;
  if (launch.cooperative || total <= kWatchedCtas) {
    for (int64_t i = 0; i < total; ++i) ctas.push_back(static_cast<uint32_t>(i));
    return ctas;
  }
  ctas = {0, 1};
  constexpr int64_t kBetween = kWatchedCtas - 4;
  for (int64_t i = 1; i <= kBetween; ++i) ctas.push_back(static_cast<uint32_t>(1 + i * (total - 3) / (kBetween + 1)));
  ctas.push_back(static_cast<uint32_t>(total - 2));
  ctas.push_back(static_cast<uint32_t>(total - 1));
  ctas.erase(std::unique(ctas.begin(), ctas.end()), ctas.end());
  return ctas;
}

std::vector<SharedPlace> shared_names(const compile::Variant& variant, const std::vector<SharedBuffer>& dynamic_parts) {
  std::vector<SharedPlace> names;
  if (variant.shared.placed)
    for (const compile::SharedPlacement& buffer : variant.shared.buffers)
      names.push_back({buffer.name, buffer.offset, buffer.bytes});
  int64_t begin = (variant.info.static_shared_bytes + 15) / 16 * 16;
  for (const SharedBuffer& part : dynamic_parts) {
    names.push_back({part.name, begin, part.bytes});
    begin += part.bytes;
  }
  return names;
}

Result<WatchReport> watch_kernel(const WatchRun& run) { return Watcher(run).all(); }

}  // namespace attnscope::worker
