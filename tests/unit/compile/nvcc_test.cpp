// nvcc as the compiler: what is asked of it, how its answer is read, and a real one where the machine has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "compile/compile_errors.h"
#include "compile/compiler.h"
#include "compile/cubin.h"
#include "compile/nvcc_compile.h"
#include "cuda_api/nvcc.h"
#include "support/fake_nvcc.h"
#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::TempDir;

CompileRequest request() {
  CompileRequest one;
  one.source =
      "#include <torch/extension.h>\n"
      "template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N + WIDTH; }\n"
      "extern \"C\" __global__ void plain(float* x) { x[0] = 1; }\n"
      "int main() { scale<2><<<1, 32>>>(nullptr); }\n";
  one.file_name = "scale.cu";
  one.entry = "scale<3>";
  one.macros = {{"WIDTH", 4}};
  one.dtype.reset();
  one.options.compiler = CompilerChoice::nvcc;
  return one;
}

TEST(NvccOptions, SayWhatNvrtcsSay) {
  CompileRequest one = request();
  one.options.maxrregcount = 64;
  EXPECT_EQ(nvcc_options(one).value(),
            (std::vector<std::string>{"-arch=sm_89", "-std=c++17", "-lineinfo", "--expt-relaxed-constexpr",
                                      "-fmad=true", "-use_fast_math", "-maxrregcount=64", "-Xptxas=-v", "-DWIDTH=4"}));
  one.dtype = DType::bf16;
  one.options = {.fast_math = false, .fmad = false};
  EXPECT_THAT(*nvcc_options(one), Contains("-DATTN_T=__nv_bfloat16"));
  EXPECT_THAT(*nvcc_options(one), Contains("-fmad=false"));
  EXPECT_THAT(*nvcc_options(one), Not(Contains("-use_fast_math")));
  one.macros = {{"-x", 1}};
  EXPECT_FALSE(nvcc_options(one)) << "by the same door as for NVRTC";
  one = request();
  one.arch = 60;
  EXPECT_FALSE(nvcc_options(one));
}

TEST(NvccText, HasTheSourcesOwnLinesAndAMarkBehindIt) {
  EXPECT_EQ(
      with_entry_marked("\xEF\xBB\xBFint a;", "/attnscope/a.cu", "scale<3>"),
      "#line 1 \"/attnscope/a.cu\"\nint a;\n#line 1 \"__nv_name_map\"\n"
      "template <auto> __global__ void attnscope_mark() {}\ntemplate __global__ void attnscope_mark<&scale<3>>();\n");
  EXPECT_EQ(with_entry_marked("int a;", "/attnscope/a.cu", "plain"), "#line 1 \"/attnscope/a.cu\"\nint a;\n")
      << "what export writes has no mark where none is needed";
}

TEST(NvccText, TheMarkNamesTheKernelAmongOthers) {
  const std::string mark = "_Z14attnscope_markIXadL_Z5scaleI6__halfLi4EEvPT_iEEEvv";
  EXPECT_EQ(marked_symbol({"_Z5scaleI6__halfLi8EEvPT_i", mark, "_Z5scaleI6__halfLi4EEvPT_i", "plain"}),
            "_Z5scaleI6__halfLi4EEvPT_i");
  EXPECT_EQ(marked_symbol({"plain", "plai", "_Z14attnscope_markIXadL_Z5plainPfEEEvv", "_Z5scalePf"}), "plain");
  const std::string in_namespace = "_Z14attnscope_markIXadL_ZN1a1kEPfEEEvv";
  EXPECT_EQ(marked_symbol({"_Z1kPf", in_namespace, "_ZN1a1kEPf"}), "_ZN1a1kEPf");
  EXPECT_EQ(marked_symbol({mark, "plain"}), "");
  EXPECT_EQ(marked_symbol({"plain"}), "");
}

TEST(NvccErrors, OfThePreprocessorAreSaidAsNvrtcsAre) {
  const Failure header = explain_refusal(
      "scale.cu:3:10: fatal error: common.h: No such file or directory\n    3 | #include \"common.h\"\n", "scale.cu",
      "k");
  EXPECT_EQ(header.stage, Stage::compile);
  EXPECT_EQ(header.message, "scale.cu:3: there is no header common.h");
  EXPECT_EQ(missing_header_in("In file included from scale.cu:1:\nscale.cu:3:10: fatal error: a/b.h: No such file or "
                              "directory\n"),
            "a/b.h");
  EXPECT_EQ(explain_refusal("scale.cu:7:2: error: #error \"no: not here\"\n", "scale.cu", "k").message,
            "scale.cu:7: #error \"no: not here\"");
  EXPECT_EQ(explain_refusal("scale.cu(2): error: identifier \"y\" is undefined\n", "scale.cu", "k").message,
            "scale.cu:2: identifier \"y\" is undefined");
  EXPECT_EQ(explain_refusal("__nv_name_map(2): error: identifier \"k\" is undefined\n", "scale.cu", "k").message,
            "scale.cu declares no kernel \"k\": identifier \"k\" is undefined");
}

TEST(NvccErrors, OnlyWhatTheHostsHeadersMaySettleNamesNvcc) {
  EXPECT_TRUE(host_headers_may_help("/x/include/thrust/detail/a.h(3): error: no\n"));
  EXPECT_TRUE(host_headers_may_help("a.cu(2): error: namespace \"std\" has no member \"sort\"\n"));
  EXPECT_FALSE(host_headers_may_help("a.cu(2): error: identifier \"y\" is undefined\n"));
  EXPECT_FALSE(host_headers_may_help("a.cu(1): catastrophic error: cannot open source file \"no/such/header.h\"\n"));
  EXPECT_FALSE(host_headers_may_help("a.cu(1): catastrophic error: cannot open source file \"../include/stdio.h\"\n"));
  EXPECT_FALSE(host_headers_may_help(""));
}

class ScriptedNvcc : public testing::Test {
 protected:
  ScriptedNvcc() { fs::create_directories(dir_ / "tmp"); }
  void nvcc(const std::string& work) const { tools_.does(work); }
  Failure refusal(const CompileRequest& one, int nvcc_ms = Compiler::kNvccMs) {
    Compiler compiler{{.cache_dir = dir_ / "cache"}};
    const auto variant = compiler.compile(one, nvcc_ms);
    return variant ? Failure{} : variant.error();
  }
  const testing_support::FakeNvcc tools_;
  const TempDir dir_;
  const testing_support::Variable temporary_{"TMPDIR", (dir_ / "tmp").string()};
};

TEST_F(ScriptedNvcc, ItsErrorsHaveTheSourcesLines) {
  nvcc("echo '/attnscope/scale.cu(2): error: identifier \"y\" is undefined' >&2; exit 2\n");
  const Failure refused = refusal(request());
  EXPECT_EQ(refused.stage, Stage::compile);
  EXPECT_EQ(refused.message, "scale.cu:2: identifier \"y\" is undefined") << refused.hint;
  EXPECT_TRUE(fs::is_empty(dir_ / "tmp")) << "its folder stands";
}

TEST_F(ScriptedNvcc, EndsAtItsDeadlineAndLeavesNothing) {
  nvcc("sleep 1000\n");
  const Failure refused = refusal(request(), 100);
  EXPECT_EQ(refused.stage, Stage::deadline);
  EXPECT_THAT(refused.message, StartsWith("scale.cu: nvcc did not end within "));
  EXPECT_TRUE(fs::is_empty(dir_ / "tmp"));
}

TEST_F(ScriptedNvcc, GetsTheFlagsAndTheHeadersThatOnlyAttnscopeHas) {
  nvcc(
      "for word; do case $word in -idirafter,*) [ -f ${word#*,}/torch/extension.h ] && echo 'has torch' ;; esac; done\n"
      "echo \"$*\"; exit 1\n");
  const Failure refused = refusal(request());
  EXPECT_THAT(refused.hint, HasSubstr("has torch\n"));
  EXPECT_THAT(refused.hint, HasSubstr("-arch=sm_89 -std=c++17 -lineinfo "));
  EXPECT_THAT(refused.hint, HasSubstr(" -DWIDTH=4 "));
  EXPECT_THAT(refused.hint, Not(HasSubstr((dir_ / "tmp").string() + "/attnscope-")))
      << "the temporary folder is not shown";
}

TEST_F(ScriptedNvcc, HostileSourcesDoNotReachIt) {
  nvcc("echo '/attnscope/scale.cu(1): error: reached' >&2; exit 2\n");
  for (const char* name : {"/etc/passwd", "../../../etc/passwd", "/dev/zero", "/dev/stdin", "a/../../b"}) {
    CompileRequest one = request();
    one.source = "#include \"" + std::string(name) + "\"\n__global__ void scale(float* x) {}\n";
    EXPECT_EQ(refusal(one).message, "scale.cu:1: " + outside_text(name));
  }
  CompileRequest one = request();
  one.source = "#define FILE \"/dev/zero\"\n#include FILE\n";
  EXPECT_THAT(refusal(one).message, HasSubstr("could be any file's"));
  one.source = std::string("int a;\0", 7);
  EXPECT_THAT(refusal(one).message, HasSubstr("zero byte"));
  one = request();
  one.entry = "scale<3>\n#include \"/etc/passwd\"";
  EXPECT_EQ(refusal(one).stage, Stage::input);
  EXPECT_EQ(refusal(request()).message, "scale.cu:1: reached");
}

TEST_F(ScriptedNvcc, IsNamedWhereNvrtcLacksTheHostsHeaders) {
  nvcc("exit 1\n");
  CompileRequest one = request();
  one.options.compiler = CompilerChoice::nvrtc;
  one.source = "#include <algorithm>\n__global__ void scale(float* x) { std::nth_element(x, x + 1, x + 2); }\n";
  one.entry = "scale";
  Compiler compiler{{}};
  if (auto version = compiler.nvrtc_version(); !version) GTEST_SKIP() << version.error().message;
  EXPECT_THAT(refusal(one).hint,
              StartsWith("nvcc, which reads the host's headers, may take it: --option compiler=nvcc."));
  one.source = "__global__ void scale(float* x) { y = 1; }\n";
  EXPECT_THAT(refusal(one).hint, Not(HasSubstr("compiler=nvcc")));
}

class RealNvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (auto nvcc = cuda_api::choose_nvcc(); !nvcc) GTEST_SKIP() << nvcc.error().message;
  }
  const TempDir cache_;
  Compiler compiler_{{.cache_dir = cache_.path()}};
};

TEST_F(RealNvcc, CompilesTheNamedInstanceAndNeverMixesWithNvrtc) {
  CompileRequest one = request();
  auto variant = compiler_.compile(one);
  ASSERT_TRUE(variant) << variant.error().message << "\n" << variant.error().hint;
  EXPECT_EQ((*variant)->entry_symbol, "_Z5scaleILi3EEvPf");
  EXPECT_EQ((*variant)->info.compiler, "nvcc " + *compiler_.nvcc_version());
  EXPECT_GT((*variant)->info.registers, 0);
  EXPECT_NE((*variant)->ptx.find(".entry _Z5scaleILi3EEvPf"), std::string::npos);
  const auto again = compiler_.compile(one);
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)->info.cached);
  EXPECT_EQ((*again)->info.compiler, (*variant)->info.compiler);

  one.options.compiler = CompilerChoice::nvrtc;
  const auto other = compiler_.compile(one);
  if (!other) GTEST_SKIP() << other.error().message;
  EXPECT_FALSE((*other)->info.cached);
  EXPECT_THAT((*other)->info.compiler, StartsWith("NVRTC "));
}

TEST_F(RealNvcc, ItsErrorNamesTheSourcesLine) {
  CompileRequest one = request();
  one.source = "\n__global__ void scale(float* x) { y = 1; }\n";
  one.entry = "scale";
  const auto refused = compiler_.compile(one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "scale.cu:2: identifier \"y\" is undefined");
  one = request();
  one.entry = "absent";
  const auto absent = compiler_.compile(one);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().stage, Stage::compile);
  EXPECT_EQ(absent.error().message, "scale.cu holds no kernel \"absent\"");
  EXPECT_THAT(absent.error().hint, HasSubstr("It holds plain."));
}

TEST_F(RealNvcc, ASourceCannotIncludeItself) {
  CompileRequest one = request();
  one.source = "#include \"scale.cu\"\n__global__ void scale(float* x) {}\n";
  one.entry = "scale";
  const auto variant = compiler_.compile(one);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_THAT((*variant)->info.log, HasSubstr("There is no header scale.cu; the kernel compiles without it."));
}

}  // namespace
}  // namespace attnscope::compile
