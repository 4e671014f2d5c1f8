#include "catalog/own_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/atomic_file.h"
#include "support.h"
#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::read_text;

class OwnCopyTest : public testing::Test {
 protected:
  ~OwnCopyTest() override { platform::inject_write_fault(std::nullopt); }
  std::filesystem::path folder() const { return dir_ / "config/kernels"; }
  static size_t files_in(const std::filesystem::path& folder) {
    std::error_code none;
    size_t count = 0;
    for (auto at = std::filesystem::directory_iterator(folder, none); !none && at != std::filesystem::end(at); ++at)
      ++count;
    return count;
  }
  testing_support::TempDir dir_;
};

TEST_F(OwnCopyTest, ACopyIsAKernelOfItsOwn) {
  const Kernel tiled = shipped("02_tiled");
  const auto copy = copy_kernel(tiled, folder(), {tiled});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->id, "tiled_copy");
  const Catalog catalog = load_catalog({source_dir() / "kernels", folder()});
  for (const Failure& failure : catalog.failures) ADD_FAILURE() << failure.message;
  const Kernel* made = find_kernel(catalog.kernels, "tiled_copy");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->source, tiled.source);
  EXPECT_EQ(made->knobs.size(), tiled.knobs.size());
  EXPECT_EQ(made->title, "tiled_copy: " + tiled.title);
  EXPECT_EQ(source_file(*made), copy->source);
  const auto original = original_of(*made);
  ASSERT_TRUE(original && *original);
  EXPECT_EQ(**original, tiled.source);
}

TEST_F(OwnCopyTest, ACopyLoadsWhateverItsSourceBecomes) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  for (const Kernel& kernel : catalog.kernels) {
    const auto copy = copy_kernel(kernel, folder(), catalog.kernels);
    if (copy) {
      EXPECT_TRUE(save_source(copy->source, kernel.source, "// nothing is left\n"));
    }
  }
  for (const Failure& failure : load_catalog({folder()}).failures) ADD_FAILURE() << failure.message;
}

TEST_F(OwnCopyTest, EveryShippedSourceCanBeCopied) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  size_t copies = 0;
  for (const Kernel& kernel : catalog.kernels) {
    const auto copy = copy_kernel(kernel, folder(), catalog.kernels);
    EXPECT_EQ(copy.has_value(), kernel.library.is_source()) << kernel.id;
    copies += copy ? 1 : 0;
  }
  EXPECT_EQ(load_catalog({folder()}).kernels.size(), copies);
  EXPECT_GE(copies, 8u);
}

TEST_F(OwnCopyTest, ASecondCopyHasAnotherIdAndNoFileIsOverwritten) {
  const Kernel tiled = shipped("02_tiled");
  ASSERT_TRUE(copy_kernel(tiled, folder(), {tiled}));
  ASSERT_TRUE(platform::write_file(folder() / "tiled_copy2.cu", std::string_view("// mine")));
  const auto third = copy_kernel(tiled, folder(), {tiled});
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->id, "tiled_copy3");
  EXPECT_EQ(read_text(folder() / "tiled_copy2.cu"), "// mine");
  Kernel known = tiled;
  known.id = "tiled_copy4";
  EXPECT_EQ(copy_kernel(tiled, folder(), {tiled, known})->id, "tiled_copy5") << "another folder has that kernel";
}

TEST_F(OwnCopyTest, AnIdThatBeginsWithADigitStaysWhole) {
  Kernel kernel = shipped("02_tiled");
  kernel.id = "3_sums";
  const auto copy = copy_kernel(kernel, folder(), {});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(load_catalog({folder()}).kernels.front().id, copy->id);
}

TEST_F(OwnCopyTest, AKernelOfTheUsersIsNoCopy) {
  const auto original = original_of(shipped("02_tiled"));
  ASSERT_TRUE(original);
  EXPECT_FALSE(*original);
}

TEST_F(OwnCopyTest, WithoutASourceThereIsNothingToCopy) {
  const auto library = copy_kernel(shipped("cublas_tile"), folder(), {});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().stage, Stage::input);
  Kernel cubin = shipped("02_tiled");
  cubin.source = "\177ELF...";
  const auto machine_code = copy_kernel(cubin, folder(), {});
  ASSERT_FALSE(machine_code);
  EXPECT_THAT(machine_code.error().hint, HasSubstr("machine code"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(OwnCopyTest, AFullDiskLeavesNoPartOfACopy) {
  const Kernel tiled = shipped("02_tiled");
  for (const char* part : {"tiled_copy.cu.original", "tiled_copy.cu", "tiled_copy.json"}) {
    platform::inject_write_fault(platform::WriteFault{part, 10});
    const auto copy = copy_kernel(tiled, folder(), {tiled});
    ASSERT_FALSE(copy) << part;
    EXPECT_EQ(copy.error().stage, Stage::store);
    EXPECT_THAT(copy.error().message, HasSubstr("tiled_copy"));
    EXPECT_THAT(copy.error().hint, Not(testing::IsEmpty()));
    EXPECT_EQ(files_in(folder()), 0u) << part;
  }
  platform::inject_write_fault(std::nullopt);
  EXPECT_EQ(copy_kernel(tiled, folder(), {tiled})->id, "tiled_copy");
}

TEST_F(OwnCopyTest, AFolderThatCannotBeMadeIsNamed) {
  dir_.write("file", "in the way");
  const auto copy = copy_kernel(shipped("02_tiled"), dir_ / "file/kernels", {});
  ASSERT_FALSE(copy);
  EXPECT_THAT(copy.error().message, HasSubstr("file/kernels"));
}

TEST_F(OwnCopyTest, ASaveReplacesWhatItIsBasedOn) {
  const auto file = dir_.write("a.cu", "one");
  const auto saved = save_source(file, "one", "two");
  ASSERT_TRUE(saved);
  EXPECT_TRUE(saved->written);
  EXPECT_EQ(read_text(file), "two");
}

TEST_F(OwnCopyTest, WhatAnotherProgramWroteIsNotReplaced) {
  const auto file = dir_.write("a.cu", "theirs");
  const auto saved = save_source(file, "one", "two");
  ASSERT_TRUE(saved);
  EXPECT_FALSE(saved->written);
  EXPECT_EQ(saved->on_disk, "theirs");
  EXPECT_EQ(read_text(file), "theirs");
  dir_.write("a.cu", "two");
  EXPECT_TRUE(save_source(file, "one", "two")->written) << "both wrote the same";
}

TEST_F(OwnCopyTest, AFileThatIsGoneIsWrittenAgain) {
  const auto saved = save_source(dir_ / "gone.cu", "one", "two");
  ASSERT_TRUE(saved);
  EXPECT_EQ(read_text(dir_ / "gone.cu"), "two");
}

TEST_F(OwnCopyTest, ARefusedSaveKeepsTheFile) {
  const auto file = dir_.write("a.cu", "one");
  platform::inject_write_fault(platform::WriteFault{"a.cu", 1});
  const auto full = save_source(file, "one", "two");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("a.cu"));
  EXPECT_EQ(read_text(file), "one");
  platform::inject_write_fault(std::nullopt);
  EXPECT_EQ(save_source(file, "one", std::string("a\0b", 3)).error().stage, Stage::catalog);
  EXPECT_EQ(save_source(file, "one", "\xff").error().stage, Stage::catalog);
  EXPECT_EQ(save_source(file, "one", std::string(kMaxSourceBytes + 1, 'x')).error().stage, Stage::catalog);
  EXPECT_EQ(read_text(file), "one");
}

}  // namespace
}  // namespace attnscope::catalog
