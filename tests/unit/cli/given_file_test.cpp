// A file in place of a kernel's id: which manifest is used, what is refused, and what the session finds.
#include "cli/given_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/read_import.h"
#include "core/json.h"
#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSource =
    "__global__ void scale(float* y, const float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n";

std::string manifest(const std::string& id, const std::string& entry) {
  return R"({"id": ")" + id + R"(", "title": "t", "source": "scale.cu", "entry": ")" + entry +
         R"(", "story": "", "problem": "custom", "knobs": [], "sizes": {"n": 64},
          "buffers": [{"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]},
                      {"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]}],
          "launch": {"grid": ["1", "1", "1"], "block": ["64", "1", "1"]}, "args": ["y", "x", "n"],
          "reference": "none"})";
}

class Given : public testing::Test {
 protected:
  Given() { given_.file = folder_.write("scale.cu", kSource).string(); }
  FileKernel kernel() const {
    auto made = kernel_of(given_, {});
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(FileKernel{});
  }
  Failure refusal() const {
    const auto made = kernel_of(given_, {});
    EXPECT_FALSE(made);
    return made ? Failure{} : made.error();
  }
  std::string kept(const FileKernel& one, const std::string& name) const {
    return testing_support::read_text(std::filesystem::path(one.folder) / name);
  }

  testing_support::TempDir folder_;
  const testing_support::Variable home_{"ATTNSCOPE_HOME", folder_ / "home"};
  GivenFile given_;
};

TEST_F(Given, TheManifestThatNamesTheFileCounts) {
  folder_.write("a_other.json", R"({"source": "other.cu", "entry": "scale", "text": "scale.cu"})");
  folder_.write("b_broken.json", "{ scale.cu");
  folder_.write("c_list.json", R"(["scale.cu"])");
  const auto own = folder_.write("mine.json", manifest("mine", "scale"));
  const FileKernel found = kernel();
  EXPECT_EQ(found.manifest, own.string());
  EXPECT_EQ(found.id, "mine");
  EXPECT_TRUE(found.guessed.empty()) << "nothing was imported";
  EXPECT_EQ(kept(found, "mine.json"), manifest("mine", "scale"));
  EXPECT_EQ(kept(found, "scale.cu"), kSource);
  EXPECT_EQ(text_of(given_), kSource + manifest("mine", "scale"));
  EXPECT_EQ(of_file_text(found), "manifest       " + own.string() + "\n");
}

TEST_F(Given, AnEntryChoosesAmongManifests) {
  folder_.write("a.json", manifest("first", "scale<float>"));
  const auto second = folder_.write("b.json", manifest("second", "twice"));
  given_.entry = "twice";
  EXPECT_EQ(text_of(given_), kSource + manifest("second", "twice"));
  for (const char* entry : {"scale", "scale<float>", ""}) {
    given_.entry = entry;
    EXPECT_EQ(text_of(given_), kSource + manifest("first", "scale<float>")) << entry;
  }
  given_.entry = "third";
  EXPECT_EQ(text_of(given_), kSource);
  given_.entry.clear();
  given_.function = "launch";
  EXPECT_EQ(text_of(given_), kSource) << "a function's launches are not the one kernel's";
}

TEST_F(Given, AManifestWithoutAnEntryIsPassedOver) {
  folder_.write("a.json", R"({"source": "scale.cu"})");
  folder_.write("b.json", R"({"source": "scale.cu", "entry": 4})");
  const auto whole = folder_.write("mine.json", manifest("mine", "scale"));
  EXPECT_EQ(kernel().manifest, whole.string());
}

TEST_F(Given, AnIdThatIsTakenGetsTheTextsHash) {
  folder_.write("tiled.json", manifest("tiled", "scale"));
  const FileKernel found = kernel();
  EXPECT_THAT(found.id, StartsWith("tiled_"));
  EXPECT_EQ(found.id.size(), std::string("tiled_").size() + 8);
  EXPECT_EQ(parse_json(kept(found, found.id + ".json"), "kept").value()["id"], found.id);
}

TEST_F(Given, OptionsThatDoNotApplyAreRefused) {
  given_.launch.grid = "4";
  EXPECT_THAT(refusal().message, HasSubstr("are for a file of machine code"));
  folder_.write("mine.json", manifest("mine", "scale"));
  EXPECT_THAT(refusal().message, HasSubstr("--grid and the like, and "));
  given_.launch = {};
  given_.entry = "twice";
  given_.function = "launch";
  EXPECT_THAT(refusal().message, HasSubstr("--function is for the host code of a source"));
  given_ = {};
  given_.file = (folder_.path() / "nowhere.cu").string();
  EXPECT_THAT(refusal().message, HasSubstr("nowhere.cu"));
  EXPECT_EQ(text_of(given_), "") << "an editor may be writing it";
}

TEST_F(Given, MachineCodeHasNoHostFunction) {
  given_.file = std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/emulator/minimal_sm89.cubin";
  given_.function = "launch";
  EXPECT_THAT(refusal().message, HasSubstr("--function is for the host code of a source"));
  given_.function.clear();
  given_.launch = {"16", "128", "", "q:in:f16:n,k:in:f16:n,v:in:f16:n,o:out:f16:n,0.1:f32,n=1024,h=1,m=32,s=32"};
  auto read = read_import(given_);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(rename_kernel(*read, "named"));
  EXPECT_EQ(read->name, "minimal_sm89.cubin");
  EXPECT_EQ(read->imported.id, "named");
  EXPECT_EQ(read->whole.text, testing_support::read_text(given_.file));
}

TEST_F(Given, PastedHeadersGiveTheSourceAnotherName) {
  given_.file = folder_.write("with.cu", std::string("#include \"part.cuh\"\n") + kSource).string();
  folder_.write("part.cuh", "constexpr int kPart = 4;\n");
  const auto read = read_import(given_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "whole_with.cu");
  EXPECT_EQ(read->imported.id, "with") << "by the file's own name";
  EXPECT_THAT(read->whole.text, HasSubstr("kPart"));
  given_.file = (folder_.path() / "scale.cu").string();
  EXPECT_EQ(read_import(given_)->name, "scale.cu");
}

TEST_F(Given, AFileAKernelAndAPresetExcludeEachOther) {
  ExperimentOptions options;
  options.kernel = "tiled";
  EXPECT_EQ(named_by({}, options)->options.kernel, "tiled") << "without a file all stays";
  EXPECT_EQ(named_by({}, options)->kernel.id, "");
  const auto refused = [&] {
    const auto named = named_by(given_, options);
    return named ? std::string() : named.error().message;
  };
  EXPECT_EQ(refused(), given_.file + ": a file, and --kernel or --preset too");
  options.kernel.clear();
  options.preset = "start";
  EXPECT_EQ(refused(), given_.file + ": a file, and --kernel or --preset too");
  options.preset.clear();
  folder_.write("mine.json", manifest("mine", "scale"));
  const auto named = named_by(given_, options);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->options.kernel, "mine");
  EXPECT_EQ(named->options.kernel_dirs.back(), named->kernel.folder);
  given_.file = "some.json";
  EXPECT_EQ(named_by(given_, options)->options.preset, "some.json");
}

}  // namespace
}  // namespace attnscope::cli
