#include "worker/kernel_store.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace attnscope::worker {
namespace {

protocol::KernelContent content(const std::string& source) {
  return {0, catalog::content_hash("{}", source), "k.cu", "k.json", source, "{}"};
}

TEST(KernelStore, KeepsByHash) {
  KernelStore store;
  EXPECT_EQ(store.find("x"), nullptr);
  ASSERT_TRUE(store.keep(content("a")));
  ASSERT_NE(store.find(content("a").hash), nullptr);
  EXPECT_EQ(store.find(content("a").hash)->source, "a");
}

TEST(KernelStore, AFalseHashIsRefused) {
  KernelStore store;
  auto wrong = content("a");
  wrong.source = "b";
  auto kept = store.keep(wrong);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().stage, Stage::protocol);
  EXPECT_EQ(store.find(wrong.hash), nullptr);
}

TEST(KernelStore, TheLongestUnusedGoes) {
  KernelStore store(2);
  ASSERT_TRUE(store.keep(content("a")));
  ASSERT_TRUE(store.keep(content("b")));
  store.find(content("a").hash);
  ASSERT_TRUE(store.keep(content("c")));
  EXPECT_NE(store.find(content("a").hash), nullptr);
  EXPECT_EQ(store.find(content("b").hash), nullptr);
  EXPECT_NE(store.find(content("c").hash), nullptr);
}

TEST(KernelStore, ItsBytesAreBoundToo) {
  KernelStore store(64, 1000);
  for (const char name : {'a', 'b', 'c'}) ASSERT_TRUE(store.keep(content(std::string(400, name))));
  EXPECT_EQ(store.find(content(std::string(400, 'a')).hash), nullptr);
  EXPECT_NE(store.find(content(std::string(400, 'c')).hash), nullptr);
  ASSERT_TRUE(store.keep(content(std::string(5000, 'd'))));
  EXPECT_NE(store.find(content(std::string(5000, 'd')).hash), nullptr) << "the last one is kept, however long";
}

}  // namespace
}  // namespace attnscope::worker
