#include "ui/draft_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include "ui/glossary.h"
#include "ui/settings.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

session::Snapshot seen(uint64_t version, int64_t warps) {
  session::Snapshot s;
  s.version = version;
  s.focus.wanted.kernel = "tiled";
  s.focus.wanted.config.knobs = {{"NUM_WARPS", warps}, {"BLOCK_M", 32}};
  s.focus.wanted_hash = "warps " + std::to_string(warps);
  return s;
}

Draft wish(int64_t warps) {
  Draft draft = seen(0, warps).focus.wanted;
  return draft;
}

int64_t shown(const DraftTracker& tracker) { return tracker.current().config.knobs.at("NUM_WARPS"); }

TEST(DraftTracker, AKnobStaysWhereItWasPutUntilTheAnswerComes) {
  DraftTracker tracker;
  tracker.observe(seen(1, 4));
  EXPECT_EQ(shown(tracker), 4);
  tracker.posted(wish(8));
  tracker.observe(seen(2, 4));  // a snapshot from before the request
  EXPECT_EQ(shown(tracker), 8);
  EXPECT_TRUE(tracker.pending());
  tracker.observe(seen(3, 8));
  EXPECT_EQ(shown(tracker), 8);
  EXPECT_FALSE(tracker.pending());
}

TEST(DraftTracker, AnAnswerToAnEarlierStepOfADragDoesNotPullTheKnobBack) {
  DraftTracker tracker;
  tracker.observe(seen(1, 1));
  for (const int64_t warps : {2, 4, 8}) tracker.posted(wish(warps));
  tracker.observe(seen(2, 4));
  EXPECT_EQ(shown(tracker), 8);
  EXPECT_TRUE(tracker.pending());
  tracker.observe(seen(3, 8));
  EXPECT_FALSE(tracker.pending());
}

TEST(DraftTracker, UndoAndPresetsWinOverWhatWasAsked) {
  DraftTracker tracker;
  tracker.observe(seen(1, 4));
  tracker.posted(wish(8));
  tracker.observe(seen(2, 2));
  EXPECT_EQ(shown(tracker), 2);
  EXPECT_FALSE(tracker.pending());
}

TEST(DraftTracker, ARequestThatIsNeverAnsweredIsGivenUp) {
  DraftTracker tracker;
  tracker.observe(seen(1, 4));
  tracker.posted(wish(8));
  for (int at = 0; at <= DraftTracker::kPatience; ++at) tracker.observe(seen(2 + static_cast<uint64_t>(at), 4));
  EXPECT_EQ(shown(tracker), 4);
}

Kernel other_kernel() {
  Kernel kernel;
  kernel.id = "other";
  kernel.options.fast_math = false;
  kernel.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""},
                  {"BLOCK_M", {{16, ""}, {64, ""}}, 64, ""},
                  {"NEW", {{0, "off"}, {1, "on"}}, 1, ""}};
  return kernel;
}

TEST(DraftTracker, AnotherKernelTakesNoKnobOfTheOneBefore) {
  const Kernel kernel = other_kernel();
  const Draft moved = with_kernel(wish(8), kernel, nullptr, nullptr);
  EXPECT_EQ(moved.kernel, "other");
  EXPECT_EQ(moved.config.knobs, (std::map<std::string, int64_t>{{"NUM_WARPS", 4}, {"BLOCK_M", 64}, {"NEW", 1}}));
  EXPECT_EQ(moved.config.options, kernel.options);
  EXPECT_EQ(change_text(kernel.knobs[2], 0, 1), "NEW off \u2192 on");
}

TEST(DraftTracker, AKernelIsFoundAsItWasLeft) {
  const Kernel kernel = other_kernel();
  Draft kept;
  kept.config = {{{"NUM_WARPS", 8}, {"BLOCK_M", 48}, {"GONE", 2}}, {}};  // since removed by an edit: 48 and GONE
  kept.config.options.maxrregcount = 64;
  kept.problem.seq_q = 4096;
  Draft before = wish(4);
  before.problem.seq_q = 2048;
  const Draft moved = with_kernel(before, kernel, &kept, nullptr);
  EXPECT_EQ(moved.config.knobs, (std::map<std::string, int64_t>{{"NUM_WARPS", 8}, {"BLOCK_M", 64}, {"NEW", 1}}));
  EXPECT_EQ(moved.config.options, kept.config.options);
  EXPECT_EQ(moved.problem.seq_q, 2048) << "kernels of one kind are compared on one problem";
  before.problem.kind = ProblemKind::gemm;
  EXPECT_EQ(with_kernel(before, kernel, &kept, nullptr).problem, kept.problem);
}

TEST(DraftTracker, AKernelStartsFromItsDefaultsWhereWhatItWasAskedLastCannotRun) {
  Kernel kernel = other_kernel();
  kernel.supports.dtypes = {DType::f16};
  kernel.supports.head_dims = {64};
  kernel.supports.causals = {Causal::none, Causal::bottom_right};
  kernel.requires_ = {{"NUM_WARPS*16 <= BLOCK_M", "each warp has 16 rows"}};
  for (std::string& one : kernel.launch.grid) one = "1";
  for (std::string& one : kernel.launch.block) one = "1";
  kernel.launch.block[0] = "32*NUM_WARPS";
  DeviceSpec spec;
  spec.arch = 89;
  spec.threads_block = 1024;
  Draft kept;
  kept.config.knobs = {{"NUM_WARPS", 8}, {"BLOCK_M", 64}, {"NEW", 0}};
  EXPECT_EQ(with_kernel(wish(8), kernel, &kept, &spec).config.knobs,
            (std::map<std::string, int64_t>{{"NUM_WARPS", 4}, {"BLOCK_M", 64}, {"NEW", 1}}));
  kept.config.knobs["NUM_WARPS"] = 4;
  EXPECT_EQ(with_kernel(wish(8), kernel, &kept, &spec).config.knobs, kept.config.knobs);
}

double luminance(ImU32 colour) {
  const auto linear = [&](int shift) {
    const double c = static_cast<double>((colour >> shift) & 0xFF) / 255;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) + 0.0722 * linear(IM_COL32_B_SHIFT);
}

// WCAG 2.2 requires 4.5 to 1 for text (success criterion 1.4.3, level AA), and 7 to 1 for high contrast (1.4.6, level
// AAA); the formula is its "contrast ratio".
TEST(Theme, EveryTextColourCanBeReadOnEverySurface) {
  for (const ThemeMode mode : {ThemeMode::dark, ThemeMode::light, ThemeMode::black, ThemeMode::white}) {
    const Palette& p = palette_of(mode);
    const double least = is_contrast(mode) ? 7 : 4.5;
    const ImU32 plot = mixed(p.panel, p.window, 0.6f), popup = mixed(p.panel, p.raised, 0.6f);
    for (const ImU32 ink :
         {p.text, p.dim, p.faint, p.accent, p.measured, p.counted, p.modelled, p.reported, p.good, p.bad, p.warn})
      for (const ImU32 surface : {p.window, p.panel, p.raised, plot, popup, mixed(p.panel, ink, 0.13f)}) {
        const double a = luminance(ink), b = luminance(surface);
        EXPECT_GE((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05), least)
            << std::hex << ink << " on " << surface << ", " << word_of(mode);
      }
  }
}

TEST(WindowSettings, DamagedValuesTakeTheirDefaults) {
  const Json damaged = {
      {"theme", 7},        {"zoom", "large"},        {"width", -3}, {"height", 1e300}, {"closed", {1, "Log"}},
      {"layout", nullptr}, {"pinned", {{"hash", 7}}}};
  WindowSettings expected;
  expected.closed = {"Log"};
  EXPECT_EQ(window_settings_from_json(damaged), expected);
  EXPECT_EQ(window_settings_from_json(Json::array()), WindowSettings{});
}

TEST(WindowSettings, RoundTrip) {
  WindowSettings kept;
  kept.theme = ThemeMode::light;
  kept.zoom = 1.5f;
  kept.width = 1280;
  kept.invited = true;
  kept.closed = {"Counters"};
  kept.layout = "[Window][Log]\nPos=1,2\n";
  kept.layout_version = 3;
  kept.tries = false;
  kept.pinned = PinnedRun{"1f3a", 1795368000.123456};
  EXPECT_EQ(window_settings_from_json(to_json(kept)), kept);
}

TEST(Glossary, ItsWordsAreFoundInATextOncePerSentence) {
  const Glossary glossary = Glossary::parse(
      "- **CTA, block**: A group.\n- **query rows**: Of Q.\n- **A**: A run.\n- **lane, lanes**: A thread.\n"
      "- **bank conflicts**: They wait.\n- **bank**: A column.\n- **other**: The rest.\n");
  std::vector<std::string> written, words;
  for (const Glossary::Found& one :
       glossary.words_in("A planet: 8 CTAs, a query row each, unlike each other. A block's lanes; bank "
                         "conflicts, BANK_SIZE and then a bank.")) {
    written.push_back(one.written);
    words.push_back(one.word);
  }
  EXPECT_EQ(written, (std::vector<std::string>{"CTAs", "query row", "lanes", "bank conflicts", "bank"}));
  EXPECT_EQ(words.at(1), "query rows");
}

TEST(Glossary, WordsShareASentenceAndCaseDoesNotMatter) {
  const Glossary glossary =
      Glossary::parse("# Glossary\nsome **bold** prose\n- **CTA, block**: A group: of threads.\n- **lane**:\n");
  EXPECT_EQ(glossary.find("cta"), "A group: of threads.");
  EXPECT_EQ(glossary.find("Block"), "A group: of threads.");
  EXPECT_EQ(glossary.find("lane"), "");
  EXPECT_EQ(glossary.entries().size(), 2u);
}

}  // namespace
}  // namespace attnscope::ui
