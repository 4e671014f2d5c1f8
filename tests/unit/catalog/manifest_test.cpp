#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "catalog/softmax_places.h"
#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Manifest, ReadsEveryField) {
  Result<Kernel> kernel = parse(good_manifest());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->id, "sample");
  EXPECT_EQ(kernel->rung, 3);
  EXPECT_EQ(kernel->entry, "sample");
  ASSERT_EQ(kernel->knobs.size(), 2u);
  EXPECT_EQ(kernel->knobs[0].default_value, 16);
  EXPECT_EQ(kernel->knobs[1].default_value, 1);
  EXPECT_EQ(kernel->knobs[1].text_of(1), "fast");
  EXPECT_EQ(kernel->supports.layouts, std::vector{Layout::BHSD});
  EXPECT_EQ(kernel->launch.block[0], "128");
  EXPECT_EQ(kernel->args.back(), "seq_k");
  EXPECT_EQ(kernel->content_hash.size(), 32u);
}

TEST(Manifest, AStoryMayHaveLines) {
  Json manifest = good_manifest();
  manifest["story"] = "One.\n\tTwo, é × …";
  const Result<Kernel> kernel = parse(manifest);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->story, "One.\n\tTwo, é × …");
}

TEST(Manifest, SaysTheOptionsThatAKernelStartsWith) {
  Json manifest = good_manifest();
  EXPECT_EQ(parse(manifest)->options, CompileOptions{});
  manifest["options"] = {
      {"fast_math", false}, {"fmad", false}, {"maxrregcount", 64}, {"launch_bounds", 2}, {"compiler", "nvcc"}};
  const Result<Kernel> kernel = parse(manifest);
  ASSERT_TRUE(kernel) << kernel.error().message;
  CompileOptions said;
  said.fast_math = said.fmad = false;
  said.maxrregcount = 64;
  said.launch_bounds = 2;
  said.compiler = CompilerChoice::nvcc;
  EXPECT_EQ(kernel->options, said);
  manifest["options"] = {{"fast", true}};
  EXPECT_THAT(parse(manifest).error().message, HasSubstr("options"));
}

TEST(Manifest, MachineCodeTakesTheSourcesPlace) {
  Json manifest = good_manifest();
  manifest.erase("source");
  manifest["cubin"] = "sample.cubin";
  const std::string code("\177ELF\0\xff", 6);
  const auto loaded = [&](const std::string& bytes) {
    return parse_kernel({"03_sample.json", manifest.dump(), "sample.cubin", bytes});
  };
  const Result<Kernel> kernel = loaded(code);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->source, code);
  EXPECT_NE(loaded(code + "x")->content_hash, kernel->content_hash);
  EXPECT_THAT(loaded("").error().message, HasSubstr("03_sample.json/cubin: the file is not machine code"));
  manifest["options"] = {{"fast_math", true}};
  EXPECT_THAT(loaded(code).error().message, HasSubstr("options"));
  manifest.erase("options");
  manifest["source"] = "sample.cu";
  EXPECT_THAT(loaded(code).error().message, HasSubstr("source"));
}

Json softmax_places() {
  return Json::parse(R"JSON({"rows": "TILE", "keys": "8", "ends": "// tile ends",
    "m": {"line": "m = ", "op": "FMNMX", "warp": "row % 4"},
    "l": {"line": "l = ", "op": "FFMA", "lane": "row"},
    "scores": {"buffer": "tile", "byte": "4 * bit_xor(key, row)"}})JSON");
}

TEST(Manifest, SaysWhereItsSoftmaxKeepsARow) {
  const std::string source = "m = 1;\nl = 2;\nbarrier();  // tile ends\n";
  Json manifest = good_manifest();
  manifest["softmax"] = softmax_places();
  const Result<Kernel> kernel = parse(manifest, source);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Config config = config_of(*kernel, {});
  const auto site = softmax_site(*kernel, kernel->default_problem(), config, {0, 3, 37});
  ASSERT_TRUE(site) << site.error().message;
  EXPECT_THAT(site->cta, testing::ElementsAre(2, 3, 0)) << "row 37 in tiles of 16";
  EXPECT_EQ(site->m.warp, 1) << "row 5 of its CTA";
  EXPECT_EQ(site->l.lane, 5);
  EXPECT_EQ(site->m.line, 1);
  EXPECT_EQ(site->ends_line, 3);
  EXPECT_THAT(site->scores.bytes, testing::ElementsAre(20, 16, 28, 24, 4, 0, 12, 8));
  EXPECT_TRUE(site->o.buffer.empty());
  const auto unusable = [&](const std::function<void(SoftmaxPlaces&)>& change) {
    Kernel other = *kernel;
    change(*other.softmax);
    const auto made = softmax_site(other, other.default_problem(), config, {0, 3, 37});
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_THAT(unusable([](SoftmaxPlaces& places) { places.m.warp = "31"; }), "none");
  EXPECT_THAT(unusable([](SoftmaxPlaces& places) { places.m.warp = "32"; }), HasSubstr("softmax/m/warp: a CTA has 32"));
  EXPECT_THAT(unusable([](SoftmaxPlaces& places) { places.unit = "0"; }), HasSubstr("softmax/unit: must be above 0"));
  EXPECT_THAT(unusable([](SoftmaxPlaces& places) { places.unit = "0 - 2"; }), HasSubstr("softmax/unit"));
  const auto refusal = [&](const std::string& text, const std::function<void(Json&)>& change) {
    Json other = manifest;
    change(other["softmax"]);
    const Result<Kernel> parsed = parse(other, text);
    return parsed ? std::string("none") : parsed.error().message;
  };
  EXPECT_THAT(refusal("m = 1;\nm = 2;\nl = 2;\n// tile ends\n", [](Json&) {}),
              HasSubstr("softmax/m/line: \"m = \" does not stand in exactly one line of sample.cu"));
  EXPECT_THAT(refusal(source, [](Json& one) { one["ends"] = "nowhere"; }), HasSubstr("softmax/ends"));
  EXPECT_THAT(refusal(source, [](Json& one) { one.erase("l"); }), HasSubstr("softmax"));
  EXPECT_THAT(refusal(source, [](Json& one) { one["l"]["lane"] = "none"; }), HasSubstr("softmax/l/lane"));
  EXPECT_THAT(refusal(source, [](Json& one) { one["scores"]["byte"] = "column"; }), HasSubstr("softmax/scores/byte"));
  EXPECT_THAT(refusal(source, [](Json& one) { one["more"] = 1; }), HasSubstr("more"));
}

TEST(Manifest, SaysWhatAMicrobenchmarkClocks) {
  const std::filesystem::path file = source_dir() / "assets/micro/micro_copy.json";
  const Result<Kernel> shipped = load_kernel(file);
  ASSERT_TRUE(shipped) << shipped.error().message;
  ASSERT_TRUE(shipped->fragment);
  EXPECT_EQ(shipped->fragment->function, "fragment");
  const Json whole = Json::parse(shipped->manifest);
  const auto with = [&](const char* key, const Json& value) {
    Json manifest = whole;
    if (value.is_null())
      manifest["fragment"].erase(key);
    else
      manifest["fragment"][key] = value;
    const Result<Kernel> kernel = parse_kernel({"micro_copy.json", manifest.dump(), "copy.cu", shipped->source});
    return kernel ? "" : kernel.error().message;
  };
  EXPECT_EQ(with("unit", "bytes"), "");
  EXPECT_THAT(with("cycles", "k"), HasSubstr("micro_copy.json/fragment/cycles: \"k\" is not a buffer of role out"));
  EXPECT_THAT(with("cycles", "nowhere"), HasSubstr("fragment/cycles"));
  EXPECT_THAT(with("executions", 0), HasSubstr("fragment/executions"));
  EXPECT_THAT(with("unit", nullptr), HasSubstr("unit"));
  EXPECT_THAT(with("work", "NOTHING"), HasSubstr("micro_copy.json/fragment/work"));
  EXPECT_THAT(with("work", "BLOCK_N - BLOCK_N"), HasSubstr("is 0"));
  EXPECT_THAT(with("fits", "BLOCK_N +"), HasSubstr("micro_copy.json/fragment/fits"));
  EXPECT_THAT(with("colour", "red"), HasSubstr("colour"));
  Json judged = whole;
  judged["reference"]["output"] = "cycles";
  EXPECT_THAT(parse_kernel({"micro_copy.json", judged.dump(), "copy.cu", shipped->source}).error().message,
              HasSubstr("micro_copy.json/fragment/cycles: \"cycles\" has a reference"));
}

TEST(Manifest, HashFollowsTheContentAndNotTheName) {
  const std::string hash = parse(good_manifest())->content_hash;
  EXPECT_EQ(parse(good_manifest())->content_hash, hash);
  EXPECT_NE(parse(good_manifest(), "// other")->content_hash, hash);
  Json renamed = good_manifest();
  renamed["title"] = "Other";
  EXPECT_NE(parse(renamed)->content_hash, hash);
  EXPECT_NE(content_hash("ab", "c"), content_hash("a", "bc"));
}

struct Fault {
  std::string name;
  std::function<void(Json&)> broken;
  std::string pointer;  // the message must contain it
  std::string reason;
};

class BrokenManifest : public testing::TestWithParam<Fault> {};

TEST_P(BrokenManifest, IsAFailureThatNamesFilePointerAndReason) {
  Json manifest = good_manifest();
  GetParam().broken(manifest);
  Result<Kernel> kernel = parse(manifest);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().stage, Stage::catalog);
  EXPECT_THAT(kernel.error().message,
              AllOf(HasSubstr("dir/03_sample.json/" + GetParam().pointer), HasSubstr(GetParam().reason)));
}

const Fault kFaults[] = {
    {"NoId", [](Json& m) { m.erase("id"); }, "id", "missing"},
    {"IdIsNotTheFilesName", [](Json& m) { m["id"] = "other"; }, "id", "\"sample\""},
    {"IdIsANumber", [](Json& m) { m["id"] = 3; }, "id", ""},
    {"NoEntry", [](Json& m) { m.erase("entry"); }, "entry", "missing"},
    {"EntryIsCode", [](Json& m) { m["entry"] = "f(); int x"; }, "entry", "C++ name"},
    {"SourceInAnotherFolder", [](Json& m) { m["source"] = "../sample.cu"; }, "source", "beside the manifest"},
    {"SourceIsNotTheOneGiven", [](Json& m) { m["source"] = "other.cu"; }, "source", "sample.cu"},
    {"StoryHoldsAnEscape", [](Json& m) { m["story"] = "a\n\x1b[2J"; }, "story", "control character"},
    {"StoryTurnsTheDirection", [](Json& m) { m["story"] = "a\u202e"; }, "story", "direction of writing"},
    {"DocHoldsAnEscape", [](Json& m) { m["knobs"][0]["doc"] = "\x1b]0;x\x07"; }, "knobs/0/doc", "control character"},
    {"DocHoldsALineEnd", [](Json& m) { m["knobs"][1]["doc"] = "a\nb"; }, "knobs/1/doc", "one line"},
    {"WhyHoldsAnEscape",
     [](Json& m) {
       m["requires"][0]["why"] =
           "a\xc2\x9b"
           "b";
     },
     "requires/0/why", "control character"},
    {"WarnHoldsALineEnd",
     [](Json& m) {
       m["warns"] = {{{"expr", "TILE > 16"}, {"why", "a\rb"}}};
     },
     "warns/0/why", "one line"},
    {"UnknownKey", [](Json& m) { m["knob"] = 1; }, "knob", ""},
    {"UnknownProblem", [](Json& m) { m["problem"] = "sort"; }, "problem", "attention"},
    {"GemmWithoutBuffers", [](Json& m) { m["problem"] = "gemm"; }, "buffers", "missing"},
    {"KnobsNotAList", [](Json& m) { m["knobs"] = "TILE"; }, "knobs", "list"},
    {"KnobTwice", [](Json& m) { m["knobs"][1]["name"] = "TILE"; }, "knobs/1", "twice"},
    {"KnobNameIsCode", [](Json& m) { m["knobs"][0]["name"] = "A=1 -DB"; }, "knobs/0/name", "upper-case"},
    {"KnobNameLowerCase", [](Json& m) { m["knobs"][0]["name"] = "tile"; }, "knobs/0/name", "upper-case"},
    {"KnobNameReserved", [](Json& m) { m["knobs"][0]["name"] = "HEAD_DIM"; }, "knobs/0/name", "always passed"},
    {"KnobUnknownKey", [](Json& m) { m["knobs"][0]["vals"] = 1; }, "knobs/0/vals", ""},
    {"NoValues", [](Json& m) { m["knobs"][0]["values"] = Json::array(); }, "knobs/0/values", "empty"},
    {"ValueTwice",
     [](Json& m) {
       m["knobs"][0]["values"] = {16, 16};
     },
     "knobs/0/values/1", "twice"},
    {"ValueIsText",
     [](Json& m) {
       m["knobs"][0]["values"] = {16, "32 -DX"};
     },
     "knobs/0/values/1", "whole number"},
    {"ValueIsAFraction",
     [](Json& m) {
       m["knobs"][0]["values"] = {16, 1.5};
     },
     "knobs/0/values/1", "whole number"},
    {"ValueHuge",
     [](Json& m) {
       m["knobs"][0]["values"] = {16, UINT64_MAX};
     },
     "knobs/0/values/1", "too large"},
    {"LabelledValueHuge", [](Json& m) { m["knobs"][1]["values"][1]["value"] = (int64_t{1} << 53) + 1; },
     "knobs/1/values/1/value", ""},
    {"LabelTwice", [](Json& m) { m["knobs"][1]["values"][1]["label"] = "slow"; }, "knobs/1/values/1", "twice"},
    {"LabelIsCode", [](Json& m) { m["knobs"][1]["values"][1]["label"] = "a b"; }, "knobs/1/values/1/label", "word"},
    {"NoDefault", [](Json& m) { m["knobs"][0].erase("default"); }, "knobs/0/default", "missing"},
    {"DefaultNotAValue", [](Json& m) { m["knobs"][0]["default"] = 17; }, "knobs/0/default", "17"},
    {"DefaultNotALabel", [](Json& m) { m["knobs"][1]["default"] = "quick"; }, "knobs/1/default", "quick"},
    {"NoSupports", [](Json& m) { m.erase("supports"); }, "supports", "missing"},
    {"SupportsNothing", [](Json& m) { m["supports"]["head_dim"] = Json::array(); }, "supports/head_dim", "empty"},
    {"HeadDimNegative", [](Json& m) { m["supports"]["head_dim"] = {-64}; }, "supports/head_dim/0", "1…1024"},
    {"UnknownDtype", [](Json& m) { m["supports"]["dtype"] = {"f8"}; }, "supports/dtype/0", "f8"},
    {"UnknownCausal", [](Json& m) { m["supports"]["causal"] = {"sideways"}; }, "supports/causal/0", "sideways"},
    {"UnknownLayout", [](Json& m) { m["supports"]["layout"] = {"SHBD"}; }, "supports/layout/0", "SHBD"},
    {"GridOfTwo",
     [](Json& m) {
       m["launch"]["grid"] = {1, 1};
     },
     "launch/grid", "three"},
    {"GridUnknownName", [](Json& m) { m["launch"]["grid"][0] = "seq_query"; }, "launch/grid/0", "seq_query"},
    {"GridAssigns", [](Json& m) { m["launch"]["grid"][0] = "TILE = 3"; }, "launch/grid/0", "assigns"},
    {"GridBroken", [](Json& m) { m["launch"]["grid"][1] = "ceil_div(seq_q,"; }, "launch/grid/1", "cannot be evaluated"},
    {"GridIsAFraction", [](Json& m) { m["launch"]["grid"][0] = "seq_q / 3"; }, "launch/grid/0", "whole number"},
    {"BlockNegative", [](Json& m) { m["launch"]["block"][0] = "0 - TILE"; }, "launch/block/0", "-16"},
    {"LaunchUnknownKey", [](Json& m) { m["launch"]["cluster"] = 2; }, "launch/cluster", ""},
    {"RequiresUnknownName", [](Json& m) { m["requires"][0]["expr"] = "TYLE > 1"; }, "requires/0/expr", "TYLE"},
    {"RequiresWithoutWhy", [](Json& m) { m["requires"][0].erase("why"); }, "requires/0/why", "missing"},
    {"WarnsBroken",
     [](Json& m) {
       m["warns"] = {{{"expr", "TILE +"}, {"why", "x"}}};
     },
     "warns/0/expr", "TILE"},
    {"MapUnknownName", [](Json& m) { m["shared_map"][0]["bytes"] = "TILE * depth"; }, "shared_map/0/bytes", "depth"},
    {"MapNameTwice", [](Json& m) { m["shared_map"].push_back(m["shared_map"][0]); }, "shared_map/1/name", "twice"},
    {"MapOverDynamic", [](Json& m) { m["launch"]["dynamic_shared"] = 100; }, "shared_map", "100 B"},
    {"UnknownArgument", [](Json& m) { m["args"].push_back("stride"); }, "args/7", "stride"},
    {"NoOutput",
     [](Json& m) {
       m["args"] = {"q", "k"};
     },
     "args", "no output"},
    {"NoArguments", [](Json& m) { m.erase("args"); }, "args", "missing"},
    {"MinArchText", [](Json& m) { m["min_arch"] = "sm_80"; }, "min_arch", "whole number"},
    {"Accumulate", [](Json& m) { m["accumulate"] = "f64"; }, "accumulate", "f32 or f16"},
    {"TensorProducts", [](Json& m) { m["tensor_products"] = "NO_KNOB"; }, "tensor_products", "NO_KNOB"},
    {"TensorProductsAList", [](Json& m) { m["tensor_products"] = Json::array(); }, "tensor_products", "an expression"},
    {"AccumulateAKnobOfOtherThings", [](Json& m) { m["accumulate"] = "TILE"; }, "accumulate",
     "neither f32 nor f16: 16"},
};

INSTANTIATE_TEST_SUITE_P(All, BrokenManifest, testing::ValuesIn(kFaults),
                         [](const auto& one) { return one.param.name; });

TEST(Manifest, NotJsonNamesTheFile) {
  for (const std::string text : {"", "{", "[1]", "{\"id\": \"sample\", \"id\": \"sample\"}"}) {
    Result<Kernel> kernel = parse_kernel({"dir/sample.json", text, "sample.cu", ""});
    ASSERT_FALSE(kernel);
    EXPECT_THAT(kernel.error().message, HasSubstr("dir/sample.json"));
  }
}

TEST(Manifest, SourceMustBeText) {
  EXPECT_THAT(parse(good_manifest(), std::string("a\0b", 3)).error().message, HasSubstr("zero byte"));
  EXPECT_THAT(parse(good_manifest(), "\xff\xfe").error().message, HasSubstr("UTF-8"));
}

TEST(Manifest, SizesAreCapped) {
  constexpr size_t kMegabyte = 1 << 20;
  const std::string most_source(4 * kMegabyte, ' '), most_manifest(kMegabyte, ' ');
  EXPECT_THAT(parse(good_manifest(), most_source + " ").error().message, HasSubstr("4 MB"));
  EXPECT_TRUE(parse(good_manifest(), most_source));
  const auto refusal = [](const std::string& manifest) {
    return parse_kernel({"a.json", manifest, "a.cu", ""}).error().message;
  };
  EXPECT_THAT(refusal(most_manifest + " "), HasSubstr("1 MB"));
  EXPECT_THAT(refusal(most_manifest), Not(HasSubstr("1 MB")));
}

}  // namespace
}  // namespace attnscope::catalog
