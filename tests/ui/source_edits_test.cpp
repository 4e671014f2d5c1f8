#include "ui/source_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::ui {
namespace {

using News = SourceEdits::News;
using session::SavedSource;

constexpr double kPause = SourceEdits::kPause;

SourceEdits opened(const std::string& source = "one\n") {
  SourceEdits edits;
  std::string plain = source;
  std::erase(plain, '\r');
  edits.open("tiled_copy", source, plain);
  return edits;
}

TEST(SourceEdits, WhatIsTypedIsWrittenOnceAfterAPause) {
  SourceEdits edits = opened();
  EXPECT_FALSE(edits.due(9, true, 1)) << "nothing was typed";
  edits.typed("two\n", 10);
  EXPECT_TRUE(edits.unsaved());
  EXPECT_FALSE(edits.due(10 + kPause / 2, false, 1));
  EXPECT_NEAR(edits.wait(10 + kPause / 2), kPause / 2, 1e-9);
  edits.typed("three\n", 10 + kPause / 2);
  EXPECT_FALSE(edits.due(10 + kPause, false, 1)) << "a key starts the pause anew";
  const auto save = edits.due(10 + 2 * kPause, false, 1);
  ASSERT_TRUE(save);
  EXPECT_EQ(save->kernel, "tiled_copy");
  EXPECT_EQ(save->based_on, "one\n");
  EXPECT_EQ(save->text, "three\n");
  EXPECT_FALSE(edits.due(20, true, 2)) << "it is under way";
  EXPECT_EQ(edits.wait(20), 0);
  EXPECT_EQ(edits.observe("three\n", SavedSource{1, {}, {}}), News::none);
  EXPECT_FALSE(edits.unsaved());
  EXPECT_EQ(edits.file(), "three\n");
}

TEST(SourceEdits, LeavingWritesAtOnce) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  EXPECT_TRUE(edits.due(10, true, 1));
}

TEST(SourceEdits, WhatIsTypedDuringASaveIsWrittenAfterIt) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  ASSERT_TRUE(edits.due(10, true, 1));
  edits.typed("three\n", 10.1);
  EXPECT_EQ(edits.observe("two\n", SavedSource{1, {}, {}}), News::none);
  EXPECT_FALSE(edits.conflict()) << "the file holds what was written";
  const auto save = edits.due(12, false, 2);
  ASSERT_TRUE(save);
  EXPECT_EQ(save->based_on, "two\n");
  EXPECT_EQ(save->text, "three\n");
}

TEST(SourceEdits, LeavingDuringASaveWritesWhatWasTypedSince) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  ASSERT_TRUE(edits.due(10.5, false, 1));
  edits.typed("three\n", 10.6);
  EXPECT_FALSE(edits.due(20, false, 2)) << "the pause waits for the save";
  const auto save = edits.due(10.6, true, 2);
  ASSERT_TRUE(save);
  EXPECT_EQ(save->based_on, "two\n") << "the save before it is made first";
  EXPECT_EQ(save->text, "three\n");
  EXPECT_FALSE(edits.due(10.7, true, 3)) << "once";
  EXPECT_EQ(edits.observe("two\n", SavedSource{1, {}, {}}), News::none);
  EXPECT_TRUE(edits.unsaved()) << "the answer to the last one counts";
  EXPECT_EQ(edits.observe("three\n", SavedSource{2, {}, {}}), News::none);
  EXPECT_FALSE(edits.unsaved());
  EXPECT_FALSE(edits.conflict());
  EXPECT_EQ(edits.file(), "three\n");
}

TEST(SourceEdits, TheOwnTextOfASaveBeforeARefusedOneIsNoConflict) {
  for (const bool first_worked : {false, true}) {
    SourceEdits edits = opened();
    const std::string held = first_worked ? "two\n" : "one\n";
    edits.typed("two\n", 10);
    ASSERT_TRUE(edits.due(10, true, 1));
    edits.typed("three\n", 10.1);
    ASSERT_TRUE(edits.due(10.1, true, 2));
    if (first_worked)
      edits.observe(held, SavedSource{2, Failure{Stage::store, "the disk is full", "Free some space."}, {}});
    else
      edits.observe(held, SavedSource{2, {}, held});  // it does not contain the text that the second edit is based on
    EXPECT_FALSE(edits.conflict());
    EXPECT_EQ(edits.text(), "three\n");
    edits.try_again();
    const auto save = edits.due(11, true, 3);
    ASSERT_TRUE(save);
    EXPECT_EQ(save->based_on, held);
    EXPECT_EQ(save->text, "three\n");
  }
}

TEST(SourceEdits, ASourceThatIsNotReadAfterASaveIsNoNews) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  ASSERT_TRUE(edits.due(10, true, 1));
  EXPECT_EQ(edits.observe("one\n", SavedSource{1, {}, {}}), News::none) << "its manifest does not load";
  EXPECT_EQ(edits.text(), "two\n");
  EXPECT_EQ(edits.file(), "two\n");
  EXPECT_FALSE(edits.unsaved());
  EXPECT_EQ(edits.observe("two\n", SavedSource{1, {}, {}}), News::none) << "it loads again";
  EXPECT_EQ(edits.observe("theirs\n", SavedSource{1, {}, {}}), News::take);
}

TEST(SourceEdits, AnotherProgramsTextIsTakenIfNothingWasTyped) {
  SourceEdits edits = opened();
  EXPECT_EQ(edits.observe("theirs\n", {}), News::take);
  EXPECT_EQ(edits.text(), "theirs\n");
  EXPECT_FALSE(edits.unsaved());
  EXPECT_EQ(edits.observe("theirs\n", {}), News::none) << "once";
}

TEST(SourceEdits, AnotherProgramsTextIsToldIfSomethingWasTyped) {
  for (const bool by_save : {false, true}) {
    SourceEdits edits = opened();
    edits.typed("mine\n", 10);
    if (by_save) {
      ASSERT_TRUE(edits.due(10, true, 1));
      EXPECT_EQ(edits.observe("theirs\n", SavedSource{1, {}, "theirs\n"}), News::none);
    } else {
      EXPECT_EQ(edits.observe("theirs\n", {}), News::none);
    }
    EXPECT_TRUE(edits.conflict());
    EXPECT_EQ(edits.text(), "mine\n");
    EXPECT_FALSE(edits.due(20, true, 2)) << "nothing is overwritten unasked";
    SourceEdits other = edits;
    edits.keep_mine();
    const auto save = edits.due(20, true, 2);
    ASSERT_TRUE(save);
    EXPECT_EQ(save->based_on, "theirs\n");
    EXPECT_EQ(save->text, "mine\n");
    other.take_theirs();
    EXPECT_EQ(other.text(), "theirs\n");
    EXPECT_FALSE(other.unsaved());
    EXPECT_FALSE(other.conflict());
  }
}

TEST(SourceEdits, AFileThatIsAsItWasIsNoConflict) {
  SourceEdits edits = opened();
  edits.typed("mine\n", 10);
  edits.observe("theirs\n", {});
  EXPECT_TRUE(edits.conflict());
  edits.observe("one\n", {});
  EXPECT_FALSE(edits.conflict());
  EXPECT_TRUE(edits.due(20, false, 1));
}

TEST(SourceEdits, ARefusedSaveIsSaidAndTriedAgain) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  ASSERT_TRUE(edits.due(10, true, 1));
  edits.observe("one\n", SavedSource{1, Failure{Stage::store, "the disk is full", "Free some space."}, {}});
  ASSERT_TRUE(edits.failure());
  EXPECT_TRUE(edits.unsaved());
  EXPECT_FALSE(edits.due(20, false, 2)) << "not again and again";
  edits.try_again();
  EXPECT_TRUE(edits.due(20, false, 2));
  edits.observe("one\n", SavedSource{2, Failure{Stage::store, "the disk is full", "Free some space."}, {}});
  edits.typed("three\n", 21);
  EXPECT_TRUE(edits.due(22, false, 3)) << "the next key tries it, too";
}

TEST(SourceEdits, AnswersToOtherSavesAreNotHeard) {
  SourceEdits edits = opened();
  edits.typed("two\n", 10);
  ASSERT_TRUE(edits.due(10, true, 7));
  edits.observe("one\n", SavedSource{6, Failure{Stage::store, "an older one", ""}, {}});
  EXPECT_FALSE(edits.failure());
  EXPECT_TRUE(edits.unsaved());
}

TEST(SourceEdits, TheFileKeepsItsLineEnds) {
  SourceEdits edits = opened("one\r\ntwo\r\n");
  edits.typed("one\nthree\n", 10);
  const auto save = edits.due(10, true, 1);
  ASSERT_TRUE(save);
  EXPECT_EQ(save->based_on, "one\r\ntwo\r\n");
  EXPECT_EQ(save->text, "one\r\nthree\r\n");
  EXPECT_EQ(edits.observe("one\r\nthree\r\n", SavedSource{1, {}, {}}), News::none);
  EXPECT_FALSE(edits.unsaved());
}

}  // namespace
}  // namespace attnscope::ui
