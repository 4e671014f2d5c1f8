#include "charts/terms.h"

#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

Timing split() {
  Timing timing;
  timing.p50 = 200;
  const TermLine load{0x40, "k.cu:12", 70, 0x80, "k.cu:20"}, issue{0x90, "k.cu:30", 50, 0x90, "k.cu:30"};
  timing.terms =
      Terms{{{TermKind::global_latency, 80, {load}}, {TermKind::issue, 60, {issue}}, {TermKind::tail, 60, {}}},
            {{"score", 140, {}}, {"launch and tail", 60, {}}},
            ""};
  return timing;
}

TEST(TermsText, NamesTheLargestWithTheirShares) {
  EXPECT_EQ(terms_text(split()), "global memory latency 40.0 %, issue 30.0 %, tail 30.0 %");
  EXPECT_EQ(phases_text(split()), "score 70.0 %, launch and tail 30.0 %");
}

TEST(TermsText, ALongListEndsWithTheRest) {
  Timing timing;
  timing.p50 = 100;
  timing.terms.emplace();
  for (const double us : {40, 20, 15, 10, 6, 5})
    timing.terms->list.push_back({static_cast<TermKind>(timing.terms->list.size()), us, {}});
  EXPECT_EQ(terms_text(timing).find("more"), std::string::npos) << "one more is named instead";
  timing.terms->list.push_back({TermKind::barriers, 4, {}});
  EXPECT_TRUE(terms_text(timing).ends_with("6.0 %, 2 more 9.0 %")) << terms_text(timing);
}

TEST(TermsText, TheCarrierIsTheLongestLineWithWhoWaits) {
  EXPECT_EQ(carrier_text(split()), "35.0 % at k.cu:12, where k.cu:20 waits");
  Timing issues = split();
  issues.terms->list[1].lines[0].us = 100;
  EXPECT_EQ(carrier_text(issues), "50.0 % at k.cu:30") << "an instruction that issues waits for nothing";
  Timing spread = split();
  for (Term& term : spread.terms->list)
    for (TermLine& line : term.lines) line.us = 9;
  EXPECT_EQ(carrier_text(spread), "") << "less than a twentieth";
  Timing unknown = split();
  for (Term& term : unknown.terms->list) term.lines.clear();
  EXPECT_EQ(carrier_text(unknown), "");
}

TEST(TermsText, WhatHasNoTermsSaysWhyOrNothing) {
  Timing timing;
  timing.p50 = 5;
  for (const auto& text : {terms_text(timing), carrier_text(timing), phases_text(timing)}) EXPECT_EQ(text, "");
  timing.terms = Terms{{}, {}, "not traced"};
  EXPECT_EQ(terms_text(timing), "none: not traced");
  EXPECT_EQ(carrier_text(timing) + phases_text(timing), "");
}

}  // namespace
}  // namespace attnscope::charts
