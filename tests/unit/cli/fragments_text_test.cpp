#include "cli/fragments_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/made_up_kernel.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two products at line 7, inlined from a header, and a load of two matrices at line 9.
Listing listing() {
  Listing made;
  made.files = {"made_up.cu", "header.cuh"};
  CodeLine product;
  product.text = "HMMA.16816.F32 R4, R8, R12, RZ";
  product.places = {{1, 40}, {0, 7}};
  product.fragments = {{MatrixName::a, 16, 16, 16, 2, false, 8},
                       {MatrixName::b, 16, 8, 16, 2, true, 12},
                       {MatrixName::c, 16, 8, 32, 2, false, MatrixFragment::kZero},
                       {MatrixName::d, 16, 8, 32, 2, false, 4}};
  CodeLine next = product;
  next.text = "HMMA.16816.F32 R16, R8, R14, RZ";
  next.fragments[1].first = 14;
  next.fragments[3].first = 16;
  CodeLine load;
  load.text = "LDSM.16.MT88.2 R20, [R3]";
  load.places = {{0, 9}};
  load.fragments = {{MatrixName::d, 16, 8, 16, 2, true, 20}};
  made.lines = {product, next, load};
  return made;
}

TEST(FragmentsText, ALinesProductsOfOneLayoutAreOnePicture) {
  const auto text = fragments_text(listing(), made_up_kernel(), 7, 7);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("HMMA.16816.F32 R4, R8, R12, RZ  and 1 more at this line, in other registers\n"));
  EXPECT_THAT(*text, HasSubstr("A  16 x 16 of 16 bits; A in R8 to R11\n"));
  EXPECT_THAT(*text, HasSubstr("6 R9   [ 7 R9]")) << "elements 6 and 7 of row 9";
  EXPECT_THAT(*text, HasSubstr("C, D  16 x 8 of 32 bits; C in RZ: zeros, D in R4 to R7\n"));
  EXPECT_THAT(*text, HasSubstr("Lane 7 holds of A: R8 (1, 6) (1, 7)   R9 (9, 6) (9, 7)   R10 (1, 14)"));
  EXPECT_THAT(*text, HasSubstr("Lane 7 holds of D: R4 (1, 6)   R5 (1, 7)   R6 (9, 6)   R7 (9, 7)\n"));
  EXPECT_THAT(*text, Not(HasSubstr("LDSM")));
}

TEST(FragmentsText, AnotherLaneMayBeMarked) {
  const auto text = fragments_text(listing(), made_up_kernel(), 9, 30);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("Row r is the 16 bytes of shared memory at lane r's address"));
  EXPECT_THAT(*text, HasSubstr("[30 R21]"));
  EXPECT_THAT(*text, HasSubstr("Lane 30 holds of D: R20 (4, 7) (5, 7)   R21 (12, 7) (13, 7)\n"));
}

TEST(FragmentsText, ALineWithoutMatricesNamesThoseWithSome) {
  const auto none = fragments_text(listing(), made_up_kernel(), 8, 7);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("made_up.cu:8 has no"));
  EXPECT_THAT(none.error().hint, HasSubstr("7, 9"));
  EXPECT_THAT(fragments_text(Listing{}, made_up_kernel(), 8, 7).error().hint, HasSubstr("Tensor Cores"));
}

}  // namespace
}  // namespace attnscope::cli
