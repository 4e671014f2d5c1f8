// How the widgets look with made-up data, each in a window of its own.
#include <implot/implot.h>

#include "core/term.h"
#include "ui/look.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/headline.h"
#include "ui/widgets/memory_gauge.h"
#include "ui/widgets/more_line.h"
#include "ui/widgets/stat.h"
#include "ui/widgets/term_bars.h"
#include "ui/widgets/text.h"
#include "ui/widgets/time_axis.h"
#include "ui/widgets/value_rail.h"

namespace attnscope::ui {
namespace {

// Collects looks by name; a tooltip is told apart from its window.
class Views {
 public:
  void add(const std::string& name, ImVec2 size, const std::function<void()>& draw,
           std::optional<ImVec2> pointer = std::nullopt) {
    for (const auto& [part, lines] : drawn_in(size, draw, pointer))
      views_[part == "test" ? name : name + ", " + part] = lines;
  }
  const Drawing& all() const { return views_; }

 private:
  Drawing views_;
};

const Glossary& glossary() {
  static const Result<Glossary> kLoaded =
      Glossary::load(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/glossary.md");
  return *kLoaded;
}

// Two static buffers and the padding, then a dynamic one; three CTAs on an SM.
charts::MemoryStack stack() {
  charts::MemoryStack made;
  made.segments = {{"K_tile", 0, 16384},
                   {"Q_tile", 16384, 20480},
                   {"padding", 20480, 20992, false, true},
                   {"scores", 20992, 29184, true}};
  made.static_bytes = 20992;
  made.dynamic_bytes = 8192;
  made.total_bytes = 29184;
  made.reserved_bytes = 1024;
  made.marks = {{charts::LimitKind::static_block, 49152, "48 KB static", "The most of static memory."},
                {charts::LimitKind::optin_block, 101376, "99 KB opt-in", "The most of a CTA."},
                {charts::LimitKind::sm_total, 102400, "100 KB an SM", "All of the SM."}};
  made.scale_bytes = 102400;
  made.ctas = 3;
  return made;
}

TEST_F(Look, OfTheMemoryGauge) {
  Views views;
  views.add("gauge", {500, 120}, [] { memory_gauge(stack()); });
  views.add("gauge, A smaller", {500, 120}, [] { memory_gauge(stack(), 20000); });
  views.add("gauge, A larger than the SM", {500, 120}, [] { memory_gauge(stack(), 200000); });
  views.add("gauge, A equal", {500, 120}, [] { memory_gauge(stack(), 29184); });
  charts::MemoryStack over = stack();
  over.over_static = true;
  over.ctas = 0;
  views.add("gauge, over the static limit", {200, 120}, [&] { memory_gauge(over); });
  over.over_static = false;
  over.over_optin = true;
  views.add("gauge, over the opt-in limit", {500, 120}, [&] { memory_gauge(over); });
  for (const auto& [name, x] : {std::pair{"K_tile", 20.0f},
                                {"Q_tile", 95.0f},
                                {"scores of the second CTA", 285.0f},
                                {"what is reserved", 147.0f},
                                {"what is free", 480.0f}})
    views.add(
        std::string("gauge, on ") + name, {500, 120}, [] { memory_gauge(stack()); }, ImVec2{x, 40});
  views.add(
      "gauge, on a mark", {500, 120}, [] { memory_gauge(stack()); }, ImVec2{240, 16});
  charts::MemoryStack a = stack();
  a.segments = {{"K_tile", 0, 8192}, {"Q_tile", 8192, 12288}, {"V_tile", 12288, 14336}};
  views.add("legend", {500, 120}, [] { memory_legend(stack()); });
  views.add("legend beside A", {500, 120}, [&] { memory_legend(stack(), &a); });
  views.add("legend, narrow", {180, 160}, [&] { memory_legend(stack(), &a); });
  charts::MemoryStack only_dynamic = stack();
  only_dynamic.static_bytes = 0;
  views.add("legend of one kind", {500, 120}, [&] { memory_legend(only_dynamic); });
  views.add("slots", {500, 60}, [] { warp_slots(48, 3, 8); });
  views.add("slots, A fewer", {500, 60}, [] { warp_slots(48, 3, 8, 8); });
  views.add("slots, A all", {500, 60}, [] { warp_slots(48, 3, 8, 48); });
  views.add("slots, A as many", {500, 60}, [] { warp_slots(48, 3, 8, 24); });
  views.add("slots, all filled", {500, 60}, [] { warp_slots(48, 12, 8); });
  views.add(
      "slots, told", {500, 60}, [] { warp_slots(48, 3, 8, 16); }, ImVec2{40, 12});
  Occupancy waves{.ctas_per_sm = 2, .total_ctas = 520, .resident_ctas = 100, .tail_ctas = 20};
  views.add("many waves", {400, 100}, [&] { wave_rows(waves); });
  waves.total_ctas = 200;
  views.add("two full waves", {400, 100}, [&] { wave_rows(waves); });
  waves.total_ctas = 30;
  views.add("less than a wave", {400, 100}, [&] { wave_rows(waves); });
  waves.total_ctas = 0;
  views.add("no wave", {400, 100}, [&] { wave_rows(waves); });
  expect_as_recorded("memory_gauge", views.all());
}

TEST_F(Look, OfTermBars) {
  charts::TermTable table;
  table.rows = {{TermKind::barriers, 4, 12},
                {TermKind::issue, 20, 20},
                {TermKind::bank_conflicts, 6, 0},
                {TermKind::launch, 1, 1}};
  table.a = 31;
  table.b = 33;
  table.against = true;
  charts::TermTable only_b = table;
  only_b.against = false;
  only_b.a = 0;
  const auto bars = [](const charts::TermTable& of, std::optional<TermKind> chosen) {
    return [&of, chosen] { term_bars(of, chosen, glossary()); };
  };
  Views views;
  views.add("beside A", {500, 90}, bars(table, std::nullopt));
  views.add("chosen", {500, 90}, bars(table, TermKind::barriers));
  views.add("without A", {500, 90}, bars(only_b, std::nullopt));
  views.add("narrow", {120, 90}, bars(table, std::nullopt));
  views.add("told of A", {500, 90}, bars(table, std::nullopt), ImVec2{60, 18});
  views.add("told of B", {500, 90}, bars(table, std::nullopt), ImVec2{60, 42});
  views.add("told without A", {500, 90}, bars(only_b, std::nullopt), ImVec2{300, 42});
  views.add("colours", {300, 560}, [] {
    for (const auto& [kind, word] : Words<TermKind>::table) small_text(to_string(kind), colour_of(kind));
  });
  expect_as_recorded("term_bars", views.all());
}

TEST_F(Look, OfAValueRail) {
  const auto mark = [](float level, FigureKind kind) {
    RailMark made;
    made.level = level;
    made.kind = kind;
    made.about = "told";
    return made;
  };
  std::vector<RailValue> values;
  for (const int64_t value : {1, 2, 4, 8, 16}) values.push_back({value, std::to_string(value), true, "", false, false});
  values[1].legal = false;
  values[1].reason = "why";
  values[2].reason = "a warning";
  values[3].beckoned = true;
  values[4].moot = true;
  std::vector<RailValue> marked = values;
  marked[0].mark = mark(1, FigureKind::measured);
  marked[0].mark->faulty = true;
  marked[2].mark = mark(0.25f, FigureKind::modelled);
  marked[2].mark->best = true;
  marked[3].mark = mark(0.5f, FigureKind::modelled);
  marked[3].mark->tie = true;
  marked[4].mark = mark(0, FigureKind::modelled);
  std::vector<RailValue> long_ones = values;
  long_ones[1].text = "a long name";
  Views views;
  const auto rail = [&](const std::vector<RailValue>& of, int64_t current, float width, bool bad = false) {
    return [&, current, width, bad] { value_rail("rail", of, current, width, bad); };
  };
  views.add("plain", {400, 60}, rail(values, 1, 360));
  views.add("marked", {400, 60}, rail(marked, 4, 360));
  views.add("an illegal one is current", {400, 60}, rail(values, 2, 360));
  views.add("the current one is bad", {400, 60}, rail(values, 8, 360, true));
  views.add("the current one is moot", {400, 60}, rail(values, 16, 360));
  views.add("as wide as their words", {400, 60}, rail(long_ones, 1, 240));
  views.add("several rows", {400, 120}, rail(long_ones, 1, 160));
  views.add("very narrow", {400, 200}, rail(long_ones, 1, 40));
  views.add("under the pointer", {400, 60}, rail(values, 1, 360), ImVec2{260, 18});
  views.add("under the pointer, illegal", {400, 60}, rail(values, 1, 360), ImVec2{110, 18});
  views.add("under the pointer, marked", {400, 60}, rail(marked, 1, 360), ImVec2{260, 18});
  expect_as_recorded("value_rail", views.all());
}

TEST_F(Look, OfTimesInAPlot) {
  using charts::LatencyColumn;
  const auto plot = [](const std::vector<LatencyColumn>& columns, bool log, bool faulty) {
    return [=] {
      if (!ImPlot::BeginPlot("##plot", {380, 260}, ImPlotFlags_CanvasOnly)) return;
      set_up_time_axis({log, log ? 1.0 : 0.0, 100, 100}, 260);
      ImPlot::SetupAxisLimits(ImAxis_X1, -0.5, double(columns.size()) - 0.5, ImPlotCond_Always);
      ImPlot::SetupFinish();
      for (const LatencyColumn& column : columns)
        draw_time(ImPlot::GetPlotDrawList(), column, column_pixels() / 2, faulty, 0.8f);
      if (const auto under = column_under_mouse(columns.size())) ImGui::SetTooltip("column %d", int(*under));
      ImPlot::EndPlot();
    };
  };
  LatencyColumn modelled;
  modelled.state = charts::ColumnState::timed;
  modelled.p10 = modelled.p50 = modelled.p90 = 20;
  LatencyColumn bounded = modelled;
  bounded.x = 1;
  bounded.interval_low = 10;
  bounded.interval_high = 30;
  LatencyColumn measured = modelled;
  measured.x = 2;
  measured.kind = FigureKind::measured;
  measured.p10 = 40;
  measured.p50 = 50;
  measured.p90 = 60;
  measured.interval_low = 48;
  measured.interval_high = 53;
  measured.samples = {45, 52, 61, 0.5f};
  LatencyColumn failed = modelled;
  failed.x = 3;
  failed.state = charts::ColumnState::failed;
  Views views;
  views.add("linear", {400, 280}, plot({modelled, bounded, measured, failed}, false, false));
  views.add("logarithmic", {400, 280}, plot({modelled, bounded, measured, failed}, true, false));
  views.add("faulty", {400, 280}, plot({modelled, bounded, measured, failed}, false, true));
  for (const float x : {60.0f, 150.0f, 375.0f, 20.0f})
    views.add("under " + std::to_string(int(x)), {400, 280}, plot({modelled, bounded, measured, failed}, false, false),
              ImVec2{x, 100});
  expect_as_recorded("times", views.all());
}

TEST_F(Look, OfSmallParts) {
  Views views;
  views.add("ghost across", {200, 60}, [] { ghost_line({20, 30}, {120, 30}, palette().text); });
  views.add("ghost down", {200, 120}, [] { ghost_line({20, 30}, {20, 101}, palette().dim); });
  views.add("ghost dashes", {200, 100}, [] { ghost_dashes({30, 20}, 41, 100); });
  views.add("ghost dashes without room", {200, 100}, [] { ghost_dashes({30, 20}, 41, 9); });
  const std::vector<Stat> stats = {
      {"registers", "64", true, "72"}, {"waves", "1.5"}, {"occupancy", "50 %", false, "50 %"}};
  views.add("stats", {500, 90}, [&] { stat_row(glossary(), stats); });
  views.add("stats in two rows", {150, 140}, [&] { stat_row(glossary(), stats); });
  views.add("no stats", {150, 140}, [&] { stat_row(glossary(), {}); });
  views.add("headlines", {200, 300}, [] {
    for (const auto& [headline, word] : Words<Headline>::table) {
      const HeadlineLook look = look_of(headline);
      small_text(std::string(look.icon) + " " + std::string(to_string(headline)), look.colour);
    }
  });
  for (bool all : {false, true})
    views.add(all ? "fewer" : "more", {200, 60}, [all] {
      bool shown = all;
      more_line("more", 3, shown);
    });
  views.add("badges", {300, 160}, [] {
    for (const auto& [kind, word] : Words<FigureKind>::table) kind_badge(glossary(), kind);
  });
  views.add(
      "badge, told", {300, 160}, [] { kind_badge(glossary(), FigureKind::counted); }, ImVec2{30, 15});
  for (const float width : {300.0f, 130.0f, 70.0f})
    views.add("a figure and its badge, " + std::to_string(int(width)), {width, 100}, [] {
      big_figure("12.5", "ms", palette().text);
      kind_badge_at_right(glossary(), FigureKind::measured);
    });
  views.add(
      "a term", {300, 60}, [] { term(glossary(), "waves"); }, ImVec2{20, 15});
  views.add(
      "an unknown word", {300, 60}, [] { term(glossary(), "nonsense"); }, ImVec2{20, 15});
  views.add("labels", {300, 120}, [] {
    label(glossary(), "NUM_WARPS", "", label_width());
    text("value");
    label(glossary(), "a name that is far too long for it", "it is explained", label_width());
    text("value");
    label_with_reset(glossary(), "heads", "", label_width(), "8");
    text("value");
    label_with_reset(glossary(), "batch", "", label_width(), "");
    text("value");
  });
  views.add(
      "a label, told", {300, 60},
      [] {
        label(glossary(), "name", "it is explained", 120);
        text("value");
      },
      ImVec2{15, 18});
  views.add(
      "a reset, told", {300, 60},
      [] {
        label_with_reset(glossary(), "heads", "", 120, "8");
        text("value");
      },
      ImVec2{118, 18});
  for (const bool as_they_are : {true, false})
    views.add(
        as_they_are ? "nothing to reset" : "a section's reset", {300, 60},
        [as_they_are] {
          ImGui::SeparatorText("Knobs");
          reset_of_section("all", as_they_are, "Resets the knobs");
          text("value");
        },
        ImVec2{280, 18});
  views.add("buttons", {300, 120}, [] {
    icon_button("a", "A", {20, 20}, true);
    icon_button("b", "B", {20, 20}, true, true);
    icon_button("c", "C", {20, 20}, false);
    leading_button("Run");
  });
  expect_as_recorded("small_parts", views.all());
}

}  // namespace
}  // namespace attnscope::ui
