#include "core/device_id.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

using Kind = DeviceId::Kind;

TEST(DeviceIdTest, HasAWorkerAKindAndAName) {
  const struct {
    std::string_view id, worker, local;
    Kind kind;
    std::string_view name;
  } ids[] = {{"emulated:l4", "", "emulated:l4", Kind::emulated, "l4"},
             {"cuda:0", "", "cuda:0", Kind::gpu, "0"},
             {"l4box/cuda:12", "l4box", "cuda:12", Kind::gpu, "12"},
             {"l4box/emulated:h200", "l4box", "emulated:h200", Kind::emulated, "h200"},
             {"l4box", "", "l4box", Kind::none, ""},
             {"cuda", "", "cuda", Kind::none, ""},
             {"", "", "", Kind::none, ""}};
  for (const auto& one : ids) {
    const DeviceId id(one.id);
    EXPECT_EQ(id.worker, one.worker) << one.id;
    EXPECT_EQ(id.is_own(), one.worker.empty()) << one.id;
    EXPECT_EQ(id.local, one.local) << one.id;
    EXPECT_EQ(id.kind, one.kind) << one.id;
    EXPECT_EQ(id.name, one.name) << one.id;
  }
}

TEST(DeviceIdTest, IsOfItsWorker) {
  EXPECT_TRUE(DeviceId("l4box/cuda:0").is_of("l4box"));
  EXPECT_TRUE(DeviceId("l4box").is_of("l4box")) << "its best device";
  for (const char* id : {"l4box-2/cuda:0", "l4box-2", "cuda:0", "a/l4box", ""})
    EXPECT_FALSE(DeviceId(id).is_of("l4box")) << id;
}

TEST(DeviceIdTest, IsWrittenAsItIsRead) {
  EXPECT_EQ(emulated_id("l4"), "emulated:l4");
  EXPECT_EQ(gpu_id(2), "cuda:2");
  EXPECT_EQ(id_at("l4box", gpu_id(0)), "l4box/cuda:0");
}

}  // namespace
}  // namespace attnscope
