#include "charts/latency_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "charts/format.h"
#include "charts/words.h"

namespace attnscope::charts {
namespace {

// Samples evenly spaced in the order taken, so that a drift within the run remains visible.
std::vector<float> thinned(const Sampling& sampling) {
  std::vector<float> all;
  for (const std::vector<double>& round : sampling.rounds)
    for (const double us : round) all.push_back(static_cast<float>(us));
  if (all.size() <= kMostSamples) return all;
  std::vector<float> some;
  for (size_t at = 0; at < kMostSamples; ++at) some.push_back(all[at * all.size() / kMostSamples]);
  return some;
}

LatencyColumn column_of(const Run& run, int x) {
  LatencyColumn column;
  column.run = run.id;
  column.x = x;
  column.change = run.change;
  column.config_text = run.config_text;
  column.observation = run.observation;
  if (!run.observation) return column;
  const Observation& seen = *run.observation;
  column.kernel = seen.experiment.kernel;
  column.device = seen.experiment.device;
  column.problem = short_text(seen.experiment.problem);
  column.headline = headline_of(seen);
  if (seen.timing) {
    column.state = ColumnState::timed;
    column.kind = seen.timing->kind;
    column.p10 = seen.timing->p10;
    column.p50 = seen.timing->p50;
    column.p90 = seen.timing->p90;
    column.interval_low = seen.timing->interval_low;
    column.interval_high = seen.timing->interval_high;
    if (seen.timing->sampling) column.samples = thinned(*seen.timing->sampling);
  }
  if (seen.failure) {
    column.failure = to_string(seen.failure->stage);
    column.state = ColumnState::failed;
  }
  return column;
}

}  // namespace

void append(LatencyChart& chart, std::span<const Run> runs) {
  for (const Run& run : runs) chart.columns.push_back(column_of(run, static_cast<int>(chart.columns.size())));
}

std::optional<size_t> LatencyChart::column_of(uint64_t run) const {
  const auto found = std::lower_bound(columns.begin(), columns.end(), run,
                                      [](const LatencyColumn& column, uint64_t id) { return column.run < id; });
  if (found == columns.end() || found->run != run) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

std::optional<size_t> baseline_of(const LatencyChart& chart, size_t before, const Observation& b, uint64_t pinned) {
  if (const auto column = pinned != 0 ? chart.column_of(pinned) : std::nullopt) return column;
  std::optional<size_t> other;
  for (size_t at = std::min(before, chart.columns.size()); at-- > 0;) {
    const LatencyColumn& column = chart.columns[at];
    if (column.state != ColumnState::timed) continue;
    if (comparable(*column.observation, b) == Unlike::none) return at;
    if (!other) other = at;
  }
  return other;
}

std::optional<Delta> delta_of(const LatencyChart& chart, size_t index, uint64_t pinned) {
  const LatencyColumn& after = chart.columns.at(index);
  if (after.state != ColumnState::timed) return std::nullopt;
  const std::optional<size_t> at = baseline_of(chart, index, *after.observation, pinned);
  if (!at || *at == index || chart.columns[*at].observation == nullptr) return std::nullopt;
  const LatencyColumn& held = chart.columns[*at];
  Delta delta;
  delta.run = held.run;
  delta.standing = standing_of(*held.observation, *after.observation);
  delta.text = change_text(delta.standing);
  if (delta.standing.outcome == Outcome::not_comparable) {
    delta.against = fmt::format("with run {}: {}", held.run, to_string(delta.standing.unlike));
    delta.detail = unlike_sentence(*held.observation, *after.observation);
    return delta;
  }
  delta.against =
      fmt::format("against run {}{}", held.run, held.kernel == after.kernel ? std::string() : ", " + held.kernel);
  delta.detail = fmt::format("{} \u2192 {}; run {} is {} {}", us_text(held.p50), us_text(after.p50), held.run,
                             held.kernel, held.config_text);
  // The two times' own error bars may overlap where this one tells them apart: the model's error is partly common.
  if (const auto& bar = delta.standing.bar)
    delta.detail += fmt::format("\nThe model's bar of their ratio: {} to {}", signed_percent_text(bar->low - 1),
                                signed_percent_text(bar->high - 1));
  return delta;
}

std::vector<float> spread_labels(std::span<const float> wishes, float height, float low, float high) {
  std::vector<size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wishes[a] < wishes[b]; });
  // A block is a group of labels that would overlap, centred on the mean of its members' wishes.
  struct Block {
    float sum = 0, count = 0;
    float top(float each) const { return sum / count - each * (count - 1) / 2; }
  };
  std::vector<Block> blocks;
  for (const size_t at : order) {
    blocks.push_back({wishes[at], 1});
    while (blocks.size() > 1) {
      Block& above = blocks[blocks.size() - 2];
      if (above.top(height) + height * above.count <= blocks.back().top(height)) break;
      above.sum += blocks.back().sum;
      above.count += blocks.back().count;
      blocks.pop_back();
    }
  }
  std::vector<float> places(wishes.size());
  size_t next = 0;
  float free_from = low;
  for (const Block& block : blocks) {
    const float last_top = std::max(low, high - height * block.count);
    float y = std::max(free_from, std::min(block.top(height), last_top));
    for (float member = 0; member < block.count; ++member, y += height) places[order[next++]] = y;
    free_from = y;
  }
  return places;
}

double nice_top(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
    if (step * power >= value) return step * power;
  return 10 * power;
}

}  // namespace attnscope::charts
