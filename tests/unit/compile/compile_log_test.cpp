#include <gtest/gtest.h>

#include "compile/compile_errors.h"
#include "compile/compiler.h"
#include "compile/ptxas_log.h"

namespace attnscope::compile {
namespace {

const char* const two_kernels = R"(ptxas info    : 65 bytes gmem, 64 bytes cmem[3]
ptxas info    : Compiling entry function 'k1' for 'sm_80'
ptxas info    : Function properties for k1
ptxas         .     72 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 26 registers, used 1 barriers, 96 bytes cumulative stack size, 8224 bytes smem, 384 bytes cmem[0]
ptxas info    : Compile time = 68.751 ms
ptxas info    : Function properties for _Z4slowfi
ptxas         .     24 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads

ptxas info    : Compiling entry function 'k12' for 'sm_80'
ptxas info    : Function properties for k12
ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, used 0 barriers, 376 bytes cmem[0]
)";

TEST(PtxasLog, GivesEachKernelItsOwnFigures) {
  const auto first = read_ptxas_log(two_kernels, "k1"), second = read_ptxas_log(two_kernels, "k12");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->registers, 26);
  EXPECT_EQ(first->stack_bytes, 96);
  EXPECT_EQ(first->spill_stores, 16);
  EXPECT_EQ(first->spill_loads, 20);
  EXPECT_EQ(first->shared_bytes, 8224);
  EXPECT_EQ(first->barriers, 1);
  EXPECT_EQ(second->registers, 18);
  EXPECT_EQ(second->stack_bytes, 8);
  EXPECT_EQ(second->shared_bytes, 0);
  EXPECT_FALSE(read_ptxas_log(two_kernels, "k"));
  EXPECT_FALSE(read_ptxas_log("", "k1"));
}

TEST(PtxasLog, FindsTheSharedMemoryThatIsTooMuch) {
  const auto said = find_shared_refusal(
      "ptxas error   : Entry function 'k' uses too much shared data (0xe020 bytes, 0xc000 max)", "k");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->asked_bytes, 57376);
  EXPECT_EQ(said->limit_bytes, 49152);
  const std::string figures =
      "ptxas info    : Compiling entry function 'k' for 'sm_89'\n"
      "ptxas info    : Used 64 registers, used 1 barriers, 57376 bytes smem, 404 bytes cmem[0]\n";
  const auto inferred = find_shared_refusal(figures, "k");
  ASSERT_TRUE(inferred);
  EXPECT_EQ(inferred->asked_bytes, 57376);
  EXPECT_FALSE(find_shared_refusal(two_kernels, "k1"));
  EXPECT_FALSE(find_shared_refusal("k.cu(3): error: too bad\n" + figures, "k"));
}

TEST(CompileErrors, NameTheFirstErrorsLine) {
  const Failure failure = explain_refusal(
      "02_tiled.cu(14): warning #1: unused\n"
      "02_tiled.cu(152): error: identifier \"foo\" is undefined\n  code\n"
      "02_tiled.cu(160): error: another\n2 errors\n",
      "02_tiled.cu", "attention_tiled");
  EXPECT_EQ(failure.stage, Stage::compile);
  EXPECT_EQ(failure.message, "02_tiled.cu:152: identifier \"foo\" is undefined");
  EXPECT_NE(failure.hint.find("(160): error: another"), std::string::npos);
}

TEST(CompileErrors, AMissingKernelHasItsOwnMessage) {
  const Failure failure = explain_refusal("__nv_name_map(2): error: identifier \"k\" is undefined\n", "a.cu", "k");
  EXPECT_EQ(failure.message, "a.cu declares no kernel \"k\": identifier \"k\" is undefined");
}

TEST(CompileErrors, StaticSharedMemoryIsALimitWithBothFiguresAndTheWayOut) {
  const Failure failure = explain_refusal(
      "ptxas error   : Entry function 'k' uses too much shared data (0xe020 bytes, 0xc000 max)", "a.cu", "k");
  EXPECT_EQ(failure.stage, Stage::limits);
  EXPECT_NE(failure.message.find("57,376 B"), std::string::npos) << failure.message;
  EXPECT_NE(failure.message.find("49,152 B"), std::string::npos) << failure.message;
  EXPECT_NE(failure.hint.find("dynamic"), std::string::npos) << failure.hint;
}

TEST(CompileErrors, ARefusalOfTheAssemblerIsSaid) {
  const Failure failure = explain_refusal(
      "ptxas info    : Compile time = 1937.195 ms\n\xff   ptxas error   : File uses too much global constant data "
      "(0x40000000 bytes, 0x10000 max)\n",
      "a.cu", "k");
  EXPECT_EQ(failure.message,
            "a.cu: the assembler refuses k: File uses too much global constant data (0x40000000 bytes, 0x10000 max)");
  EXPECT_EQ(explain_refusal("ptxas fatal   : Unresolved extern function '_Z5mergeP'\n", "a.cu", "k").message,
            "a.cu: the assembler refuses k: Unresolved extern function '_Z5mergeP'");
  const Failure later = explain_refusal(
      "ptxas application ptx input, line 61; error   : Instruction 'tcgen05.alloc' not supported on .target 'sm_89'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n",
      "a.cu", "k");
  EXPECT_EQ(later.message,
            "a.cu: the assembler refuses k: Instruction 'tcgen05.alloc' not supported on .target 'sm_89'");
  EXPECT_NE(later.hint.find("--device"), std::string::npos);
}

TEST(CompileErrors, AnUnknownRefusalKeepsTheLogAndALongOneIsCut) {
  EXPECT_EQ(explain_refusal("nothing known", "a.cu", "k").hint, "nothing known");
  const Failure failure = explain_refusal(std::string(1 << 20, 'x'), "a.cu", "k");
  EXPECT_LT(failure.hint.size(), 70000u);
}

TEST(CompileErrors, TheFolderGivenToTheCompilerIsTakenOff) {
  EXPECT_EQ(without_source_root("/attnscope/a.cu(1): x /attnscope/a.cu"), "a.cu(1): x a.cu");
  const std::string header = "/home/me/.cache/attnscope/cuda/12.8/include/a.h(3): error";  // a folder of the same name
  EXPECT_EQ(without_source_root(header), header);
}

CompileRequest request() {
  CompileRequest one;
  one.source = "extern \"C\" __global__ void k() {}";
  one.file_name = "k.cu";
  one.entry = "k";
  one.macros = {{"BLOCK_M", 32}, {"HEAD_DIM", 64}};
  return one;
}

TEST(NvrtcOptions, AreAFixedListOfPlainWords) {
  auto options = nvrtc_options(request());
  ASSERT_TRUE(options);
  const std::vector<std::string> expected = {"--gpu-architecture=sm_89",
                                             "--std=c++17",
                                             "-lineinfo",
                                             "--ptxas-options=-v",
                                             "--device-as-default-execution-space",
                                             "--use_fast_math",
                                             "--fmad=true",
                                             "-DBLOCK_M=32",
                                             "-DHEAD_DIM=64",
                                             "-DDTYPE=0",
                                             "-DATTN_T=half"};
  EXPECT_EQ(*options, expected);
  CompileRequest other = request();
  other.options = {false, false, 96};
  other.arch = 90;
  other.dtype = DType::bf16;
  other.macros = {{"N", -3}};
  options = nvrtc_options(other);
  ASSERT_TRUE(options);
  const std::vector<std::string> plain = {"--gpu-architecture=sm_90",
                                          "--std=c++17",
                                          "-lineinfo",
                                          "--ptxas-options=-v",
                                          "--device-as-default-execution-space",
                                          "--fmad=false",
                                          "--maxrregcount=96",
                                          "-DN=-3",
                                          "-DDTYPE=1",
                                          "-DATTN_T=__nv_bfloat16"};
  EXPECT_EQ(*options, plain);
}

TEST(NvrtcOptions, ANameThatCarriesAnythingElseIsRefused) {
  for (const char* name : {"", "32 -DX", "A=1 -DB", "a", "A-B", "1A", "A B", "A\n", "-I/etc", "A(x)", "Ä", "A;", "A\"",
                           "BLOCK_m", "ATTN_T", "DTYPE"}) {
    CompileRequest bad = request();
    bad.macros[name] = 1;
    auto options = nvrtc_options(bad);
    ASSERT_FALSE(options) << name;
    EXPECT_EQ(options.error().stage, Stage::input);
  }
  CompileRequest bad = request();
  bad.macros[std::string(65, 'A')] = 1;
  EXPECT_FALSE(nvrtc_options(bad));
}

TEST(NvrtcOptions, ANameThatTheSourceDeclaresIsNoMacro) {
  const auto given = [](const std::string& source) {
    CompileRequest one = request();
    one.source = source;
    one.macros["CAUSAL"] = 1;
    const auto options = nvrtc_options(one);
    if (!options) return options.error().message;
    std::string macros;
    for (const std::string& option : *options)
      if (option.starts_with("-D") && option.find("DTYPE") == option.npos && option.find("ATTN_T") == option.npos)
        macros += option + " ";
    return macros;
  };
  const std::string all = "-DBLOCK_M=32 -DCAUSAL=1 -DHEAD_DIM=64 ";
  EXPECT_EQ(given("constexpr int HEAD_DIM = 64;\n"), "-DBLOCK_M=32 -DCAUSAL=1 ");
  EXPECT_EQ(given("template <int HEAD_DIM, bool CAUSAL> __global__ void k(float* x) {}"), "-DBLOCK_M=32 ");
  EXPECT_EQ(given("static const bool CAUSAL = true, other = false;"), "-DBLOCK_M=32 -DHEAD_DIM=64 ");
  EXPECT_EQ(given("\nconstexpr int HEAD_DIM = 128;\n"),
            "k.cu:2: the source fixes HEAD_DIM to 128, and this run asks for 64");
  EXPECT_EQ(given("constexpr int BLOCK_M = 16;"), "k.cu:1: the source fixes BLOCK_M to 16, and this run asks for 32");
  EXPECT_EQ(given("#ifndef HEAD_DIM\nconstexpr int HEAD_DIM = 128;\n#endif\n"), all);
  EXPECT_EQ(given("#ifndef HEAD_DIM\n#define HEAD_DIM 128\n#endif\nint f() { return HEAD_DIM; }"), all);
  EXPECT_EQ(given("float s[BLOCK_M * HEAD_DIM]; // int HEAD_DIM = 3;"), all);
  EXPECT_EQ(given("int HEAD_DIM"), all) << "the text ends";
}

TEST(NvrtcOptions, ValuesOutOfRangeAreRefused) {
  for (const int limit : {-1, 1, 15, 256, 100000}) {
    CompileRequest bad = request();
    bad.options.maxrregcount = limit;
    EXPECT_FALSE(nvrtc_options(bad)) << limit;
  }
  for (const int arch : {0, -89, 52, 1000}) {
    CompileRequest bad = request();
    bad.arch = arch;
    EXPECT_FALSE(nvrtc_options(bad)) << arch;
  }
}

TEST(NvrtcOptions, ASourceWithConceptsIsCpp20) {
  EXPECT_STREQ(cpp_standard("template <class T> concept Small = sizeof(T) < 4;"), "c++20");
  EXPECT_STREQ(cpp_standard("template <class T> requires Small<T> __device__ T f(T a) { return a; }"), "c++20");
  EXPECT_STREQ(cpp_standard("int concept, requires; // concept X = Y"), "c++17");
  CompileRequest one = request();
  one.source = "template <class T> concept Small = true;\n" + one.source;
  EXPECT_EQ(nvrtc_options(one)->at(1), "--std=c++20");
}

TEST(CompileErrors, NameWhatNothingDefines) {
  EXPECT_EQ(undefined_name("a.cu:18: identifier \"N\" is undefined"), "N");
  EXPECT_EQ(undefined_name("a.cu:18: identifier \"N\" is not a type"), "");
  EXPECT_EQ(undefined_name("a.cu:18: identifier \"N"), "");
  EXPECT_EQ(undefined_name(""), "");
}

TEST(CompileErrors, NameTheFunctionThatIsMissing) {
  const auto missing = [](const std::string& name) {
    return unresolved_function("k.cu: the assembler refuses k: Unresolved extern function '" + name + "'");
  };
  EXPECT_EQ(missing("_Z5mergePKmPmPK6ulong4S4_S4_"), "merge");
  EXPECT_EQ(missing("_ZN3lib5inner5jointEf"), "joint");
  EXPECT_EQ(missing("plain"), "plain");
  EXPECT_EQ(missing("_Z99merge"), "");
  EXPECT_EQ(unresolved_function("k.cu: the assembler refuses k: too much"), "");
}

TEST(CompileErrors, SayTheWayOn) {
  const auto hint = [](const std::string& log) { return explain_refusal(log, "a.cu", "k").hint; };
  EXPECT_NE(hint("a.cu(3): error: texture is not a template\n").find("pass a pointer instead"), std::string::npos);
  EXPECT_NE(hint("a.cu(3): error: __cluster_dims__ is not supported for this GPU architecture\n").find("--device"),
            std::string::npos);
  EXPECT_NE(hint("a.cu(3): error: device-side kernel launch could not be processed\n").find("--entry"),
            std::string::npos);
  EXPECT_NE(hint("a.cu(3): error: identifier \"cudaDeviceSynchronize\" is undefined\n").find("--entry"),
            std::string::npos);
  EXPECT_NE(hint("a.cu(3): error: identifier \"string\" is undefined\n").find("pass a pointer"), std::string::npos);
  EXPECT_NE(hint("ptxas fatal   : Unresolved extern function '_Z5mergeP'\n").find("include that file"),
            std::string::npos);
  EXPECT_NE(hint("ptxas error   : Feature '.shared::cluster' requires .target sm_90 or higher\n").find("--device"),
            std::string::npos);
  EXPECT_NE(hint("a.cu(4): error: name followed by \"::\" must be a class or namespace name\n").find("<cuda/barrier>"),
            std::string::npos);
  const Failure thrust = explain_refusal("/cuda/include/thrust/pair.h(50): error: no member\n", "a.cu", "k");
  EXPECT_EQ(thrust.message, "thrust/pair.h:50: no member");
  EXPECT_NE(thrust.hint.find("In device code use pointers"), std::string::npos);
  for (const std::string log :
       {"a.cu(3): error: something else\n", "a.cu(3): error: identifier \"cluster_ids\" is undefined\n"})
    EXPECT_EQ(hint(log), log);
}

}  // namespace
}  // namespace attnscope::compile
