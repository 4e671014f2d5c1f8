#include "report/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fields.h"
#include "core/hash.h"

namespace attnscope {
namespace report {
namespace {

// A BenchState as it is stored. A row's first cells are stored as in a report, with one report row per row here.
struct StoredState {
  int version = 1;
  std::string plan;
  std::vector<int64_t> passes;
  BenchReport first;
  std::vector<std::vector<std::vector<measure::Rounds>>> blocks;  // [row][entry][pass]
};

}  // namespace
}  // namespace report

template <>
struct OwnReader<report::BenchReport> {
  static constexpr auto read = report::report_from_json;
};

template <>
struct FieldsOf<report::StoredState> {
  using Of = report::StoredState;
  static constexpr Limits kMany{.most = 10000, .required = true};
  static constexpr auto list =
      std::tuple{Field{"attnscope_bench_state", &Of::version, Limits{.low = 1, .high = 1}},
                 Field{"plan", &Of::plan, Limits{.required = true}},
                 Field{"passes", &Of::passes, Limits{.low = 0, .high = 1e9, .most = 10000, .required = true}},
                 Field{"first", &Of::first, Limits{.required = true}}, Field{"blocks", &Of::blocks, kMany}};
};

namespace report {
namespace {

constexpr size_t kMostKept = 250;  // samples of one entry in one pass
constexpr double kSlow = 3;        // in passes: if a launch takes longer, the first pass is the only one

std::string why_not(const Failure& failure) {
  const char* word = failure.stage == Stage::limits    ? "does not fit: "
                     : failure.stage == Stage::compile ? "does not compile: "
                     : failure.stage == Stage::input   ? ""
                     : failure.stage == Stage::device  ? "not here: "
                                                       : "failed: ";
  std::string first_line = failure.message.substr(0, failure.message.find('\n'));
  // The hint matters if something must be installed; the hint of a limit is about a knob.
  if (failure.stage == Stage::device && !failure.hint.empty()) first_line += ". " + failure.hint;
  return word + first_line;
}

double tflops(const Problem& problem, double us) { return us > 0 ? problem.flops() / (us * 1e6) : 0; }

Cell cell_of(const Observation& o, const Problem& problem) {
  Cell cell;
  cell.knobs = o.experiment.config.knobs;
  cell.options = o.experiment.config.options;
  if (o.failure) {
    cell.reason = why_not(*o.failure);
    return cell;
  }
  if (!o.timing) {
    cell.reason = "it gave no time";
    return cell;
  }
  cell.verdict = o.verdict ? o.verdict->state : VerdictState::unchecked;
  // A gate requires correctness, which agreement with another kernel does not prove.
  if (cell.verdict == VerdictState::correct && o.verdict->against) cell.verdict = VerdictState::unchecked;
  if (o.verdict && cell.verdict != VerdictState::unchecked)
    cell.error = CellError{o.verdict->max_abs, o.verdict->rel_frobenius, o.verdict->atol, o.verdict->rtol,
                           o.verdict->outside_share};
  if (cell.verdict == VerdictState::wrong) {
    cell.state = CellState::wrong;
    cell.reason = o.verdict->reason;
    return cell;
  }
  cell.state = CellState::timed;
  cell.kind = o.timing->kind;
  cell.p10 = o.timing->p10;
  cell.p50 = o.timing->p50;
  cell.p90 = o.timing->p90;
  cell.samples = o.timing->samples;
  cell.tflops = tflops(problem, cell.p50);
  return cell;
}

bool is_measured(const CellTaken& taken) {
  return taken.first && taken.first->state == CellState::timed && taken.first->kind == FigureKind::measured;
}

// Too slow to run in every pass, and so far from the others that no drift matters.
bool is_slow(const Cell& cell, int64_t block_ms) { return cell.p50 > kSlow * 1e3 * static_cast<double>(block_ms); }

class Runner {
 public:
  Runner(const BenchPlan& plan, const BenchCalls& calls, BenchState& state)
      : plan_(plan), calls_(calls), state_(state) {
    began_ = calls_.now_seconds();
  }

  bool run() {
    for (size_t row = 0; row < state_.taken.size(); ++row)
      while (state_.passes[row] < passes_of(row))
        if (!pass(row)) return false;
    return true;
  }

 private:
  bool comes_again(const CellTaken& taken) const {
    return is_measured(taken) && !is_slow(*taken.first, plan_.block_ms);
  }

  // A row whose entries are all modelled, unable to run or slow after the first pass has no other passes.
  int64_t passes_of(size_t row) const {
    if (state_.passes[row] == 0) return plan_.head.emulated ? 1 : plan_.blocks + 1;
    const auto& cells = state_.taken[row];
    const bool any =
        std::any_of(cells.begin(), cells.end(), [&](const CellTaken& taken) { return comes_again(taken); });
    return any ? plan_.blocks + 1 : 1;
  }

  int64_t runs_left() const {
    int64_t left = 0;
    for (size_t row = 0; row < state_.taken.size(); ++row) {
      const auto& cells = state_.taken[row];
      const auto each =
          state_.passes[row] == 0
              ? static_cast<int64_t>(cells.size())
              : std::count_if(cells.begin(), cells.end(), [&](const CellTaken& taken) { return comes_again(taken); });
      left += each * (passes_of(row) - state_.passes[row]);
    }
    return left;
  }

  // Returns false if it was ended early; its samples are then dropped.
  bool pass(size_t row) {
    auto taken = state_.taken[row];
    const int64_t number = state_.passes[row];
    std::vector<size_t> order(taken.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (number % 2 != 0) std::reverse(order.begin(), order.end());
    const int64_t left = runs_left();
    int64_t here = 0;
    for (const size_t entry : order) {
      if (number > 0 && !comes_again(taken[entry])) continue;
      if (calls_.enough && calls_.enough()) return false;
      tell(row, entry, left - here++);
      take(row, entry, number, taken[entry]);
      ++done_;
    }
    state_.taken[row] = std::move(taken);
    ++state_.passes[row];
    calls_.save(state_);
    return true;
  }

  void take(size_t row, size_t entry, int64_t number, CellTaken& taken) {
    const Observation seen = calls_.run(row, entry);
    Cell cell = cell_of(seen, plan_.head.rows[row].problem);
    cell.config = calls_.config_text(entry, seen.experiment.config);
    const Cell& asked = plan_.head.rows[row].cells[entry];
    cell.config_from = asked.config_from;
    cell.tuned_for = asked.tuned_for;
    if (number == 0)
      first_pass(seen, std::move(cell), taken);
    else
      later_pass(seen, std::move(cell), taken);
  }

  // The first pass's time counts only if no other pass follows.
  void first_pass(const Observation& seen, Cell cell, CellTaken& taken) const {
    taken.first = std::move(cell);
    if (is_measured(taken) && is_slow(*taken.first, plan_.block_ms)) add_block(seen, taken);
  }

  static void later_pass(const Observation& seen, Cell cell, CellTaken& taken) {
    if (cell.state == CellState::timed)
      add_block(seen, taken);
    else
      taken.first = std::move(cell);
  }

  static void add_block(const Observation& seen, CellTaken& taken) {
    if (!seen.timing->sampling || seen.timing->sampling->rounds.empty()) {
      taken.first->state = CellState::not_applicable;
      taken.first->reason = "failed: it was timed without samples";
    } else {
      taken.blocks.push_back(measure::thinned(seen.timing->sampling->rounds, kMostKept));
    }
  }

  void tell(size_t row, size_t entry, int64_t left) const {
    BenchProgress progress{row, entry, done_, done_ + left, std::nullopt};
    if (done_ > 0) progress.left_seconds = (calls_.now_seconds() - began_) / double(done_) * double(left);
    calls_.on_progress(progress);
  }

  const BenchPlan& plan_;
  const BenchCalls& calls_;
  BenchState& state_;
  double began_ = 0;
  int64_t done_ = 0;
};

std::optional<double> median_of(const measure::Rounds& rounds) {
  const auto all = measure::pooled(rounds);
  return all.empty() ? std::nullopt : std::optional(measure::quantile(all, 0.5));
}

// Combines the samples of all passes; the rounds of a pass become rounds of the whole.
void put_samples(const CellTaken& taken, const Problem& problem, Cell& cell) {
  measure::Rounds rounds;
  for (const auto& block : taken.blocks) rounds.insert(rounds.end(), block.begin(), block.end());
  const std::vector<double> all = measure::pooled(rounds);
  if (all.empty()) return;
  cell.p10 = measure::quantile(all, 0.1);
  cell.p50 = measure::quantile(all, 0.5);
  cell.p90 = measure::quantile(all, 0.9);
  cell.samples = static_cast<int64_t>(all.size());
  cell.tflops = tflops(problem, cell.p50);
  if (taken.blocks.size() < 2) return;  // one pass says nothing about other passes
  cell.interval = measure::at_least(measure::bootstrap_median(rounds), cell.p50, measure::kBetweenRuns * cell.p50);
}

// Figures of different kinds are never compared.
std::optional<Ratio> ratio_of(const std::vector<CellTaken>& taken, const std::vector<Cell>& cells, size_t of,
                              size_t peer) {
  const Cell &mine = cells[of], &other = cells[peer];
  if (of == peer || mine.state != CellState::timed || other.state != CellState::timed || mine.kind != other.kind)
    return std::nullopt;
  Ratio ratio{peer, other.p50 / mine.p50, std::nullopt};
  if (mine.kind != FigureKind::measured) return ratio;
  std::vector<measure::Block> blocks;
  for (size_t b = 0; b < std::min(taken[of].blocks.size(), taken[peer].blocks.size()); ++b) {
    const auto a = median_of(taken[peer].blocks[b]), c = median_of(taken[of].blocks[b]);
    if (a && c) blocks.push_back({*a, *c});
  }
  if (static_cast<int64_t>(blocks.size()) < measure::kFewestBlocks) return ratio;
  const measure::Comparison compared = measure::compare_blocks(blocks);
  ratio.ratio = compared.ratio;
  ratio.interval = compared.interval;
  return ratio;
}

}  // namespace

std::string plan_hash(const BenchPlan& plan) {
  BenchReport head = plan.head;
  head.date.clear();
  Json json = to_json(head);
  json["blocks"] = plan.blocks;
  json["block_ms"] = plan.block_ms;
  return xxh3_128(json.dump());
}

Json to_json(const BenchState& state) {
  StoredState stored;
  stored.plan = state.plan;
  stored.passes = state.passes;
  for (const auto& row : state.taken) {
    Row& cells = stored.first.rows.emplace_back();
    auto& blocks = stored.blocks.emplace_back();
    for (const CellTaken& taken : row) {
      cells.cells.push_back(taken.first.value_or(Cell{}));
      blocks.push_back(taken.blocks);
    }
  }
  if (!state.taken.empty()) stored.first.entries.resize(state.taken.front().size());
  return write_fields(stored);
}

Result<BenchState> state_from_json(const Json& json, const BenchPlan& plan, const std::string& where) {
  const auto foreign = [&](const std::string& why) {
    return fail(Stage::input, why, "It is ignored, and the benchmark starts again.");
  };
  const size_t rows = plan.head.rows.size(), entries = plan.head.entries.size();
  auto stored = read_fields<StoredState>(json, where, Stage::input);
  if (!stored) return foreign(stored.error().message);
  BenchState state{plan_hash(plan), {}, std::move(stored->passes)};
  if (stored->plan != state.plan) return foreign(where + ": is the state of another benchmark");
  const bool fits = stored->first.entries.size() == entries && stored->first.rows.size() == rows &&
                    state.passes.size() == rows && stored->blocks.size() == rows &&
                    std::ranges::all_of(stored->blocks, [&](const auto& row) { return row.size() == entries; });
  if (!fits) return foreign(where + ": does not have this benchmark's rows and entries");
  for (size_t r = 0; r < rows; ++r) {
    auto& row = state.taken.emplace_back(entries);
    for (size_t e = 0; e < entries; ++e) {
      if (state.passes[r] > 0) row[e].first = stored->first.rows[r].cells[e];
      row[e].blocks = std::move(stored->blocks[r][e]);
    }
  }
  return state;
}

bool run_bench(const BenchPlan& plan, const BenchCalls& calls, BenchState& state) {
  if (state.plan.empty()) {
    state.plan = plan_hash(plan);
    state.taken.assign(plan.head.rows.size(), std::vector<CellTaken>(plan.head.entries.size()));
    state.passes.assign(plan.head.rows.size(), 0);
  }
  return Runner(plan, calls, state).run();
}

BenchReport report_of(const BenchPlan& plan, const BenchState& state, std::string date) {
  BenchReport report = plan.head;
  report.date = std::move(date);
  report.blocks = plan.head.emulated ? 0 : plan.blocks;
  report.block_ms = plan.head.emulated ? 0 : plan.block_ms;
  for (size_t r = 0; r < report.rows.size(); ++r) {
    Row& row = report.rows[r];
    row.cells.clear();
    for (const CellTaken& taken : state.taken[r]) {
      Cell& cell = row.cells.emplace_back(taken.first.value_or(Cell{}));
      if (!taken.first) cell.reason = "the benchmark was ended before it";
      if (is_measured(taken)) put_samples(taken, row.problem, cell);
    }
    for (size_t e = 0; e < row.cells.size(); ++e)
      for (size_t peer = 0; peer < row.cells.size(); ++peer)
        if (report.entries[peer].peer || report.entries[peer].baseline)
          if (auto ratio = ratio_of(state.taken[r], row.cells, e, peer)) row.cells[e].ratios.push_back(*ratio);
  }
  return report;
}

}  // namespace report
}  // namespace attnscope
