// What people read goes through label(), and nothing else does: if every label is renamed, decisions and written files
// stay the same, and each text differs only in its labels.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "charts/compared_settings.h"
#include "charts/latency_chart.h"
#include "charts/memory_stack.h"
#include "charts/terms.h"
#include "charts/watch_rows.h"
#include "charts/words.h"
#include "core/json.h"
#include "renamed/labels.h"
#include "report/bench_report.h"

namespace attnscope {
namespace {

using testing::renamed;
using testing::with_old_labels;

const std::string kTree = ATTNSCOPE_SOURCE_DIR;

Json json_at(const std::string& path) {
  std::ifstream file(kTree + path);
  std::stringstream text;
  text << file.rdbuf();
  return Json::parse(text.str());
}

template <class E>
std::vector<E> values_of_enum() {
  std::vector<E> values;
  for (const auto& [value, word] : Words<E>::table) values.push_back(value);
  return values;
}

// A recorded run, and the same run with each state, limiter, bound, rule and so on in turn.
const std::vector<Observation>& observations() {
  static const std::vector<Observation> all = [] {
    std::vector<Observation> seen{
        *observation_from_json(json_at("/tests/data/written_by_0.1.0/run_watch.json"), "run")};
    const Observation base = seen.front();
    const auto add = [&](auto change) { change(seen.emplace_back(base)); };
    for (const VerdictState state : values_of_enum<VerdictState>())
      add([&](Observation& o) { o.verdict->state = state, o.watch.reset(); });
    for (const Limiter limiter : values_of_enum<Limiter>())
      add([&](Observation& o) { o.occupancy->limiter = limiter; });
    for (const Bound bound : values_of_enum<Bound>()) add([&](Observation& o) { o.timing->bound = bound; });
    for (const TermKind kind : values_of_enum<TermKind>())
      add([&](Observation& o) {
        const double us = o.timing->p50;
        o.timing->terms = Terms{{{kind, us, {{16, "k.cu:1", us, 32, "k.cu:2"}}}}, {{"score", us, {{kind, us}}}}, ""};
      });
    for (const FigureKind kind : values_of_enum<FigureKind>())
      add([&](Observation& o) { o.timing->kind = o.counters->kind = kind; });
    for (const CacheState cache : values_of_enum<CacheState>())
      add([&](Observation& o) { o.timing->cache = o.experiment.measure.cache = cache; });
    for (const Stopped stopped : values_of_enum<Stopped>())
      add([&](Observation& o) { o.timing->sampling.emplace().stopped = stopped; });
    for (const Stage stage : values_of_enum<Stage>())
      add([&](Observation& o) { o.failure = Failure{stage, "why", ""}; });
    for (const ProblemKind kind : values_of_enum<ProblemKind>())
      add([&](Observation& o) { o.experiment.problem.kind = kind; });
    for (const RuleRow& row : kRules)
      for (const Severity severity : values_of_enum<Severity>())
        add([&](Observation& o) {
          o.watch.emplace().findings.push_back({row.id, severity, "A sentence.", {{}, {}}, {{"file", "k.cu"}}, {}, {}});
        });
    for (const bool fast : {false, true})
      add([&](Observation& o) { o.experiment.config.options = {fast, !fast, fast ? 64 : 0}; });
    for (Observation& o : seen) o.hash = hash_of(o.experiment);
    return seen;
  }();
  return all;
}

// Calls `make` twice: with the labels as they are, and with every label renamed.
template <class Make>
auto both(Make make) {
  auto plain = make();
  renamed = true;
  auto other = make();
  renamed = false;
  return std::pair(std::move(plain), std::move(other));
}

// Apart from blanks and rules, which fill columns.
std::string dense(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '-') out += c;
  return out;
}

void expect_same_but_for_labels(const std::string& what, const std::function<std::string()>& make) {
  const auto [plain, other] = both(make);
  EXPECT_EQ(dense(plain), dense(with_old_labels(other))) << what;
}

std::string text_of(const std::vector<charts::ComparedRow>& rows) {
  std::string text;
  for (const charts::ComparedRow& row : rows)
    text += row.name + ": " + row.before + " | " + row.after + " | " + row.change + " " + std::to_string(row.better) +
            (row.differs ? " differs\n" : "\n");
  return text;
}

std::string text_of(const std::vector<charts::FigureRow>& rows) {
  std::string text;
  for (const charts::FigureRow& row : rows)
    text += row.name + ": " + row.value + " (" + row.note + ", " + row.term + (row.bad ? ", bad)\n" : ")\n");
  return text;
}

TEST(RenamedLabels, TheRenamingIsSeen) {
  const size_t before = testing::renamings;
  const auto [plain, other] = both([] { return std::string(to_string(Bound::shared_memory)); });
  EXPECT_EQ(plain, "shared memory");
  EXPECT_NE(other, plain);
  EXPECT_EQ(with_old_labels("by " + other + ", " + other), "by shared memory, shared memory");
  EXPECT_GT(testing::renamings, before);
}

TEST(RenamedLabels, DecisionsAreTheSame) {
  for (const Observation& a : observations()) {
    const auto [plain, other] = both([&] {
      const auto headline = headline_of(a);
      std::vector<int> decided{headline ? static_cast<int>(*headline) : -1, headline && is_fault(*headline),
                               headline && is_of_watch(*headline)};
      for (const Observation& b : observations()) decided.push_back(static_cast<int>(comparable(a, b)));
      return decided;
    });
    EXPECT_EQ(plain, other) << to_json(a).dump();
  }
}

TEST(RenamedLabels, FilesAreTheSameAndReadAsBefore) {
  for (const Observation& seen : observations()) {
    const auto [plain, other] = both([&] { return to_json(seen); });
    EXPECT_EQ(plain, other);
    const auto [read, again] = both([&] { return observation_from_json(plain, "observation"); });
    ASSERT_TRUE(read && again) << (read ? again.error().message : read.error().message);
    EXPECT_EQ(*read, *again);
  }
}

TEST(RenamedLabels, TextsDifferOnlyInThem) {
  const std::string kernel_id = observations().front().experiment.kernel;
  Kernel kernel;
  kernel.id = kernel_id;
  kernel.content_hash = observations().front().experiment.kernel_hash;
  const Observation& base = observations().front();
  for (const Observation& seen : observations()) {
    const std::string what = to_json(seen).dump();
    expect_same_but_for_labels(what, [&] { return charts::bound_sentence(seen); });
    expect_same_but_for_labels(what, [&] {
      return charts::terms_text(*seen.timing) + charts::carrier_text(*seen.timing) + charts::phases_text(*seen.timing);
    });
    expect_same_but_for_labels(what, [&] { return charts::unlike_sentence(base, seen); });
    expect_same_but_for_labels(what, [&] { return charts::config_words(seen.experiment, &kernel, ""); });
    expect_same_but_for_labels(what, [&] { return text_of(charts::verdict_rows(*seen.verdict)); });
    expect_same_but_for_labels(what, [&] { return text_of(charts::compare(base, seen)); });
    expect_same_but_for_labels(
        what, [&] { return text_of(charts::compared_settings(base.experiment, seen.experiment, &kernel, &kernel)); });
    expect_same_but_for_labels(what, [&] {
      std::string text;
      for (const charts::FigureGroup& group : charts::counter_groups(*seen.counters))
        text += group.title + "\n" + text_of(group.rows);
      return text + charts::counter_share_text(*seen.counters);
    });
    expect_same_but_for_labels(what, [&] {
      std::string text;
      if (seen.watch)
        for (const charts::WatchRow& row : charts::watch_rows(*seen.watch))
          text += row.headline + row.sentence + (row.error ? " error\n" : "\n");
      return text;
    });
    expect_same_but_for_labels(what,
                               [&] { return charts::limiter_sentence(*seen.variant, *seen.occupancy, DeviceSpec{}); });
    expect_same_but_for_labels(what, [&] {
      charts::LatencyChart chart;
      const charts::Run runs[] = {{1, std::make_shared<Observation>(base), "", ""},
                                  {2, std::make_shared<Observation>(seen), "", ""}};
      charts::append(chart, runs);
      const auto delta = charts::delta_of(chart, 1);
      return chart.columns[1].failure + (delta ? delta->text + delta->against + delta->detail : "");
    });
  }
}

TEST(RenamedLabels, AReportsTablesDifferOnlyInThem) {
  const auto report = report::report_from_json(json_at("/bench/results/ladder_h200.json"), "ladder");
  ASSERT_TRUE(report) << report.error().message;
  for (auto* const as : {report::as_table, report::as_ladder, report::as_markdown})
    expect_same_but_for_labels("a report", [&] { return as(*report); });
  const auto [plain, other] = both([&] { return to_json(*report); });
  EXPECT_EQ(plain, other);
}

}  // namespace
}  // namespace attnscope
