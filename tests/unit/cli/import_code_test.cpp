// A first manifest from machine code: the code gives the parameters, the command line or Triton the rest.
#include "cli/import_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json.h"
#include "support/temp_dir.h"

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const std::filesystem::path kCubin =
    std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/emulator/minimal_sm89.cubin";

// attention_minimal takes four addresses, a float and four ints.
class ImportCode : public testing::Test {
 protected:
  Result<catalog::Imported> import() const {
    return import_code(file_, testing_support::read_text(kCubin), entry_, launch_, id_);
  }
  Json manifest() const {
    const auto imported = import();
    EXPECT_TRUE(imported) << imported.error().message << " " << imported.error().hint;
    return imported ? parse_json(imported->manifest, "manifest").value() : Json::object();
  }
  Failure refusal() const {
    const auto imported = import();
    EXPECT_FALSE(imported);
    return imported ? Failure{} : imported.error();
  }
  std::string with_args(const std::string& args) {
    launch_.args = args;
    return refusal().message;
  }

  testing_support::TempDir folder_;
  std::filesystem::path file_ = kCubin;
  std::string entry_, id_;
  LaunchText launch_{"16", "128", "",
                     "q:in:f16:n, k:in:f16:n:iota, v:in:f16:n, o:out:f16:n, 0.125:f32, n=1024, heads=1, m = -2, s=0"};
};

TEST_F(ImportCode, TheManifestHasWhatTheCodeAndTheCommandLineSay) {
  const Json json = manifest();
  EXPECT_EQ(json["id"], "minimal_sm89");
  EXPECT_EQ(json["title"], "attention_minimal of minimal_sm89.cubin");
  EXPECT_EQ(json["cubin"], "minimal_sm89.cubin");
  EXPECT_EQ(json["entry"], "attention_minimal");
  EXPECT_EQ(json["problem"], "custom");
  EXPECT_EQ(json["reference"], "none");
  EXPECT_EQ(json["knobs"], Json::array());
  EXPECT_EQ(json["sizes"], (Json{{"n", 1024}, {"heads", 1}, {"m", -2}, {"s", 0}}));
  EXPECT_EQ(json["launch"], (Json{{"grid", {"16", "1", "1"}}, {"block", {"128", "1", "1"}}}));
  EXPECT_EQ(json["args"], (Json{"q", "k", "v", "o", {{"value", "0.125"}, {"type", "f32"}}, "n", "heads", "m", "s"}));
  ASSERT_EQ(json["buffers"].size(), 4u);
  EXPECT_EQ(json["buffers"][0], (Json{{"name", "q"}, {"role", "in"}, {"dtype", "f16"}, {"shape", {"n"}}}));
  EXPECT_EQ(json["buffers"][1]["init"], "iota");
  EXPECT_EQ(json["buffers"][3]["role"], "out");
  const auto imported = import();
  EXPECT_EQ(imported->entry, "attention_minimal");
  EXPECT_THAT(imported->read,
              ElementsAre("machine code for sm_89: 9 parameters, 78 registers, 16 B of static shared memory"));
  EXPECT_TRUE(imported->others.empty());
  id_ = "mine";
  EXPECT_EQ(manifest()["id"], "mine");
}

TEST_F(ImportCode, GridsAreUpToThreeExpressions) {
  launch_.grid = "ceil_div(n, 256), 8";
  launch_.block = "8,8,2";
  launch_.shared = "n * 4";
  const Json launch = manifest()["launch"];
  EXPECT_EQ(launch["grid"], (Json{"ceil_div(n, 256)", "8", "1"})) << "a comma in brackets is the call's";
  EXPECT_EQ(launch["block"], (Json{"8", "8", "2"}));
  EXPECT_EQ(launch["dynamic_shared"], "n * 4");
  launch_.block = "8,8,2,1";
  EXPECT_EQ(refusal().message, "attention_minimal: --block must have one to three numbers or expressions");
  EXPECT_THAT(refusal().hint, HasSubstr("--block 256"));
  launch_.block = "";
  EXPECT_EQ(refusal().message, "attention_minimal: --block must have one to three numbers or expressions");
  launch_.grid = "";
  EXPECT_EQ(refusal().message, "attention_minimal: --grid must have one to three numbers or expressions");
  EXPECT_THAT(refusal().hint, HasSubstr("--grid 16"));
}

TEST_F(ImportCode, EveryParameterIsNamedAndHasTheCodesSize) {
  const std::string rest = ", k:in:f16:n, v:in:f16:n, o:out:f16:n, 0.125:f32, n=1024, heads=1, m=32, s=32";
  EXPECT_EQ(with_args(""), "attention_minimal: machine code does not say what its parameters are");
  EXPECT_THAT(refusal().hint, HasSubstr("have 8, 8, 8, 8, 4, 4, 4, 4, 4 bytes"));
  EXPECT_THAT(refusal().hint, HasSubstr("p3:inout:f32:1024, p4=1024, p5=1024"));
  EXPECT_EQ(with_args("q:in:f16:n"), "attention_minimal: --args names 1 parameter, and it has 9");
  EXPECT_EQ(with_args("=4" + rest), "attention_minimal: \"=4\" is not NAME=SIZE with a whole number");
  EXPECT_EQ(with_args("n=4.5" + rest), "attention_minimal: \"n=4.5\" is not NAME=SIZE with a whole number");
  EXPECT_EQ(with_args("2:f61" + rest), "attention_minimal: \"f61\" is not a type");
  EXPECT_EQ(with_args("2:f16" + rest), "attention_minimal: \"2:f16\" has 2 bytes, and parameter 0 has 8");
  EXPECT_EQ(with_args("q" + rest), "attention_minimal: \"q\" is not NAME=SIZE, VALUE:TYPE or NAME:ROLE:TYPE:ELEMENTS");
  EXPECT_EQ(with_args("q:in:f16" + rest),
            "attention_minimal: \"q:in:f16\" is not NAME=SIZE, VALUE:TYPE or NAME:ROLE:TYPE:ELEMENTS");
  EXPECT_EQ(with_args("q:in:f16:n:iota:x" + rest),
            "attention_minimal: \"q:in:f16:n:iota:x\" is not NAME=SIZE, VALUE:TYPE or NAME:ROLE:TYPE:ELEMENTS");
  EXPECT_EQ(with_args("q:in:f16:n, k:in:f16:n, v:in:f16:n, o:out:f16:n, x:in:f32:n, n=1, h=1, m=1, s=1"),
            "attention_minimal: \"x:in:f32:n\" has 8 bytes, and parameter 4 has 4");
  // A size may be of 8 bytes too, and a value stands for an address of that many bytes.
  launch_.args = "length=7, 2.5:f64" + rest.substr(rest.find(", v"));
  const Json args = manifest()["args"];
  EXPECT_EQ(args[0], "length");
  EXPECT_EQ(args[1], (Json{{"value", "2.5"}, {"type", "f64"}}));
}

TEST_F(ImportCode, WithoutABufferOneIsMadeUpToBeJudged) {
  launch_.args = "a=1, b=2, c=3, d=4, 1:f32, n=1, h=1, m=1, s=1";
  const Json buffers = manifest()["buffers"];
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_EQ(buffers[0],
            (Json{{"name", "nothing"}, {"role", "inout"}, {"dtype", "f32"}, {"shape", {1}}, {"init", "zeros"}}));
}

TEST_F(ImportCode, ATritonCacheSaysWarpsSharedMemoryAndName) {
  file_ = folder_.path() / "kernel.cubin";
  launch_.block.clear();
  folder_.write("kernel.json", R"({"name": "attention_minimal", "num_warps": 4, "shared": 2048, "num_stages": 3})");
  Json launch = manifest()["launch"];
  EXPECT_EQ(launch["block"], (Json{"128", "1", "1"})) << "32 threads a warp";
  EXPECT_EQ(launch["dynamic_shared"], "2048");
  EXPECT_THAT(import()->read.back(), "Triton's metadata: 4 warps, 2048 B of dynamic shared memory");
  launch_.block = "64";
  launch_.shared = "16";
  launch = manifest()["launch"];
  EXPECT_EQ(launch["block"][0], "64") << "what was said counts";
  EXPECT_EQ(launch["dynamic_shared"], "16");
  launch_.shared.clear();
  folder_.write("kernel.json", R"({"name": "attention_minimal", "num_warps": 4, "shared": 0})");
  EXPECT_FALSE(manifest()["launch"].contains("dynamic_shared"));
  folder_.write("kernel.json", R"({"name": "another", "num_warps": 4})");
  EXPECT_THAT(refusal().message, HasSubstr("another"));
  entry_ = "attention_minimal";
  EXPECT_EQ(manifest()["entry"], "attention_minimal") << "--entry counts";
}

TEST_F(ImportCode, AFileBesideItThatIsNoTritonsSaysNothing) {
  file_ = folder_.path() / "kernel.cubin";
  for (const char* text : {"not json", "[4]", R"({"name": "another"})"}) {
    folder_.write("kernel.json", text);
    EXPECT_EQ(manifest()["entry"], "attention_minimal") << text;
    EXPECT_EQ(import()->read.size(), 1u) << text;
  }
  for (const char* warps : {"0", "33", "\"4\""}) {
    folder_.write("kernel.json", std::string(R"({"num_warps": )") + warps + "}");
    EXPECT_THAT(refusal().message, HasSubstr("num_warps")) << warps;
  }
}

TEST(CodeFile, IsToldByItsNamesEnding) {
  for (const char* name : {"a.cu", "a.cubin", "b/a.fatbin"}) EXPECT_TRUE(is_code_file(name)) << name;
  for (const char* name : {"a.cuh", "a.json", "cubin", "a", ""}) EXPECT_FALSE(is_code_file(name)) << name;
}

TEST(LaunchTextTest, IsEmptyOnlyWithoutAnyPart) {
  EXPECT_TRUE(LaunchText{}.empty());
  EXPECT_FALSE((LaunchText{"1", "", "", ""}.empty()));
  EXPECT_FALSE((LaunchText{"", "1", "", ""}.empty()));
  EXPECT_FALSE((LaunchText{"", "", "1", ""}.empty()));
  EXPECT_FALSE((LaunchText{"", "", "", "1"}.empty()));
}

}  // namespace
}  // namespace attnscope::cli
