// MUFU over whole binades against an H200's results (tests/data/gpu/mufu), on every instruction set of this CPU.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/exec/general.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/warp.h"

namespace attnscope::emulator {
namespace {

struct Sweep {
  std::string name, function;
  uint32_t first = 0, step = 0, count = 0;  // float bits
  uint64_t hash = 0;
};

std::vector<Sweep> sweeps() {
  std::ifstream file(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/mufu/h200_sweeps.txt");
  std::vector<Sweep> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    Sweep one;
    in >> one.name >> one.function >> std::hex >> one.first >> std::dec >> one.step >> one.count >> std::hex >>
        one.hash;
    EXPECT_TRUE(in) << line;
    all.push_back(one);
  }
  return all;
}

// Hash of the results' lowest bytes: 64-bit FNV-1a, as tests/data/gpu/mufu describes.
uint64_t hash_of(const Sweep& sweep, Handler handler) {
  std::vector<uint8_t> bytes(kLaneFileOffset + 4 * 128 + 64);
  void* at = bytes.data();
  size_t room = bytes.size();
  auto& warp = *static_cast<Warp*>(std::align(64, room - 64, at, room));
  Op op;
  op.a = kLaneFileOffset, op.dst = kLaneFileOffset + 128;
  op.detail.mufu = {Mufu::rsq, Number::f32};  // g_mufu serves several functions
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t done = 0; done < sweep.count; done += 32) {
    uint32_t lanes[32];
    for (uint32_t k = 0; k < 32; ++k) lanes[k] = sweep.first + (done + k) * sweep.step;
    std::memcpy(bytes_of(warp) + op.a, lanes, sizeof lanes);
    handler(warp, op, kFull);
    std::memcpy(lanes, bytes_of(warp) + op.dst, sizeof lanes);
    for (uint32_t k = 0; k < 32 && done + k < sweep.count; ++k) hash = (hash ^ (lanes[k] & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

TEST(Approximations, AreTheHardwaresOverWholeBinades) {
  const auto all = sweeps();
  ASSERT_GE(all.size(), 4u);
  for (const Sweep& sweep : all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (sweep.name != "rcp") continue;  // one function on one instruction set: more would only take time
#endif
    if (sweep.function == "rsq") {
      EXPECT_EQ(hash_of(sweep, g_mufu), sweep.hash) << sweep.name;
      continue;
    }
    const Family family = sweep.function == "ex2" ? Family::mufu_ex2 : Family::mufu_rcp;
    for (int isa = static_cast<int>(best_host_isa()); isa >= 0; --isa) {
      const Handler handler = handlers(static_cast<HostIsa>(isa)).pairs[static_cast<int>(family)][0].full;
      EXPECT_EQ(hash_of(sweep, handler), sweep.hash) << sweep.name << ", instruction set " << isa;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      break;
#endif
    }
  }
}

}  // namespace
}  // namespace attnscope::emulator
