#include "cli/export_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/validate.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExportText : public testing::Test {
 protected:
  ExportText() {
    e_.kernel = *catalog::load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "kernels/02_tiled.json");
    e_.kernel.source = "int source;";
    e_.kernel.source_name = "02_tiled.cu";
    e_.config = *catalog::complete_config(e_.kernel, {}, {});
    e_.arch = 89;
    e_.stem = "tiled_sm89";
    e_.launch = *catalog::launch_of(e_.kernel, e_.problem, e_.config);
    auto variant = std::make_shared<compile::Variant>();
    variant->entry_symbol = "attention_tiled";
    variant->info.compiler = "NVRTC 12.8";
    variant->info.registers = 96;
    variant->info.static_shared_bytes = 36896;
    variant->info.spill_bytes = 12;
    variant->info.code_hash = "c0de";
    e_.variant = variant;
  }
  std::string fill(const std::string& form) const { return filled(form, e_).value_or("not filled"); }

  Export e_;
};

TEST_F(ExportText, NvccIsCalledWithNvrtcsOptions) {
  e_.config.options = {.fast_math = true, .fmad = true, .maxrregcount = 0};
  EXPECT_EQ(nvcc_line(e_),
            "nvcc -arch=sm_89 -std=c++17 -lineinfo --expt-relaxed-constexpr -fmad=true -use_fast_math -cubin -o "
            "tiled_sm89.nvcc.cubin tiled_sm89.cu");
  e_.config.options = {.fast_math = false, .fmad = false, .maxrregcount = 64};
  e_.arch = 90;
  EXPECT_EQ(nvcc_line(e_),
            "nvcc -arch=sm_90 -std=c++17 -lineinfo --expt-relaxed-constexpr -fmad=false -maxrregcount=64 -cubin -o "
            "tiled_sm89.nvcc.cubin tiled_sm89.cu");
  e_.kernel.headers = {"cutlass"};
  EXPECT_THAT(nvcc_line(e_),
              HasSubstr(" -maxrregcount=64 -I\"${CUTLASS:?names the include folder of cutlass}\" -cubin "));
  e_.stem = "a b";
  EXPECT_THAT(nvcc_line(e_), HasSubstr("-o 'a b.nvcc.cubin' 'a b.cu'"));
}

TEST_F(ExportText, TheSourceHasItsConfigAsMacrosAndItsOwnLineNumbers) {
  const std::string text = source_of(e_);
  EXPECT_THAT(text, StartsWith("// tiled: " + e_.kernel.title + "\n// Compiled in: "));
  EXPECT_THAT(text, HasSubstr("\n//   " + nvcc_line(e_) + "\n"));
  for (const auto& [name, value] : catalog::macros(e_.kernel, e_.problem, e_.config))
    EXPECT_THAT(text, HasSubstr("\n#define " + name + " " + std::to_string(value) + "\n"));
  EXPECT_TRUE(text.ends_with("\n#define DTYPE 0\n#define ATTN_T half\n#line 1 \"02_tiled.cu\"\nint source;\n")) << text;
  e_.kernel.source = "int source;\n";
  EXPECT_EQ(source_of(e_), text) << "the last line ends once";
  EXPECT_THAT(text, Not(HasSubstr("attnscope_threads")));
  e_.config.options.launch_bounds = 3;
  const std::string bounded = source_of(e_);
  EXPECT_LT(bounded.find("launch_bounds(::attnscope_threads(__VA_ARGS__), 3)"), bounded.find("#line 1 \""));
  e_.config.options.launch_bounds = 0;
}

TEST_F(ExportText, ATemplatesInstanceIsNamedSoThatItIsCompiled) {
  EXPECT_THAT(source_of(e_), Not(HasSubstr("attnscope_entry")));
  e_.kernel.entry = "attention<4>";
  EXPECT_TRUE(
      source_of(e_).ends_with("int source;\n__attribute__((used)) static const void* const attnscope_entry = "
                              "reinterpret_cast<const void*>(&attention<4>);\n"));
}

TEST_F(ExportText, EachElementTypeHasItsNames) {
  const struct {
    DType dtype;
    const char *macros, *names, *tolerance;
  } kTypes[] = {
      {DType::f16, "#define DTYPE 0\n#define ATTN_T half\n",
       "__half __float2half(x) static_cast<double>(__half2float(x)) float16 2", "2e-3"},
      {DType::bf16, "#define DTYPE 1\n#define ATTN_T __nv_bfloat16\n",
       "__nv_bfloat16 __float2bfloat16(x) static_cast<double>(__bfloat162float(x)) bfloat16 2", "2e-2"},
      {DType::f32, "#define DTYPE 2\n#define ATTN_T float\n", "float x static_cast<double>(x) float32 4", "2e-3"}};
  for (const auto& type : kTypes) {
    e_.problem.dtype = type.dtype;
    EXPECT_THAT(source_of(e_), HasSubstr(type.macros));
    EXPECT_EQ(fill("@ELEMENT@ @FROM_FLOAT@ @TO_FLOAT@ @TORCH_DTYPE@ @DTYPE_BYTES@"), type.names);
    EXPECT_EQ(fill("@TOLERANCE@"), type.tolerance);
  }
}

TEST_F(ExportText, ATemplatesFiguresAreTheExports) {
  e_.problem.batch = 2;
  e_.problem.heads = 6;
  e_.problem.kv_heads = 3;
  e_.problem.seq_q = 100;
  e_.problem.seq_k = 200;
  EXPECT_EQ(fill("sm_@ARCH@: @REGISTERS@ registers, @STATIC_SHARED@ B, @SPILLS@ B spilled"),
            "sm_89: 96 registers, 36896 B, 12 B spilled");
  EXPECT_EQ(fill("@BATCH@ @HEADS@ @KV_HEADS@ @SEQ_Q@ @SEQ_K@ @HEAD_DIM@ @CAUSAL@"), "2 6 3 100 200 64 0");
  EXPECT_EQ(fill("@DYNAMIC_SHARED@"), std::to_string(e_.launch.dynamic_shared));
  EXPECT_EQ(fill("@BLOCK_X@ @BLOCK_Y@ @BLOCK_Z@"), std::to_string(e_.launch.shape.block[0]) + " " +
                                                       std::to_string(e_.launch.shape.block[1]) + " " +
                                                       std::to_string(e_.launch.shape.block[2]));
  EXPECT_EQ(fill("@SCALE@"), "1.250000000e-01") << "one over the root of 64";
  e_.problem.causal = Causal::bottom_right;
  EXPECT_EQ(fill("@CAUSAL@"), "2");
  e_.kernel.supports.grouped_heads = true;
  EXPECT_EQ(fill("@GROUPED@ @GROUPED_PY@"), "true True");
  e_.kernel.supports.grouped_heads = false;
  EXPECT_EQ(fill("@GROUPED@ @GROUPED_PY@"), "false False");
  e_.kernel.headers = {};
  EXPECT_EQ(fill("@NEEDS@"), "nothing but the CUDA headers");
  e_.kernel.headers = {"cutlass"};
  EXPECT_EQ(fill("@NEEDS@"), "the headers that `build.sh` names");
}

TEST_F(ExportText, ArgumentsArePassedByAddressAndWholeNumbersAsCopies) {
  e_.kernel.args = {"q", "o", "scale", "seq_q"};
  EXPECT_EQ(fill("@ARGUMENTS@"), "&q, &o, &scale, &seq_q_");
  EXPECT_EQ(fill("[@ARGUMENTS_PY@]"), "[\"q\", \"o\", \"scale\", \"seq_q\"]");
}

TEST_F(ExportText, TextsAreEscapedForTheirPlace) {
  e_.kernel.title = "a */ b \"c\" `d`";
  EXPECT_EQ(fill("@TITLE:comment@"), "tiled: a */ b \"c\" `d`");
  EXPECT_THAT(fill("@TITLE:c_comment@"), Not(HasSubstr("*/")));
  EXPECT_EQ(fill("@TITLE:c_string@"), "tiled: a */ b \\\"c\\\" `d`");
  EXPECT_EQ(fill("@SOURCE:comment@ @CUBIN:comment@ @PTX:comment@"), "tiled_sm89.cu tiled_sm89.cubin tiled_sm89.ptx");
  EXPECT_EQ(fill("@PTX_LINE:comment@"), "nvcc -arch=sm_89 -cubin tiled_sm89.ptx");
  EXPECT_EQ(fill("@SYMBOL:comment@ @COMPILER:comment@ @CODE_HASH:comment@"), "attention_tiled NVRTC 12.8 c0de");
}

TEST_F(ExportText, WhatIsNoNameStaysAsItIs) {
  for (const char* text : {"", "@", "@@", "@nothing@", "@ARCH", "@TITLE@", "@TITLE:nothing@", "@ARCH:comment@",
                           "@torch.no_grad()\ndef f(): pass\n@property\n"})
    EXPECT_EQ(fill(text), text);
  EXPECT_EQ(fill("@x@ARCH@y@"), "@x89y@");
  EXPECT_EQ(fill("@ARCH@@ARCH@"), "8989");
}

}  // namespace
}  // namespace attnscope::cli
