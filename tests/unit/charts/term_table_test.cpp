#include "charts/term_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "charts/finding_rows.h"

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Timing modelled(std::vector<Term> terms) {
  Timing timing;
  for (const Term& term : terms) timing.p50 += term.us;
  timing.terms = Terms{std::move(terms), {}, ""};
  return timing;
}

TEST(TermTable, AgainstALargestDifferenceIsFirst) {
  const Timing a = modelled({{TermKind::barriers, 60, {}}, {TermKind::issue, 30, {}}, {TermKind::tail, 10, {}}});
  const Timing b = modelled({{TermKind::issue, 32, {}}, {TermKind::barriers, 20, {}}, {TermKind::mufu, 5, {}}});
  const TermTable table = term_table(&a, b);
  EXPECT_TRUE(table.against);
  EXPECT_EQ(table.a, 100);
  EXPECT_EQ(table.b, 57);
  EXPECT_THAT(table.rows, ElementsAre(TermRow{TermKind::barriers, 60, 20}, TermRow{TermKind::tail, 10, 0},
                                      TermRow{TermKind::mufu, 0, 5}, TermRow{TermKind::issue, 30, 32}));
  EXPECT_THAT(in_bar_order(table.rows), ElementsAre(TermRow{TermKind::tail, 10, 0}, TermRow{TermKind::issue, 30, 32},
                                                    TermRow{TermKind::mufu, 0, 5}, TermRow{TermKind::barriers, 60, 20}))
      << "the bars do not follow the table";
}

TEST(TermTable, WithoutATheLargestTermIsFirst) {
  const Timing b = modelled({{TermKind::issue, 12, {}}, {TermKind::barriers, 20, {}}});
  Timing measured;
  measured.p50 = 50;
  for (const Timing* a : {static_cast<const Timing*>(nullptr), static_cast<const Timing*>(&measured)}) {
    const TermTable table = term_table(a, b);
    EXPECT_FALSE(table.against);
    EXPECT_EQ(table.a, 0);
    EXPECT_THAT(table.rows, ElementsAre(TermRow{TermKind::barriers, 0, 20}, TermRow{TermKind::issue, 0, 12}));
  }
}

TEST(TermTable, WhereThereAreNoneTheReasonIsSaid) {
  EXPECT_EQ(why_no_terms(nullptr).headline, "Nothing to explain yet");
  Observation seen;
  EXPECT_EQ(why_no_terms(&seen).headline, "No time yet");
  seen.failure = Failure{Stage::limits, "does not fit", ""};
  EXPECT_EQ(why_no_terms(&seen).headline, "No time: the run failed");
  seen.timing = Timing{};
  seen.timing->kind = FigureKind::measured;
  EXPECT_EQ(why_no_terms(&seen).headline, "A measured time has no terms");
  EXPECT_THAT(why_no_terms(&seen).words, HasSubstr("emulated device"));
  seen.timing->kind = FigureKind::modelled;
  EXPECT_THAT(why_no_terms(&seen).words, HasSubstr("Run it again"));
  seen.timing->terms = Terms{{}, {}, "no warp's path was kept"};
  EXPECT_EQ(why_no_terms(&seen).words, "no warp's path was kept");
  EXPECT_FALSE(has_terms(*seen.timing));
}

TEST(TermPlaces, InstructionsOfALineAreOneEntry) {
  const Term term{TermKind::global_latency,
                  100,
                  {{0x40, "k.cu:12", 30, 0x80, "k.cu:20"},
                   {0x90, "k.cu:30", 40, 0x90, "k.cu:30"},
                   {0xa0, "k.cu:12", 25, 0xb0, "k.cu:21"},
                   {0xc0, "", 5, 0xd0, ""}}};
  const auto places = places_of(term);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].place, "k.cu:12");
  EXPECT_EQ(places[0].file, "k.cu");
  EXPECT_EQ(places[0].line, 12);
  EXPECT_EQ(places[0].us, 55);
  EXPECT_EQ(places[0].waits, "k.cu:20");
  EXPECT_EQ(places[1].waits, "") << "an instruction that issues waits for nothing";
  EXPECT_EQ(places[2].place, "no known line");
  EXPECT_EQ(places[2].line, 0);
}

Term term(TermKind kind, std::vector<std::pair<const char*, double>> lines) {
  Term made{kind, 0, {}};
  for (const auto& [source, us] : lines) {
    made.us += us;
    made.lines.push_back({0, source, us, 0, source});
  }
  return made;
}

TEST(TermPlaces, EachHasAsTimeAndThoseOfAOnlyFollow) {
  const Term a = term(TermKind::issue, {{"k.cu:3", 9}, {"k.cu:1", 5}, {"k.cu:3", 1}});
  const Term b = term(TermKind::issue, {{"k.cu:1", 7}, {"k.cu:2", 6}});
  const auto places = places_beside(&a, &b);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].place, "k.cu:1");
  EXPECT_EQ(places[0].us, 7);
  EXPECT_EQ(places[0].a, 5);
  EXPECT_EQ(places[1].place, "k.cu:2");
  EXPECT_FALSE(places[1].a) << "A's term does not list it, which is not 0";
  EXPECT_EQ(places[2].place, "k.cu:3");
  EXPECT_EQ(places[2].line, 3);
  EXPECT_EQ(places[2].us, 0);
  EXPECT_EQ(places[2].a, 10);
  EXPECT_EQ(places_beside(&a, nullptr).size(), 2u) << "B has none of it";
  EXPECT_EQ(places_beside(nullptr, &b).size(), 2u);
  EXPECT_TRUE(places_beside(nullptr, nullptr).empty());
}

TEST(TermPlaces, ThereAreNoMoreThanATermLists) {
  const Term b = term(TermKind::issue, {{"k.cu:1", 9}, {"k.cu:2", 8}, {"k.cu:3", 7}, {"k.cu:4", 6}});
  const Term a = term(TermKind::issue, {{"k.cu:6", 9}, {"k.cu:7", 8}, {"k.cu:4", 7}});
  const auto places = places_beside(&a, &b);
  ASSERT_EQ(places.size(), Term::kMostLines);
  EXPECT_EQ(places[3].a, 7);
  EXPECT_EQ(places[4].place, "k.cu:6");
}

TEST(TermPlaces, ALinesTimeIsThatOfAllTerms) {
  const Timing a = modelled({term(TermKind::issue, {{"k.cu:1", 20}})});
  const Timing b = modelled({term(TermKind::issue, {{"k.cu:1", 7}, {"k.cu:12", 3}}),
                             term(TermKind::barriers, {{"k.cu:1", 5}, {"other.cu:1", 4}})});
  EXPECT_EQ(us_at(b, "k.cu", 1), 12);
  EXPECT_EQ(us_at(b, "k.cu", 9), 0);
  EXPECT_EQ(us_at(Timing{}, "k.cu", 1), 0) << "a measured time";
  EXPECT_EQ(times_at(&a, b, "k.cu", 1), "12.00 \u00b5s; A 20.00 \u00b5s");
  EXPECT_EQ(times_at(nullptr, b, "k.cu", 1), "12.00 \u00b5s");
  EXPECT_EQ(times_at(&a, b, "k.cu", 12), "3.00 \u00b5s; A \u2013");
  EXPECT_EQ(times_at(&b, a, "k.cu", 12), "\u2013; A 3.00 \u00b5s");
  EXPECT_EQ(times_at(&a, b, "k.cu", 9), "");
}

TEST(FindingRows, ErrorsAreFirstAndEveryFigureSaysItsKind) {
  Observation seen;
  Finding found;
  found.severity = Severity::warning;
  found.sentence = "Bank conflicts.";
  found.evidence = {{"conflicts", 74.7, "%", FigureKind::counted},
                    {"ways", 8, "", FigureKind::modelled},
                    {"time", 2870, "us", FigureKind::modelled}};
  found.where = {{"file", "k.cu"}, {"line", "12"}};
  found.gain = Gain{120, std::nullopt};
  found.next = Next{{{"SWIZZLE_XOR", 1}}};
  seen.findings = {found};
  seen.watch = WatchReport{};
  Finding race;
  race.severity = Severity::error;
  race.sentence = "A race.";
  seen.watch->findings = {race};
  const auto rows = finding_rows(seen);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].sentence, "A race.");
  EXPECT_EQ(rows[0].line, 0);
  EXPECT_EQ(rows[0].gain, "");
  EXPECT_THAT(rows[1].evidence,
              ElementsAre("conflicts 74.7 %, counted", "ways 8, modelled", "time 2,870 \u00b5s, modelled"));
  EXPECT_EQ(rows[1].gain, "estimated 120.0 \u00b5s less") << "without a time there is no ratio";
  EXPECT_EQ(rows[1].file, "k.cu");
  EXPECT_EQ(rows[1].line, 12);
  EXPECT_EQ(rows[1].next, (std::map<std::string, int64_t>{{"SWIZZLE_XOR", 1}}));
  seen.findings[0].gain = Gain{120, 100};
  EXPECT_EQ(finding_rows(seen)[1].gain, "estimated 120.0 \u00b5s less; tried: 100.0 \u00b5s less");
  seen.timing.emplace().p50 = 600;
  EXPECT_EQ(finding_rows(seen)[1].gain, "estimated 120.0 \u00b5s less (1.25 times); tried: 1.20 times");
  seen.findings[0].gain = Gain{std::nullopt, -5};
  EXPECT_EQ(finding_rows(seen)[1].gain, "tried: slower");
}

Observation run_of(double us) {
  Observation run;
  run.timing.emplace().p50 = us;
  run.timing->kind = FigureKind::measured;
  run.timing->interval_low = us * 0.99;
  run.timing->interval_high = us * 1.01;
  return run;
}

TEST(TriedText, SaysHowManyTimesFasterOrWhyNot) {
  const Observation base = run_of(600);
  EXPECT_EQ(tried_text(base, run_of(300)).words, "tried: 2.00 times");
  EXPECT_EQ(tried_text(base, run_of(300)).better, 1);
  EXPECT_EQ(tried_text(base, run_of(700)).words, "tried: slower");
  EXPECT_EQ(tried_text(base, run_of(700)).better, -1);
  EXPECT_EQ(tried_text(base, run_of(599)).words, "tried: cannot be told apart");
  EXPECT_EQ(tried_text(base, run_of(599)).better, 0);
  Observation wrong = run_of(300);
  wrong.verdict.emplace().state = VerdictState::wrong;
  EXPECT_EQ(tried_text(base, wrong).words, "tried: wrong") << "however fast it is";
  Observation failed = run_of(300);
  failed.failure = Failure{Stage::launch, "an illegal access", ""};
  EXPECT_EQ(tried_text(base, failed).words, "tried: it fails");
  EXPECT_EQ(tried_text(base, failed).why, "an illegal access");
}

TEST(TriedText, AScansPointHasWordsOnceItHasEnded) {
  const Observation base = run_of(600);
  Scan scan;
  scan.points.emplace_back();
  EXPECT_EQ(tried_text(base, scan, 0).words, "");
  scan.points[0].observation = std::make_shared<Observation>(run_of(300));
  EXPECT_EQ(tried_text(base, scan, 0).words, "tried: 2.00 times");
  scan.points[0].refused = Failure{Stage::limits, "too much shared memory", ""};
  EXPECT_EQ(tried_text(base, scan, 0).words, "tried: it cannot run");
}

}  // namespace
}  // namespace attnscope::charts
