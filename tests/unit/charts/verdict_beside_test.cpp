// A verdict's figures beside the baseline's, and its limits as a sentence.
#include <gtest/gtest.h>

#include "charts/tables.h"

namespace attnscope::charts {
namespace {

TEST(VerdictBeside, HaveTheBaselinesFigures) {
  Verdict b, a;
  b.max_abs = 0.5;
  a.max_abs = 0.25;
  b.naive_rel_frobenius = 5e-4;
  for (const FigureRow& row : verdict_rows(b, &a))
    EXPECT_EQ(row.baseline.empty(), row.name == "of naive fp32") << row.name << ": A has none of that";
  EXPECT_EQ(verdict_rows(b, &a)[2].baseline, "0.25");
  EXPECT_EQ(verdict_rows(b)[2].baseline, "");
}

TEST(VerdictBeside, TheirLimitsAreASentenceWhereTheyHaveNoColumn) {
  Verdict b;
  b.rel_frobenius_limit = 1e-3;
  b.atol = b.rtol = 2e-3;
  b.rows_checked = b.rows_total = 4096;
  EXPECT_EQ(limits_text(b), "Limits: relative Frobenius 1e-3, atol and rtol 2e-3, no misplaced NaN or Inf");
  Verdict a = b;
  EXPECT_EQ(limits_text(b, &a), limits_text(b)) << "the same limits";
  a.rel_frobenius_limit = 0;
  b.atol = 4e-3;
  b.rows_checked = 64;
  EXPECT_EQ(limits_text(b, &a),
            "Limits: relative Frobenius 1e-3, atol 4e-3, rtol 2e-3, no misplaced NaN or Inf; 64 of 4,096 rows checked; "
            "A's: atol and rtol 2e-3");
}

}  // namespace
}  // namespace attnscope::charts
