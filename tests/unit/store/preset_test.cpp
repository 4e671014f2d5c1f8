#include "store/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/observation_fields.h"
#include "platform/atomic_file.h"
#include "store/journal.h"
#include "support/temp_dir.h"

namespace attnscope::store {
namespace {

using testing::HasSubstr;
using testing_support::read_text;
using testing_support::TempDir;

std::vector<Kernel> kernels() {
  Kernel tiled;
  tiled.id = "tiled";
  tiled.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}, {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  return {tiled};
}

Json minimal_preset() { return Json{{"attnscope_preset", 1}, {"kernel", "tiled"}}; }

Preset full_preset() {
  Preset p;
  p.title = "M32 W8";
  p.group = "Reports";
  p.note = "best";
  p.problem.seq_q = 333;
  p.kernel = "tiled";
  p.config.knobs = {{"NUM_WARPS", 8}, {"SHARED", 1}};
  p.config.options.fast_math = false;
  p.device = "emulated:h200";
  p.measure.sampled_share = 0.5;
  p.view = Json{{"head", 3}};
  p.invite = {{"SHARED", 1}};
  return p;
}

void expect_equal(const Preset& a, const Preset& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.note, b.note);
  EXPECT_EQ(a.problem, b.problem);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.config.knobs, b.config.knobs);
  EXPECT_EQ(a.config.options, b.config.options);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.measure, b.measure);
  EXPECT_EQ(a.view, b.view);
  EXPECT_EQ(a.invite, b.invite);
}

TEST(Preset, GoesThroughAFileUnchanged) {
  TempDir dir;
  const auto path = dir / "mine.json";
  ASSERT_TRUE(write_preset(path, full_preset(), kernels()));
  EXPECT_FALSE(write_preset(dir / "mistyped/mine.json", full_preset(), kernels()));
  EXPECT_FALSE(std::filesystem::exists(dir / "mistyped"));
  EXPECT_THAT(read_text(path), HasSubstr("\"SHARED\": \"dynamic\"")) << "people read labels";
  auto back = read_preset(path, kernels());
  ASSERT_TRUE(back) << back.error().message;
  expect_equal(*back, full_preset());
}

TEST(Preset, KnobsTakeALabelOrAValueOfTheList) {
  Json json = minimal_preset();
  json["knobs"] = {{"NUM_WARPS", 8}, {"SHARED", "dynamic"}};
  auto preset = preset_from_json(json, "p.json", kernels());
  ASSERT_TRUE(preset) << preset.error().message;
  EXPECT_EQ(preset->config.knobs, (std::map<std::string, int64_t>{{"NUM_WARPS", 8}, {"SHARED", 1}}));
}

struct Refusal {
  const char* what;
  const char* text;     // of the file
  const char* pointer;  // in the message
};

class PresetRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(PresetRefusals, NameTheFileAndThePlace) {
  TempDir dir;
  const auto path = dir.write("p.json", GetParam().text);
  auto preset = read_preset(path, kernels());
  ASSERT_FALSE(preset);
  EXPECT_EQ(preset.error().stage, Stage::input);
  EXPECT_THAT(preset.error().message, HasSubstr(path.string() + GetParam().pointer));
}

INSTANTIATE_TEST_SUITE_P(
    , PresetRefusals,
    testing::Values(
        Refusal{"UnknownKnob", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARP":8}})",
                "/knobs/NUM_WARP: "},
        Refusal{"ValueOutOfRange", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARPS":5}})",
                "/knobs/NUM_WARPS: "},
        Refusal{"ValueWithAFlag", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARPS":"8 -DX"}})",
                "/knobs/NUM_WARPS: "},
        Refusal{"DigitsAsText", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARPS":"8"}})",
                "/knobs/NUM_WARPS: "},
        Refusal{"FractionalValue", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"NUM_WARPS":8.5}})",
                "/knobs/NUM_WARPS: "},
        Refusal{"UnknownLabel", R"({"attnscope_preset":1,"kernel":"tiled","knobs":{"SHARED":"heap"}})",
                "/knobs/SHARED: "},
        Refusal{"KnobsNotAnObject", R"({"attnscope_preset":1,"kernel":"tiled","knobs":[8]})", "/knobs: "},
        Refusal{"UnknownKernel", R"({"attnscope_preset":1,"kernel":"fast"})", "/kernel: "},
        Refusal{"NoKernel", R"({"attnscope_preset":1})", "/kernel: "},
        Refusal{"NoMark", R"({"kernel":"tiled"})", "/attnscope_preset: "},
        Refusal{"NewerVersion", R"({"attnscope_preset":2,"kernel":"tiled"})", "/attnscope_preset: "},
        Refusal{"UnknownKey", R"({"attnscope_preset":1,"kernel":"tiled","flags":"-O3"})", "/flags: "},
        Refusal{"WrongType", R"({"attnscope_preset":1,"kernel":"tiled","title":7})", "/title: "},
        Refusal{"ProblemOutOfRange", R"({"attnscope_preset":1,"kernel":"tiled","problem":{"head_dim":0}})",
                "/problem/head_dim: "},
        Refusal{"UnknownOption", R"({"attnscope_preset":1,"kernel":"tiled","options":{"std":"c++20"}})",
                "/options/std: "},
        Refusal{"WrongMeasure", R"({"attnscope_preset":1,"kernel":"tiled","measure":{"sampled_share":0}})",
                "/measure/sampled_share: "},
        Refusal{"ViewNotAnObject", R"({"attnscope_preset":1,"kernel":"tiled","view":3})", "/view: "},
        Refusal{"InviteToAnUnknownKnob", R"({"attnscope_preset":1,"kernel":"tiled","invite":{"NUM_WARP":8}})",
                "/invite/NUM_WARP: "},
        Refusal{"InviteToAnIllegalValue", R"({"attnscope_preset":1,"kernel":"tiled","invite":{"NUM_WARPS":5}})",
                "/invite/NUM_WARPS: "},
        Refusal{"InviteToTwoKnobs", R"({"attnscope_preset":1,"kernel":"tiled","invite":{"NUM_WARPS":8,"SHARED":1}})",
                "/invite: "},
        Refusal{"InviteNotAnObject", R"({"attnscope_preset":1,"kernel":"tiled","invite":8})", "/invite: "},
        Refusal{"DuplicateKey", R"({"attnscope_preset":1,"kernel":"tiled","kernel":"tiled"})", ": "},
        Refusal{"AnArray", "[]", ": "}, Refusal{"Empty", "", ": "},
        Refusal{"Truncated", R"({"attnscope_preset":1,)", ": "}),
    [](const auto& test) { return test.param.what; });

// A message ends up in JSON and on the screen: it must be valid UTF-8 whatever the file contains.
void expect_printable(const Failure& failure) {
  EXPECT_NO_THROW(write_fields(failure).dump()) << "the message is not UTF-8";
}

TEST(Preset, RandomBytesAreRefusedInWords) {
  TempDir dir;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(1 + random() % 2000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (round % 2) bytes = R"({"attnscope_preset":1,"kernel":")" + bytes;
    const auto path = dir.write("p.json", bytes);
    auto preset = read_preset(path, kernels());
    ASSERT_FALSE(preset);
    EXPECT_THAT(preset.error().message, HasSubstr(path.string()));
    expect_printable(preset.error());
  }
}

TEST(Preset, MutilatedPresetsNeverCrashTheReader) {
  const std::string whole = to_json(full_preset(), kernels()).dump();
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (int cut = 0; cut < 3; ++cut) bytes[random() % bytes.size()] = static_cast<char>(random());
    auto json = parse_json(bytes, "p.json");
    auto preset = json ? preset_from_json(*json, "p.json", kernels()) : Result<Preset>(fail(json.error()));
    if (!preset) expect_printable(preset.error());
  }
}

TEST(Preset, AHundredMegabytesAreRefusedUnread) {
  TempDir dir;
  const auto path = dir.write("big.json", "{");
  std::filesystem::resize_file(path, uint64_t{100} << 20);  // sparse: cheap to make, but reading it would show
  auto preset = read_preset(path, kernels());
  ASSERT_FALSE(preset);
  EXPECT_EQ(preset.error().stage, Stage::input);
  EXPECT_THAT(preset.error().message, HasSubstr("big.json"));
  EXPECT_THAT(preset.error().message, HasSubstr("104857600"));
}

TEST(Preset, AFullDiskKeepsTheOldFile) {
  TempDir dir;
  const auto path = dir / "mine.json";
  ASSERT_TRUE(write_preset(path, full_preset(), kernels()));
  const std::string before = read_text(path);
  platform::inject_write_fault(platform::WriteFault{path.string(), 10});
  Preset other = full_preset();
  other.title = "other";
  auto written = write_preset(path, other, kernels());
  platform::inject_write_fault(std::nullopt);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("mine.json"));
  EXPECT_EQ(read_text(path), before);
}

TEST(PresetList, ReadsTitlesAndNamesWhatIsNoPreset) {
  TempDir dir;
  dir.write("b.json", R"({"attnscope_preset":1,"kernel":"gone","title":"Second"})");
  dir.write("a.json", R"({"attnscope_preset":1,"kernel":"tiled","group":"Reports"})");
  dir.write("c.json", "\xff\xfe");
  dir.write("d.json", "{}");
  dir.write("readme.txt", "no preset");
  std::vector<Failure> faults;
  const auto presets = list_presets(dir.path(), "Yours", faults);
  ASSERT_EQ(presets.size(), 2u);
  EXPECT_EQ(presets[0].title, "a");
  EXPECT_EQ(presets[0].group, "Reports");
  EXPECT_EQ(presets[1].title, "Second");
  EXPECT_EQ(presets[1].group, "Yours");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_THAT(faults[0].message, HasSubstr("c.json"));
  EXPECT_THAT(faults[1].message, HasSubstr("d.json"));
  EXPECT_TRUE(list_presets(dir / "nowhere", "Yours", faults).empty());
}

TEST(PresetList, SaysEverythingThatAListShowsAndItsLimits) {
  TempDir dir;
  const Json whole{{"attnscope_preset", 1},           {"kernel", "tiled"},
                   {"title", std::string(4096, 't')}, {"group", "Mine"},
                   {"note", std::string(4096, 'n')},  {"invite", {{"NUM_WARPS", 8}}}};
  dir.write("a.json", whole.dump());
  std::vector<Failure> faults;
  const auto presets = list_presets(dir.path(), "Yours", faults);
  ASSERT_EQ(presets.size(), 1u);
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(presets[0].path, dir / "a.json");
  EXPECT_EQ(presets[0].title, whole["title"]);
  EXPECT_EQ(presets[0].group, "Mine");
  EXPECT_EQ(presets[0].note, whole["note"]);
  EXPECT_EQ(presets[0].kernel, "tiled");
  EXPECT_TRUE(presets[0].invites);
  EXPECT_TRUE(read_preset(dir / "a.json", kernels()));
  for (const char* key : {"title", "note"}) {
    Json longer = whole;
    longer[key] = std::string(4097, 'x');
    dir.write("a.json", longer.dump());
    faults.clear();
    EXPECT_TRUE(list_presets(dir.path(), "Yours", faults).empty()) << key;
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults[0].message, HasSubstr(std::string("/") + key));
    EXPECT_FALSE(read_preset(dir / "a.json", kernels())) << key;
  }
}

TEST(DefaultPreset, IsTheFirstWithAnInvitation) {
  TempDir dir;
  for (const char* folder : {"shipped", "mine"}) std::filesystem::create_directories(dir / folder);
  const std::vector<std::filesystem::path> dirs{dir / "shipped", dir / "mine"};
  dir.write("shipped/a.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"a"})");
  auto none = default_preset(dirs, kernels());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no default preset"));
  dir.write("mine/a.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"mine","invite":{"NUM_WARPS":8}})");
  EXPECT_EQ(default_preset(dirs, kernels())->title, "mine");
  dir.write("shipped/c.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"c","invite":{"NUM_WARPS":8}})");
  dir.write("shipped/b.json", R"({"attnscope_preset":1,"kernel":"tiled","title":"b","invite":{"NUM_WARPS":8}})");
  EXPECT_EQ(default_preset(dirs, kernels())->title, "b");
}

TEST(PresetFile, TakesAnotherTitleAndNoteAndKeepsTheRest) {
  TempDir dir;
  const auto path = dir.write("a.json", R"({"attnscope_preset":1,"kernel":"gone","title":"Old","theirs":7})");
  ASSERT_TRUE(describe_preset(path, "New", "What it is of."));
  const Json json = Json::parse(read_text(path));
  EXPECT_EQ(json["title"], "New");
  EXPECT_EQ(json["note"], "What it is of.");
  EXPECT_EQ(json["kernel"], "gone");
  EXPECT_EQ(json["theirs"], 7);
  EXPECT_FALSE(describe_preset(dir.write("b.json", "{}"), "New", ""));
  EXPECT_EQ(read_text(dir / "b.json"), "{}");
  std::vector<Failure> faults;
  EXPECT_EQ(list_presets(dir.path(), "Yours", faults).at(0).note, "What it is of.");
}

TEST(PresetFile, ACopyHasAFreeNameAndTitleAndWhatItHeld) {
  TempDir dir;
  const auto from = dir.write("a.txt", to_json(full_preset(), kernels()).dump());
  const std::filesystem::path mine = dir / "mine";
  std::vector<std::string> titles;
  for (int at = 0; at < 3; ++at) {
    const auto copy = copy_preset(from, mine, titles, kernels());
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->extension(), ".json") << "only such files are listed";
    const auto preset = read_preset(*copy, kernels());
    ASSERT_TRUE(preset) << preset.error().message;
    EXPECT_EQ(preset->config, full_preset().config);
    EXPECT_EQ(preset->note, full_preset().note);
    EXPECT_TRUE(preset->group.empty());
    EXPECT_TRUE(preset->invite.empty());
    titles.push_back(preset->title);
  }
  EXPECT_THAT(titles, testing::ElementsAre("M32 W8", "M32 W8 copy", "M32 W8 copy 2"));
  EXPECT_FALSE(copy_preset(dir.write("b.json", "no preset"), mine, {}, kernels()));
  EXPECT_FALSE(std::filesystem::exists(mine / "b.json"));
}

TEST(PresetFile, IsPutAsideUnderAFreeName) {
  TempDir dir;
  for (const char* times : {"first", "second"}) {
    dir.write("a.json", times);
    const auto aside = put_preset_aside(dir / "a.json");
    ASSERT_TRUE(aside);
    EXPECT_EQ(read_text(*aside), times);
    EXPECT_FALSE(std::filesystem::exists(dir / "a.json"));
  }
  EXPECT_EQ(read_text(dir / "deleted/a.json"), "first");
  EXPECT_EQ(read_text(dir / "deleted/a-2.json"), "second");
  const auto none = put_preset_aside(dir / "a.json");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, Stage::store);
  EXPECT_THAT(none.error().message, testing::StartsWith((dir / "a.json").string() + " cannot be moved to "));
}

TEST(Journal, RestoresTheLastExperiment) {
  TempDir dir;
  const auto path = dir / "journal.json";
  auto none = read_journal(path, kernels());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(write_journal(path, Journal{full_preset(), "/x/mine.json", {full_preset()}}, kernels()));
  auto back = read_journal(path, kernels());
  ASSERT_TRUE(back) << back.error().message;
  expect_equal((*back)->last, full_preset());
  EXPECT_EQ((*back)->preset_path, "/x/mine.json");
  ASSERT_EQ((*back)->kernels.size(), 1u);
  expect_equal((*back)->kernels[0], full_preset());
}

TEST(Journal, WhatAKernelThatIsGoneWasAskedForIsLeftOut) {
  TempDir dir;
  Preset gone = full_preset();
  gone.kernel = "gone";
  ASSERT_TRUE(write_journal(dir / "journal.json", Journal{full_preset(), "", {gone, full_preset()}}, kernels()));
  auto back = read_journal(dir / "journal.json", kernels());
  ASSERT_TRUE(back && *back);
  ASSERT_EQ((*back)->kernels.size(), 1u);
  EXPECT_EQ((*back)->kernels[0].kernel, full_preset().kernel);
}

TEST(Journal, ADamagedOneIsAFailureThatNamesIt) {
  TempDir dir;
  const auto path = dir.write("journal.json", "{\"attnscope_journal\":1,\"last\":{}}");
  auto back = read_journal(path, kernels());
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().message, HasSubstr("journal.json/last/"));
}

}  // namespace
}  // namespace attnscope::store
