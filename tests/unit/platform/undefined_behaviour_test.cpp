// Only for builds with the address sanitizer: undefined behaviour ends the program, and the report names the function.
#include <gtest/gtest.h>

#include <climits>

#ifdef __SANITIZE_ADDRESS__
namespace attnscope::platform {
namespace {

int one_more_than(int value) { return value + 1; }

TEST(UndefinedBehaviour, IsReportedWithItsFunction) {
  EXPECT_EQ(one_more_than(1), 2);
  EXPECT_DEATH(one_more_than(INT_MAX), "AddressSanitizer: ILL.*one_more_than");
}

}  // namespace
}  // namespace attnscope::platform
#endif
