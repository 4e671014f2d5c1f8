#include "cli/import_cache.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::cli {
namespace {

class Cache : public testing::Test {
 protected:
  Cache() {
    given_.file = folder_.write("scale.cu", "").string();
    whole_.text = "__global__ void scale() {}";
  }
  ImportCache cache() const {
    catalog::Project project(given_.file);
    return {given_, whole_, project};
  }

  testing_support::TempDir folder_;
  const testing_support::Variable home_{"ATTNSCOPE_HOME", folder_ / "home"};
  GivenFile given_;
  catalog::WholeSource whole_;
};

TEST_F(Cache, KeepsAnAnswerForTheSameTextAndOptions) {
  EXPECT_FALSE(cache().get());
  ImportedFile file{"whole_scale.cu", {}, {}};
  file.whole.text = whole_.text;
  file.whole.pasted = {"a.h"};
  file.whole.changed = true;
  file.imported.id = "scale";
  file.imported.manifest = "{}";
  file.imported.read = {"n is 5"};
  file.imported.launched = true;
  file.compiled = true;
  file.failure = Failure{Stage::launch, "it reads past the end of x", "Make x longer."};
  cache().put(file);
  const auto kept = cache().get();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->name, file.name);
  EXPECT_EQ(kept->whole.text, file.whole.text);
  EXPECT_EQ(kept->whole.pasted, file.whole.pasted);
  EXPECT_TRUE(kept->whole.changed);
  EXPECT_EQ(kept->imported.id, "scale");
  EXPECT_EQ(kept->imported.read, file.imported.read);
  EXPECT_TRUE(kept->imported.launched);
  EXPECT_TRUE(kept->compiled);
  EXPECT_EQ(kept->failure, file.failure);
  given_.entry = "scale";
  EXPECT_FALSE(cache().get());
  given_.entry.clear();
  given_.function = "run";
  EXPECT_FALSE(cache().get());
  given_.function.clear();
  given_.include = {"/headers"};
  EXPECT_FALSE(cache().get());
  given_.include.clear();
  EXPECT_TRUE(cache().get());
  whole_.missing = {"a.h"};
  EXPECT_FALSE(cache().get()) << "it may be there another day";
  whole_.missing.clear();
  whole_.text += " ";
  EXPECT_FALSE(cache().get());
}

TEST_F(Cache, KeepsNothingThatAnotherDayMayImprove) {
  ImportedFile file{"scale.cu", {}, {}};
  file.hurried = true;
  cache().put(file);
  EXPECT_FALSE(cache().get());
}

// Another file of the project may launch the kernel, and has changed only just.
TEST_F(Cache, KeepsNothingBesideAFileThatIsBeingWritten) {
  folder_.write(".git/HEAD", "");
  folder_.write("main.cu", "");
  cache().put(ImportedFile{"scale.cu", {}, {}});
  EXPECT_FALSE(cache().get());
}

}  // namespace
}  // namespace attnscope::cli
