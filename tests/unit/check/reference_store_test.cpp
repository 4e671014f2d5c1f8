#include "check/reference_store.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "platform/atomic_file.h"

namespace attnscope::check {
namespace {

namespace fs = std::filesystem;

struct Store : testing::Test {
  Store() {
    folder = fs::temp_directory_path() / ("attnscope_refs_" + std::to_string(::getpid()) + "_" +
                                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    p.heads = p.kv_heads = 1, p.seq_q = 20, p.seq_k = 24, p.head_dim = 16;
    inputs = *make_inputs(p);
    made = *make_reference(p, inputs, Accumulate::f32);
  }
  ~Store() override {
    platform::inject_write_fault({});
    fs::remove_all(folder);
  }
  fs::path folder;
  Problem p;
  AttentionInputs inputs;
  std::shared_ptr<const Reference> made;
};

TEST_F(Store, KeepsAReferenceWhole) {
  const ReferenceStore store(folder);
  EXPECT_EQ(store.find(p, Accumulate::f32), nullptr);
  ASSERT_TRUE(store.keep(*made));
  const auto found = store.find(p, Accumulate::f32);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->values, made->values);
  EXPECT_EQ(found->rows, made->rows);
  EXPECT_EQ(found->all_rows, made->all_rows);
  EXPECT_EQ(found->naive_rel_frobenius, made->naive_rel_frobenius);
  EXPECT_EQ(store.find(p, Accumulate::f16), nullptr);
  Problem other = p;
  other.seed = 1;
  EXPECT_EQ(store.find(other, Accumulate::f32), nullptr);
}

TEST_F(Store, KeepsNonFiniteClasses) {
  p.scale = 3e38;
  made = *make_reference(p, inputs, Accumulate::f32);
  ASSERT_FALSE(made->classes.empty());
  const ReferenceStore store(folder);
  ASSERT_TRUE(store.keep(*made));
  EXPECT_EQ(store.find(p, Accumulate::f32)->classes, made->classes);
}

TEST_F(Store, ATruncatedFileIsRemade) {
  const ReferenceStore store(folder);
  ASSERT_TRUE(store.keep(*made));
  const fs::path path = store.path_of(p, Accumulate::f32);
  const uint64_t whole = fs::file_size(path);
  for (uint64_t bytes :
       {uint64_t{0}, uint64_t{5}, uint64_t{8}, uint64_t{39}, uint64_t{40}, uint64_t{56}, whole / 2, whole - 1}) {
    fs::resize_file(path, bytes);
    EXPECT_EQ(store.find(p, Accumulate::f32), nullptr) << bytes;
    const auto remade = reference_for(p, inputs, Accumulate::f32, {}, &store);
    ASSERT_TRUE(remade);
    EXPECT_EQ((*remade)->values, made->values);
    EXPECT_EQ(fs::file_size(path), whole);
  }
}

TEST_F(Store, AnAlteredFileIsRemade) {
  const ReferenceStore store(folder);
  const fs::path path = store.path_of(p, Accumulate::f32);
  ASSERT_TRUE(store.keep(*made));
  const auto size = static_cast<int64_t>(fs::file_size(path));
  for (int64_t at : {int64_t{0}, int64_t{20}, int64_t{41}, int64_t{50}, int64_t{100}, size - 1}) {
    ASSERT_TRUE(store.keep(*made));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(at);
    file.put(byte);
    file.close();
    EXPECT_EQ(store.find(p, Accumulate::f32), nullptr) << at;
  }
}

TEST_F(Store, AFullDiskLosesNothingElse) {
  const ReferenceStore store(folder);
  platform::inject_write_fault(platform::WriteFault{folder.filename().string(), 100, ENOSPC});
  const auto kept = store.keep(*made);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().stage, Stage::store);
  EXPECT_NE(kept.error().message.find(folder.filename().string()), std::string::npos);
  const auto reference = reference_for(p, inputs, Accumulate::f32, {}, &store);
  ASSERT_TRUE(reference);
  EXPECT_EQ((*reference)->values, made->values);
  platform::inject_write_fault({});
  EXPECT_EQ(store.find(p, Accumulate::f32), nullptr);
}

TEST_F(Store, TheOldestUsedGoes) {
  const uint64_t one = 20 * 16 * 8 + 56;
  const ReferenceStore store(folder, 2 * one + 10);
  const auto age = [&](const Problem& problem, int hours) {
    fs::last_write_time(store.path_of(problem, Accumulate::f32),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  Problem second = p, third = p;
  second.seed = 1, third.seed = 2;
  ASSERT_TRUE(store.keep(*made));
  ASSERT_TRUE(reference_for(second, *make_inputs(second), Accumulate::f32, {}, &store));
  age(p, 2);
  age(second, 1);
  EXPECT_NE(store.find(p, Accumulate::f32), nullptr);  // used now: the second is the oldest
  ASSERT_TRUE(reference_for(third, *make_inputs(third), Accumulate::f32, {}, &store));
  EXPECT_NE(store.find(p, Accumulate::f32), nullptr);
  EXPECT_EQ(store.find(second, Accumulate::f32), nullptr);
  EXPECT_NE(store.find(third, Accumulate::f32), nullptr);
}

TEST_F(Store, WithoutAStoreItIsMade) {
  const auto reference = reference_for(p, inputs, Accumulate::f32, {}, nullptr);
  ASSERT_TRUE(reference);
  EXPECT_EQ((*reference)->values, made->values);
}

}  // namespace
}  // namespace attnscope::check
