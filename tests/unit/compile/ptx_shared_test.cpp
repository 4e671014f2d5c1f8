#include "compile/ptx_shared.h"

#include <gtest/gtest.h>

namespace attnscope::compile {
namespace {

const char* const module = R"(
.version 8.8
.target sm_89
.address_size 64
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dynamic[];
.visible .shared .align 4 .f32 outside;
.shared .align 4 .b8 elsewhere[1000];
.func  (.param .b32 func_retval0) _Z6helperILi5EEff
(
	.param .b32 _Z6helperILi5EEff_param_0
)
;
.visible .entry other(
	.param .u64 other_param_0
)
{
	.shared .align 4 .b8 _ZZ5otherE1z[308];
	st.shared.u32 	[_ZZ5otherE1z], %r1;
	st.shared.u32 	[elsewhere], %r1;
	ret;
}
.func  (.param .b32 func_retval0) _Z6helperILi5EEff(
	.param .b32 _Z6helperILi5EEff_param_0
)
{
	.shared .align 4 .b8 _ZZ6helperILi5EEffE4hbuf[20];
	mov.u64 	%rd1, _ZZ6helperILi5EEffE4hbuf;
	ret;
}
	// .globl	kernel
.visible .entry kernel(
	.param .u64 kernel_param_0
)
.maxntid 128, 1, 1
{
	.reg .f32 	%f<4>;
	// demoted variable
	.shared .align 1 .b8 _ZZ6kernelE1a[3];
	.shared .align 8 .b8 _ZZ6kernelE6unused[800];
	.shared .align 4 .b8 _ZZ6kernelE6matrix[4][8];
	.shared .align 1 .u8 _ZZ6kernelE4flag;
	.shared .align 16 .f64 _ZZ6kernelE1d;
	.shared .align 4 .b8 _ZZ6kernelE1a_0[8];
	.loc	1 12 3
	st.shared.u8 	[_ZZ6kernelE1a+2], %rs1;
	mov.u32 	%r1, _ZZ6kernelE6matrix;
	{ // callseq 0, 0
	call.uni (retval0), _Z6helperILi5EEff, (param0);
	} // callseq 0
	st.shared.u8 	[_ZZ6kernelE4flag], 1;
	st.shared.f64 	[_ZZ6kernelE1d], %fd1;
	ld.shared.f32 	%f1, [outside];
	st.shared.v2.f32 	[_ZZ6kernelE1a_0], {%f1, %f1};
	ret;
}
)";

TEST(SharedLayout, PlacesTheKernelsThenTheCalledFunctionsBuffers) {
  const SharedLayout layout = shared_layout(module, "kernel");
  const std::vector<SharedPlacement> expected = {
      {"outside", "outside", 0, 4},
      {"a", "_ZZ6kernelE1a", 4, 3},
      {"matrix", "_ZZ6kernelE6matrix", 8, 32},
      {"flag", "_ZZ6kernelE4flag", 40, 1},
      {"d", "_ZZ6kernelE1d", 48, 8},
      {"a #2", "_ZZ6kernelE1a_0", 56, 8},
      {"hbuf", "_ZZ6helperILi5EEffE4hbuf", 64, 20},
  };
  ASSERT_EQ(layout.buffers.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(layout.buffers[i].name, expected[i].name);
    EXPECT_EQ(layout.buffers[i].symbol, expected[i].symbol);
    EXPECT_EQ(layout.buffers[i].offset, expected[i].offset) << expected[i].name;
    EXPECT_EQ(layout.buffers[i].bytes, expected[i].bytes) << expected[i].name;
  }
  EXPECT_EQ(layout.bytes, 84);
  EXPECT_TRUE(layout.placed);
}

TEST(SharedLayout, TheDynamicPartsAlignmentRoundsTheStaticPartUp) {
  const SharedLayout layout = shared_layout(R"(
.extern .shared .align 64 .b8 unused[];
.extern .shared .align 16 .b8 dynamic[];
.entry kernel()
{
	.shared .align 4 .b8 x[20];
	st.shared.u32 [x], 1;
	st.shared.u32 [dynamic], 1;
}
)",
                                            "kernel");
  ASSERT_EQ(layout.buffers.size(), 1u);
  EXPECT_EQ(layout.bytes, 32);
}

TEST(SharedLayout, AnotherKernelHasItsOwn) {
  const SharedLayout layout = shared_layout(module, "other");
  ASSERT_EQ(layout.buffers.size(), 2u);
  EXPECT_EQ(layout.buffers[0].name, "elsewhere");
  EXPECT_EQ(layout.buffers[1].name, "z");
  EXPECT_EQ(layout.bytes, 1308);
}

TEST(SharedLayout, NothingIsSaidOfAKernelThatIsNotThere) {
  EXPECT_TRUE(shared_layout(module, "kern").buffers.empty());
  EXPECT_TRUE(shared_layout("", "kernel").buffers.empty());
  EXPECT_TRUE(shared_layout("{{{}}}}} .shared .entry", "kernel").buffers.empty());
}

TEST(SharedLayout, TwoCalledFunctionsWithBuffersHaveNoKnownOrder) {
  const SharedLayout layout = shared_layout(R"(
.func f() { .shared .align 4 .b8 x[4]; st.shared.u32 [x], 1; ret; }
.func g()
{
.shared .align 4 .b8 y[4];
st.shared.u32 [y], 1;
}
.func h()
{
.shared .align 4 .b8 w[4];
st.shared.u32 [w], 1;
}
.entry kernel()
{
call g;
call h;
}
)",
                                            "kernel");
  EXPECT_EQ(layout.bytes, 8);
  EXPECT_FALSE(layout.placed);
}

}  // namespace
}  // namespace attnscope::compile
