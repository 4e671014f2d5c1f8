#include "core/words.h"

#include <gtest/gtest.h>

#include "core/library.h"
#include "core/problem.h"
#include "core/workload.h"

namespace attnscope {
namespace {

TEST(Words, AnEnumeratorsNameIsItsWord) {
  EXPECT_EQ(Words<Stage>::table.size(), 14u);
  EXPECT_EQ(word_of(Stage::input), "input");
  EXPECT_EQ(word_of(Stage::internal), "internal");
  EXPECT_EQ(Words<ReferenceKind>::table.size(), 24u);
  EXPECT_EQ(word_of(ReferenceKind::gemm_nt), "gemm_nt");
  EXPECT_EQ(word_of(BufferInit::Kind::iota), "iota") << "of a nested enumeration";
  EXPECT_EQ(enumerator<static_cast<Layout>(2)>(), "") << "there are two";
  for (const auto& [kind, word] : Words<ReferenceKind>::table) {
    EXPECT_EQ(word_of(kind), word);
    EXPECT_EQ(parse_word<ReferenceKind>(word).value(), kind);
  }
}

TEST(Words, ARefusalListsTheWordsThatAreWritten) {
  EXPECT_EQ(parse_word<Causal>("true").value(), Causal::bottom_right) << "read and never written";
  const auto refused = parse_word<Causal>("maybe");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "\"maybe\" is not one of none, top_left, bottom_right");
}

TEST(Library, OneThatIsNotKnownKeepsItsName) {
  EXPECT_EQ(Library().name(), "source");
  EXPECT_TRUE(Library().is_source());
  EXPECT_EQ(Library::named("torch"), LibraryId::torch);
  const Library other = Library::named("jax");
  EXPECT_EQ(other.id(), LibraryId::other);
  EXPECT_EQ(other.name(), "jax");
  EXPECT_NE(other, Library::named("tpu"));
}

}  // namespace
}  // namespace attnscope
