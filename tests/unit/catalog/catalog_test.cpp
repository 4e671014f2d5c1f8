#include "catalog/catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "support.h"
#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Catalog, TheShippedKernelsLoadInTheOrderOfTheLadder) {
  const Catalog catalog = load_catalog({source_dir() / "kernels"});
  for (const Failure& failure : catalog.failures) ADD_FAILURE() << failure.message;
  std::vector<std::string> ids;
  for (const Kernel& kernel : catalog.kernels) ids.push_back(kernel.id);
  ASSERT_GE(ids.size(), 2u);
  EXPECT_EQ(ids[0], "minimal");
  EXPECT_EQ(ids[1], "tiled");
  EXPECT_EQ(catalog.kernels[1].rung, 2);
  EXPECT_FALSE(catalog.kernels[1].story.empty());
}

TEST(Catalog, ABadManifestLeavesTheOthersStanding) {
  ScratchDir dir;
  write(dir.path() / "sample.json", good_manifest().dump());
  write(dir.path() / "sample.cu", "// source");
  write(dir.path() / "broken.json", "{");
  write(dir.path() / "notes.txt", "not a manifest");
  const Catalog catalog = load_catalog({dir.path()});
  ASSERT_EQ(catalog.kernels.size(), 1u);
  EXPECT_EQ(catalog.kernels[0].source, "// source");
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, HasSubstr("broken.json"));
}

TEST(Catalog, AnIdThatIsTakenNamesBothFiles) {
  ScratchDir dir;
  for (const char* sub : {"a", "b"}) {
    write(dir.path() / sub / "sample.json", good_manifest().dump());
    write(dir.path() / sub / "sample.cu", "// source");
  }
  const Catalog catalog = load_catalog({dir.path() / "a", dir.path() / "b"});
  ASSERT_EQ(catalog.kernels.size(), 1u);
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, AllOf(HasSubstr("a/sample.json"), HasSubstr("b/sample.json")));
}

TEST(Catalog, AFolderThatIsNotThereIsAFailure) {
  const Catalog catalog = load_catalog({"/no/such/folder"});
  ASSERT_EQ(catalog.failures.size(), 1u);
  EXPECT_THAT(catalog.failures[0].message, HasSubstr("/no/such/folder"));
}

TEST(Catalog, ASourceThatIsNotThereNamesManifestAndSource) {
  ScratchDir dir;
  write(dir.path() / "sample.json", good_manifest().dump());
  Result<Kernel> kernel = load_kernel(dir.path() / "sample.json");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().stage, Stage::catalog);
  EXPECT_THAT(kernel.error().message, AllOf(HasSubstr("sample.json/source"), HasSubstr("sample.cu")));
}

TEST(Catalog, AManifestOfOverAMegabyteIsNotRead) {
  ScratchDir dir;
  write(dir.path() / "sample.json", std::string(kMaxManifestBytes + 1, ' '));
  Result<Kernel> kernel = load_kernel(dir.path() / "sample.json");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("sample.json"));
}

TEST(Devices, TheShippedOnesLoadWithTheDefaultFirst) {
  const DeviceCatalog catalog = load_devices(source_dir() / "assets/devices");
  for (const Failure& failure : catalog.failures) ADD_FAILURE() << failure.message;
  ASSERT_FALSE(catalog.devices.empty());
  EXPECT_EQ(catalog.devices[0].id, "emulated:l4");
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "assets/devices"))
    files += entry.path().extension() == ".json";
  EXPECT_EQ(catalog.devices.size(), files);
}

TEST(Devices, AFigureWithoutASourceIsRefused) {
  ScratchDir dir;
  Json json = to_json(device("l4"));
  json["sources"].erase("sms");
  write(dir.path() / "l4.json", json.dump());
  Result<DeviceSpec> spec = load_device(dir.path() / "l4.json");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("/sources/sms"));

  json = to_json(device("l4"));
  json["rates"]["made_up"] = 3;
  write(dir.path() / "l4.json", json.dump());
  EXPECT_THAT(load_device(dir.path() / "l4.json").error().message, HasSubstr("/sources/rates/made_up"));

  json = to_json(device("l4"));
  json["id"] = "emulated:l5";
  write(dir.path() / "l4.json", json.dump());
  EXPECT_THAT(load_device(dir.path() / "l4.json").error().message, HasSubstr("/id"));
}

std::vector<std::string> ids_of(const DeviceCatalog& catalog) {
  std::vector<std::string> ids;
  for (const DeviceSpec& spec : catalog.devices) ids.push_back(spec.id);
  return ids;
}

TEST(Devices, AFolderOfOnesOwnAddsToTheShippedOnes) {
  ScratchDir shipped, own;
  Json json = to_json(device("l4"));
  json["default"] = true;
  write(shipped.path() / "l4.json", json.dump());
  EXPECT_THAT(load_devices(shipped.path(), own.path() / "missing").failures, IsEmpty());
  json["id"] = "emulated:mine";
  write(own.path() / "mine.json", json.dump());  // says that it is the default
  const DeviceCatalog refused = load_devices(shipped.path(), own.path());
  EXPECT_THAT(ids_of(refused), ElementsAre("emulated:l4"));
  ASSERT_THAT(refused.failures, SizeIs(1));
  EXPECT_THAT(refused.failures[0].message, HasSubstr("mine.json/default"));
  json.erase("default");
  write(own.path() / "mine.json", json.dump());
  EXPECT_THAT(ids_of(load_devices(shipped.path(), own.path())), ElementsAre("emulated:l4", "emulated:mine"));
}

TEST(Devices, AFileOfOnesOwnDoesNotReplaceAShippedOne) {
  ScratchDir shipped, own;
  Json json = to_json(device("l4"));
  write(shipped.path() / "l4.json", json.dump());
  json["sms"] = 1;
  write(own.path() / "l4.json", json.dump());
  const DeviceCatalog catalog = load_devices(shipped.path(), own.path());
  ASSERT_THAT(catalog.devices, SizeIs(1));
  EXPECT_EQ(catalog.devices[0].sms, 58);
  ASSERT_THAT(catalog.failures, SizeIs(1));
  EXPECT_THAT(catalog.failures[0].message, HasSubstr("emulated:l4 comes with the program"));
}

// The "name value" lines of tests/gpu/rates.cu.
std::map<std::string, double> recorded_rates(const std::string& device) {
  std::istringstream lines(testing_support::read_text(source_dir() / "tests/data/gpu" / (device + "_rates.txt")));
  std::map<std::string, double> rates;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double value = 0;
    if (words >> name >> value) rates[name] = value;
  }
  return rates;
}

// Runs differ by up to 4 % (bandwidth of the L2).
TEST(Devices, MeasuredRatesAreThoseOfTheirRecording) {
  const std::map<std::string, std::string> lines = {{"latency_shared", "latency_shared"},
                                                    {"latency_l1", "latency_l1"},
                                                    {"latency_l2", "latency_l2"},
                                                    {"latency_dram", "latency_dram"},
                                                    {"latency_mufu", "latency_mufu_ex2"},
                                                    {"latency_shuffle", "latency_shfl"},
                                                    {"half_to_float", "lanes_per_clock_hadd2_f32"},
                                                    {"mma_16816", "mma_16816_sums_8_warps_16"}};
  for (const char* id : {"h100", "h200"}) {
    const DeviceSpec spec = device(id);
    auto recorded = recorded_rates(id);
    for (const auto& [rate, line] : lines)
      EXPECT_NEAR(spec.rates.at(rate), recorded[line], 0.03 * recorded[line]) << id << " " << rate;
    // The stall counts of that loop are 24 clocks.
    EXPECT_NEAR(spec.rates.at("latency_branch"), recorded["loop_of_one_ffma"] - 24, 0.1) << id;
    const double far = 8 * recorded["fetch_16384_instructions_warps_1"];
    EXPECT_NEAR(spec.rates.at("code_far_line"), far, 0.03 * far) << id;
    const double line = 8 * recorded["fetch_4096_instructions_warps_1"];
    EXPECT_NEAR(spec.rates.at("code_line"), line, 0.03 * line) << id;
  }
  // tests/gpu/memory.cu ran on an H200 only; rates.cu, with more data, on both.
  const double of_h200 = device("h200").rates.at("l2_sectors"),
               h100_share = recorded_rates("h100")["l2_gbs"] / recorded_rates("h200")["l2_gbs"];
  EXPECT_NEAR(device("h100").rates.at("l2_sectors"), of_h200 * h100_share, 0.03 * of_h200);
}

// MHz in the longest kernels of a loop: "hmma  kernel of 20000.0 us: 1800.0 MHz by globaltimer; …".
std::map<std::string, double> recorded_clocks(const std::string& device) {
  std::istringstream lines(
      testing_support::read_text(source_dir() / "bench/results" / ("tensor_clock_" + device + ".txt")));
  std::map<std::string, double> clocks;
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find("  "), at = line.find(" us: ");
    if (line.find("kernel of") != std::string::npos) clocks[line.substr(0, name)] = std::stod(line.substr(at + 5));
  }
  return clocks;
}

TEST(Devices, TheClockUnderTensorCoresIsTheRecordedOne) {
  for (const char* id : {"h100", "h200"}) {
    const DeviceSpec spec = device(id);
    const auto clocks = recorded_clocks(id);
    for (const char* loop : {"hmma", "hmma + 4 ffma", "hmma + 16 ffma", "hmma + 64 ffma", "tf32", "int8"})
      EXPECT_NEAR(spec.rates.at("tensor_clock_mhz"), clocks.at(loop), 2) << id << " " << loop;
    EXPECT_NEAR(spec.clock_mhz, clocks.at("ffma"), 1) << id;
    EXPECT_GE(clocks.at("fp64 mma"), spec.clock_mhz - 1) << id << ": doubles do not lower it";
  }
}

// The number after `before` in the recording's line that begins with `line`.
double recorded_figure(const std::string& text, const std::string& line, const std::string& before) {
  const size_t begin = text.find("\n" + line);
  EXPECT_NE(begin, std::string::npos) << line;
  const size_t at = text.find(before, begin);
  EXPECT_LT(at, text.find('\n', begin + 1)) << line << " has no " << before;
  return std::stod(text.substr(at + before.size()));
}

// What both boards, whose SMs are the same, gave for tests/gpu/registers and tests/gpu/memory.cu.
TEST(Devices, RegistersAndMemoryAreThoseOfTheirRecordings) {
  const std::string registers = testing_support::read_text(source_dir() / "tests/data/gpu/h200_registers.txt"),
                    memory = testing_support::read_text(source_dir() / "tests/data/gpu/h200_memory.txt");
  const auto clocks = [&](const std::string& probe) { return recorded_figure(registers, probe + " ", " "); };
  for (const char* id : {"h100", "h200"}) {
    const auto rates = device(id).rates;
    const double three = clocks("007_ffma.eee"), two = clocks("005_ffma.eeo"),
                 window = 3 * clocks("019_ffma.eee_ffma.zzzx2"), products = 9 * clocks("127_hmma.eoe_ffma.zzzx8") - 8;
    EXPECT_NEAR(3 / rates.at("bank_ports"), three, 0.05 * three) << id;
    EXPECT_NEAR(2 / rates.at("bank_ports"), two, 0.05 * two) << id;
    EXPECT_NEAR(rates.at("read_window"), window, 0.05 * window) << id;
    EXPECT_NEAR(rates.at("mma_issue"), products, 0.12 * products) << id << ": the loop itself is in it, of 11 clocks";
    const double port =
        recorded_figure(memory, "l2   1 CTAs of 1024 threads, 4 loads each in flight,  131072", "slowest ");
    EXPECT_NEAR(rates.at("l2_port"), port, 0.03 * port) << id;
    for (const char* many : {" 8", "16", "32"}) {
      const std::string line = fmt::format("l2  {} CTAs of 1024 threads, 4 loads each in flight,  131072", many);
      const double of_many = recorded_figure(memory, line, "own: ");
      EXPECT_NEAR(rates.at("l2_port_of_many"), of_many, 0.05 * of_many) << id << many;
    }
    const auto loop = [&](int body) {  // clocks of a lone warp
      return body * recorded_figure(memory, fmt::format("fetch body {:5} warps  4 skew    0", body), "skew    0: ");
    };
    for (const int body : {3072, 4096, 6144})
      EXPECT_NEAR(device("h200").rates.at("code_line"), 8 * loop(body) / body, 0.4) << body;
    for (const int body : {512, 1024, 1536})
      EXPECT_NEAR(rates.at("code_own"), loop(body) - body - (loop(256) - 256), 1) << id << body;
    EXPECT_NEAR(loop(256) - 256, loop(128) - 128, 0.5) << id << ": both fit into a scheduler's own cache";
    const double launch = recorded_figure(memory, "graph of kernels,  132 CTAs of  32 threads", "empty ");
    EXPECT_NEAR(rates.at("launch_us"), launch, 0.03 * launch) << id;
  }
  const double same =
      recorded_figure(memory, "l2 132 CTAs of 1024 threads, 4 loads each in flight, 2097152", "slowest ");
  EXPECT_NEAR(device("h200").rates.at("l2_sectors"), same, 0.03 * same);
}

// Clocks of a warp instruction, of which every SM makes one: on one SM, and on all 132 at one place of the L2.
TEST(Devices, AtomicsAreThoseOfTheirRecording) {
  const auto rates = device("h200").rates;
  const std::string text = testing_support::read_text(source_dir() / "tests/data/gpu/h200_atomics.txt");
  const auto clocks = [&](const std::string& line) { return recorded_figure(text, line, " clocks "); };
  const auto near = [&](const char* rate, double measured) {
    EXPECT_NEAR(rates.at(rate), measured, 0.02 * measured) << rate;
  };
  near("l2_atomics", 32 / clocks("global random u32 ctas 132 warps 32 bins 1048576"));
  near("l2_atomics_port", 32 / clocks("global random u32 ctas 1 warps 32 bins 1048576"));
  near("atomic_turn", clocks("global red u32 ctas 132 warps 32 distinct 32 same 0 step 4 targets 1 ") / 132 / 4);
  for (const char* integers : {"red u32", "atom u32", "red u64", "red max32", "atom cas32", "atom exch32"}) {
    const int step = std::string_view(integers).ends_with("u64") ? 8 : 4;
    near("atomic_sector",
         clocks(fmt::format("global {} ctas 132 warps 32 distinct 1 same 32 step {} targets 1 ", integers, step)) /
             132 / 32);
  }
  for (const char* floats : {"red f32", "atom f32", "red f64", "red f16x2"}) {
    const int step = std::string_view(floats).ends_with("f64") ? 8 : 4;
    near("atomic_float_sector",
         clocks(fmt::format("global {} ctas 132 warps 32 distinct 1 same 32 step {} targets 1 ", floats, step)) / 132 /
             32);
  }
  // In shared memory a lane in the same bank takes a clock, and a counter none of its own.
  EXPECT_NEAR(clocks("shared unused u32 warps 32 distinct 1 same 0 step 4 targets 1 "), 32, 1);
  EXPECT_NEAR(clocks("shared unused u32 warps 32 distinct 8 same 0 step 4 targets 1 "), 4, 0.2);
  EXPECT_NEAR(clocks("shared unused u32 warps 32 distinct 32 same 0 step 128 targets 1 "), 32, 1);
  EXPECT_NEAR(clocks("shared unused u32 warps 1 distinct 1 same 0 step 4 targets 1 "), 64, 3) << "a lone warp";
  EXPECT_NEAR(clocks("shared unused s32 warps 32 distinct 1 same 0 step 4 targets 1 "), 1, 0.1);
}

// The model takes one cost for both.
TEST(Devices, FourMatricesCostFourWarpsAsMuchAsALoadOf128BitsAndALoneOneMore) {
  const std::string all = testing_support::read_text(source_dir() / "tests/data/gpu/h200_shared_latency.txt");
  const auto clocks = [&](const std::string& load, const std::string& warps = "  16 warps") {
    return recorded_figure(all.substr(all.find("\n" + load + " ")), warps, "with 32 FFMA ");
  };
  EXPECT_NEAR(clocks("ldsm.x4"), clocks("lds.128"), 0.5);
  EXPECT_NEAR(clocks("ldsm.x4", "   4 warps") - clocks("lds.128", "   4 warps"), 5.6, 0.1) << "one on each scheduler";
  EXPECT_GT(clocks("lds.128"), clocks("lds.32") + 2);
}

// FFMA of warps that are far apart in the code, four chains each.
TEST(Devices, WarpsThatTakeTurnsLoseNothingInCodeThatFits) {
  const std::string all = testing_support::read_text(source_dir() / "tests/data/gpu/h200_turns.txt");
  for (const char* body : {" 512", "1024", "2048"})
    for (const char* skew : {"skew    0 ", "skew 1501 "})
      EXPECT_NEAR(recorded_figure(all, fmt::format("turns body  {} chains 4 warps 16", body), skew), 1.015, 0.01)
          << body << skew;
}

TEST(Devices, LimitsAreThoseOfTheArchitecture) {
  EXPECT_EQ(device("rtx3090").arch, 86);
  EXPECT_EQ(device("rtx3090").ctas_sm, 16);
  EXPECT_EQ(device("a10g").shared_optin_block, 99 * 1024);
  EXPECT_EQ(device("h100").warps_sm, 64);
  EXPECT_EQ(device("l4").shared_optin_block, 99 * 1024);
  EXPECT_EQ(device("rtx4090").shared_sm, 100 * 1024);
  EXPECT_EQ(device("a100").shared_optin_block, 163 * 1024);
  EXPECT_EQ(device("a100").arch, 80);
  EXPECT_EQ(device("h200").shared_optin_block, 227 * 1024);
  EXPECT_EQ(device("h200").warps_sm, 64);
}

}  // namespace
}  // namespace attnscope::catalog
