// Every writer of outside text, each with hostile texts; a reader of the format reads its output back.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <span>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "charts/figure.h"
#include "cli/banks_text.h"
#include "cli/command.h"
#include "cli/counters_text.h"
#include "cli/disasm_text.h"
#include "cli/exit_status.h"
#include "cli/explain_text.h"
#include "cli/export_text.h"
#include "cli/leaderboard_text.h"
#include "cli/micro_text.h"
#include "cli/results_text.h"
#include "cli/run_text.h"
#include "cli/scan_text.h"
#include "cli/softmax_text.h"
#include "cli/sweep_text.h"
#include "cli/timeline_text.h"
#include "core/escape.h"
#include "report/bench_report.h"
#include "report/rbk_report.h"
#include "report/tuned.h"
#include "store/preset.h"
#include "support/temp_dir.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using testing_support::read_text;
using testing_support::TempDir;

// Possible texts of a manifest, a preset, a worker, a file name or a compiler. The first is harmless, and every other
// product is compared with it.
std::vector<std::string> texts() {
  return {"x",
          "x\n\"\"\"\nopen('canary', 'w')\n\"\"\"",
          "x\nint injected;",
          "x\r\nint injected;",
          "*/ int injected; /*",
          "x\\",
          "x \\  ",
          "x\\\nint injected;",
          "x ?\?/",
          "\"; int injected; \"",
          "\x1b[2J\x1b]0;owned\x07",
          "\xc2\x9b"
          "2J",
          "]]><script>alert(1)</script>&lt;&bogus;",
          "a | b \\| c",
          "`code` ``more`` *b* _i_ [l](http://x) ![p](y)",
          "# heading",
          "- item",
          "1. item",
          "    indented",
          "$(touch canary) `touch canary` $HOME",
          "'; touch canary; '",
          "-o/dev/null",
          "\xe2\x80\xae"
          "evil\xe2\x81\xa6",
          "x\xe2\x80\xa8"
          "int injected;",
          "\xff\xfe\xc0\x80\xed\xa0\x80",
          std::string("x\0y", 3),
          "coding: utf-7",
          "{}{0}%s%n",
          "@GRID_X@ @TITLE:code@",
          "é × …",
          std::string(10000, 'A')};
}

std::string form_of(const char* name) {
  return read_text(fs::path(ATTNSCOPE_SOURCE_DIR) / "assets/export" / (std::string(name) + ".in"));
}

Export export_of(const std::string& text) {
  static const Kernel tiled = *catalog::load_kernel(fs::path(ATTNSCOPE_SOURCE_DIR) / "kernels/02_tiled.json");
  Export e;
  e.kernel = tiled;
  e.kernel.id = e.kernel.title = e.kernel.story = e.kernel.source_name = text;
  e.kernel.source = "int source;\n";
  for (Knob& knob : e.kernel.knobs)
    for (KnobValue& value : knob.values) value.label = text;
  e.config = *catalog::complete_config(tiled, {}, {});
  e.arch = 89;
  e.launch = *catalog::launch_of(tiled, e.problem, e.config);
  auto variant = std::make_shared<compile::Variant>();
  variant->entry_symbol = variant->info.compiler = variant->info.code_hash = text;
  e.variant = variant;
  e.stem = text + "_sm89";
  std::ranges::replace(e.stem, '/', '_');  // it is used as a file name
  return e;
}

std::string filled_form(const char* name, const std::string& text) {
  return filled(form_of(name), export_of(text)).value_or("not filled");
}

// A kernel that is not attention: the tables of its launchers come from its manifest, whose names are words.
std::string filled_workload_form(const char* name, const std::string& text) {
  static const char* const manifest =
      R"({"id": "k", "title": "", "source": "k.cu", "entry": "features", "problem": "custom",
    "sizes": {"n": 8}, "launch": {"grid": [1, 1, 1], "block": [32, 1, 1]},
    "buffers": [{"name": "x", "role": "in", "dtype": "f16", "shape": ["n"]}, {"name": "y", "role": "out", "dtype": "f16", "shape": ["n"]}],
    "args": ["x", "y", "y", "n", {"value": 1, "type": "u16"}], "reference": {"kind": "copy", "inputs": ["x"], "output": "y"}})";
  static const Kernel kernel = *catalog::parse_kernel({"k.json", manifest, "k.cu", "int source;"});
  Export e = export_of(text);
  e.kernel = kernel;
  e.kernel.id = e.kernel.title = e.kernel.story = e.kernel.source_name = text;
  e.problem = kernel.default_problem();
  e.config = {};
  e.launch = *catalog::launch_of(kernel, e.problem, e.config);
  auto variant = std::make_shared<compile::Variant>(*e.variant);
  const std::string cubin =
      read_text(fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/compile/features_sm89_nvrtc13.0.cubin");
  const auto bytes = std::as_bytes(std::span(cubin));
  variant->cubin.assign(bytes.begin(), bytes.end());
  variant->entry_symbol = "features";
  e.variant = variant;
  e.launches = {{kernel, e.launch, variant, e.stem}, {kernel, e.launch, variant, e.stem}};
  return filled(form_of((std::string("workload.") + name).c_str()), e).value_or("not filled");
}

report::BenchReport report_of(const std::string& text) {
  report::BenchReport made;
  made.date = made.device = made.device_name = made.versions.app = made.versions.nvrtc = made.versions.driver = text;
  made.entries.push_back({text, text, text, false, text, text});
  made.entries.push_back({text, text, text, true, text, text});
  report::Row& row = made.rows.emplace_back();
  for (const report::CellState state : {report::CellState::timed, report::CellState::wrong}) {
    report::Cell& cell = row.cells.emplace_back();
    cell.state = state;
    cell.p10 = cell.p50 = cell.p90 = 5;
    cell.config = cell.reason = text;
  }
  return made;
}

report::RbkReport rbk_of(const std::string& text) {
  report::RbkReport made;
  made.bench = report_of(text);
  made.config.shapes = {{text, 1, 1, 64, 64, false, text}};
  made.rows = {0};
  made.merges = report::gates_of(made.bench, made.config, {});
  return made;
}

// A page without the line before its markup: the rest is XML, too.
std::string markup_of(const std::string& page) { return page.substr(page.find('\n') + 1); }

Observation observation_of(const std::string& text) {
  Observation o;
  o.experiment.kernel = o.device = o.versions.cublas = text;
  o.timing.emplace();
  Sampling& sampling = o.timing->sampling.emplace();
  sampling.reasons = {text};
  o.verdict.emplace().reason = text;
  VariantInfo& variant = o.variant.emplace();
  variant.shared_buffers.push_back({text, 64, false});
  variant.code_hash = variant.log = text;
  o.occupancy.emplace();
  o.printed.emplace().lines = {text};
  o.hardware.emplace().cupti = text;
  Finding& finding = o.findings.emplace_back();
  finding.rule = Rule::named(finding.sentence = text);
  finding.evidence = {{text, 1, text, FigureKind::counted}};
  finding.where = {{"file", text}, {"line", "1"}, {"phase", text}};
  finding.gain = Gain{0.5, 0.25};
  finding.next = Next{{{"KNOB", 1}}};
  o.watch.emplace().findings.push_back(finding);
  o.failure = Failure{Stage::launch, text, text};
  return o;
}

std::string said(const std::function<void()>& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

std::string printed(const std::string& text) {
  testing::internal::CaptureStdout();
  print_result(text);
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

std::string logged(const std::string& text) {
  return said([&] {
    start_log();
    spdlog::warn("worker says {}", text);
    spdlog::default_logger()->flush();
  });
}

std::string preset_of(const std::string& text) {
  const TempDir folder;
  store::Preset preset;
  preset.title = preset.group = preset.note = preset.kernel = preset.device = text;
  const auto written = store::write_preset(folder / "one.json", preset, {});
  return written ? read_text(folder / "one.json") : written.error().message;
}

charts::Figure figure_of(const std::string& text) {
  charts::Figure made;
  made.title = made.note = made.x.title = made.y.title = text;
  made.x.marks = made.y.marks = {{0.5, text}};
  made.lines = {{text, {{0, 0}, {1, 1}}, true}};
  made.bars = {{0.5, 0, 0.5, text, 1}};
  made.points = {{0.5, 0.5, 0.2, 0.8, FigureKind::measured, true, text}};
  made.sheet = {{"first", "second"}, {{text, 1.5}, {text, charts::Cell()}}};
  return made;
}

// `write` gets the rows of one microbenchmark; every text in them is `text`.
std::string micro_of(const std::string& text,
                     const std::function<std::string(const std::vector<MicroBoard>&, const MicroAsked&)>& write) {
  Kernel kernel;
  kernel.id = kernel.title = text;
  kernel.fragment.emplace().unit = text;
  kernel.fragment->stands = {{text, "1"}};
  MicroBoard board{
      &kernel, {sweep::MicroRow{&kernel, {}, {}, 1}}, {{text, text, text, text, text}}, {observation_of(text)}, 0};
  return write({board}, {Problem{}, text});
}

// A new writer of outside text is added here; tests/layers/check_writers.py finds those that bypass core's escapes. The
// name's ending selects the product's reader (read_products.py): .lines.txt may hold several lines.
struct Writer {
  const char* name;
  std::function<std::string(const std::string&)> write;
};

const std::vector<Writer> kWriters{
    {"source.cu", [](const std::string& text) { return source_of(export_of(text)); }},
    {"build.sh", [](const std::string& text) { return nvcc_line(export_of(text)) + "\n"; }},
    {"launch.cpp", [](const std::string& text) { return filled_form("launch.cpp", text); }},
    {"launch.py", [](const std::string& text) { return filled_form("launch.py", text); }},
    {"readme.md", [](const std::string& text) { return filled_form("README.md", text); }},
    {"workload.cpp", [](const std::string& text) { return filled_workload_form("launch.cpp", text); }},
    {"workload.py", [](const std::string& text) { return filled_workload_form("launch.py", text); }},
    {"workload.md", [](const std::string& text) { return filled_workload_form("README.md", text); }},
    {"report.md", [](const std::string& text) { return report::as_markdown(report_of(text)); }},
    {"ladder.md", [](const std::string& text) { return report::as_ladder(report_of(text)); }},
    {"rbk.md", [](const std::string& text) { return report::as_markdown(rbk_of(text)); }},
    {"rbk.csv", [](const std::string& text) { return report::as_csv(rbk_of(text)); }},
    {"rbk.json", [](const std::string& text) { return json_text(report::to_json(rbk_of(text)), 1); }},
    {"rbk.svg", [](const std::string& text) { return markup_of(report::as_html(rbk_of(text))); }},
    {"report.svg", [](const std::string& text) { return report::as_svg(report_of(text)); }},
    {"report.json", [](const std::string& text) { return json_text(to_json(report_of(text)), 1); }},
    {"report.txt", [](const std::string& text) { return report::as_table(report_of(text)); }},
    {"observation.json", [](const std::string& text) { return json_text(to_json(observation_of(text)), 2); }},
    {"observation.txt", [](const std::string& text) { return text_of(observation_of(text), text); }},
    {"counters.txt", [](const std::string& text) { return counters_text(observation_of(text), text); }},
    {"explanation.txt",
     [](const std::string& text) {
       const Observation o = observation_of(text);
       Kernel kernel;
       kernel.id = text;
       return explanation_of(o, kernel, &o);
     }},
    {"disasm.txt",
     [](const std::string& text) {
       Listing listing;
       listing.files = {text};
       listing.lines = {CodeLine{text, {{0, 1}}}};
       Kernel kernel;
       kernel.source = kernel.source_name = text;
       const charts::CodeView view = charts::code_view(listing, nullptr, SourceLines(text), 1);
       return sass_text(listing, view, {0}) + lines_text(kernel, view, {1}) +
              diff_text("SASS", charts::diff_of({text}, {}), {text}, {});
     }},
    {"banks.txt",
     [](const std::string& text) {
       Listing listing;
       listing.files = {text};
       listing.lines = {CodeLine{text, {{0, 1}}}};
       listing.lines[0].shared = {.shapes = {SharedAccess{{}, 1, 4, SharedUse::load}}, .steps = {{}}};
       listing.places = {{text, 0, 128}};
       Kernel kernel;
       kernel.source_name = text;
       return banks_text(listing, kernel, {.line = 1}).value();
     }},
    {"softmax.lines.txt",
     [](const std::string& text) {
       SoftmaxSteps steps;
       steps.keys = steps.visible = steps.head_dim = 1;
       steps.m = steps.l = steps.exact_m = steps.exact_l = steps.scores = {1};
       steps.m_line = 1;
       Kernel kernel;
       kernel.id = kernel.source_name = text;
       return softmax_text(steps, kernel, 1).value();
     }},
    {"timeline.lines.txt",
     [](const std::string& text) {
       SmTimeline timeline;
       timeline.sms = timeline.total_ctas = 1;
       timeline.launch = text;
       return timeline_text(timeline, text, text);
     }},
    {"scan.lines.txt",
     [](const std::string& text) {
       const Observation o = observation_of(text);
       Kernel kernel;
       kernel.id = text;
       Scan scan{1, o.experiment, {}, {}};
       scan.held.device = text;
       scan.points.push_back({text, {1, text}, true, {}, Failure{Stage::limits, text, text}, {text}, nullptr, {}});
       scan.points.push_back({text, {2, text}, false, {}, {}, {text}, std::make_shared<Observation>(o), {}});
       scan.points.push_back({text, {3, text}, false, {}, {}, {}, nullptr, 1});
       return text_of(scan, kernel);
     }},
    {"results.csv",
     [](const std::string& text) {
       return csv_head() + "\n" + csv_line({observation_of(text), 1}) + "\n";
     }},
    {"results.json",
     [](const std::string& text) {
       return json_line({observation_of(text), 1});
     }},
    {"results.txt",
     [](const std::string& text) {
       return line_of({observation_of(text), 1});
     }},
    {"sweep.lines.txt",
     [](const std::string& text) {
       Observation o = observation_of(text);
       o.failure.reset();
       o.watch.reset();
       o.verdict.emplace().state = VerdictState::correct;
       if (!o.timing) o.timing.emplace().p50 = 5;
       sweep::Plan plan;
       plan.kernel.id = plan.held.device = text;
       plan.kernel_dirs = {text};
       Scan scan{1, plan.held, {}, {}};
       scan.points.push_back({"", {0, text}, false, {}, {}, {}, std::make_shared<Observation>(o), {}});
       o.failure = Failure{Stage::compile, text, text};
       scan.points.push_back({"", {0, text}, false, {}, {}, {}, std::make_shared<Observation>(o), {}});
       const sweep::Board board =
           sweep::board_of(scan, {{{}, search::Exclusion::warning, text, text, text}}, plan.kernel);
       return text_of(board, plan, {}, true) + text_of(board, plan, {}, false);
     }},
    {"micro.lines.txt",
     [](const std::string& text) {
       return micro_of(text, [](const auto& boards, const auto& asked) { return text_of(boards, asked, 0); });
     }},
    {"micro.csv", [](const std::string& text) { return micro_of(text, csv_of); }},
    {"micro.json",
     [](const std::string& text) {
       return micro_of(text,
                       [](const auto& boards, const auto& asked) { return json_text(to_json(boards, asked), 1); });
     }},
    {"leaderboard.lines.txt",
     [](const std::string& text) {
       Observation ranked = observation_of(text), failed = observation_of(text);
       ranked.failure.reset();
       ranked.watch.reset();
       ranked.verdict.emplace().state = VerdictState::correct;
       if (!ranked.timing) ranked.timing.emplace().p50 = 5;
       failed.failure = Failure{Stage::compile, text, text};
       failed.hash = "another";
       std::string out;
       const auto run = [](const Observation& one) { return std::make_shared<const Observation>(one); };
       for (const charts::Leaderboard& board : charts::leaderboards(
                {{run(ranked), 1}, {run(failed), 2}}, [](const auto&) { return std::nullopt; }, 0))
         out += text_of(board, {}, {}, true);
       return out;
     }},
    {"figure.svg", [](const std::string& text) { return charts::svg_of(figure_of(text)); }},
    {"figures.csv", [](const std::string& text) { return charts::csv_of(figure_of(text).sheet); }},
    {"figures.json", [](const std::string& text) { return charts::json_of(figure_of(text).sheet); }},
    {"preset.json", preset_of},
    {"result.lines.txt", printed},
    {"note.lines.txt", [](const std::string& text) { return said([&] { print_note(text); }); }},
    {"failure.lines.txt", [](const std::string& text) { return said([&] {
                                                          report({Stage::input, text, text});
                                                        }); }},
    {"log.lines.txt", logged},
};

TEST(Writers, WhatTheyWriteIsReadAsTheSameThingWhateverTheTextsSay) {
  const TempDir folder;
  const std::vector<std::string> all = texts();
  for (size_t i = 0; i < all.size(); ++i)
    for (const Writer& writer : kWriters) folder.write(std::to_string(i) + "/" + writer.name, writer.write(all[i]));
  const std::string reader = std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/unit/cli/read_products.py";
  const std::string command =
      "python3 -B '" + reader + "' '" + folder.path().string() + "' > '" + (folder / "faults").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(status, 0) << read_text(folder / "faults");
  EXPECT_NE(read_text(folder / "faults").find("products read"), std::string::npos) << read_text(folder / "faults");
}

TEST(Writers, AProgressLineKeepsItsOwnEscapesOnly) {
  EXPECT_EQ(said([] { print_over("a\x1b[2J\nb"); }),
            "\r\x1b[K"
            "a\uFFFD[2J b");
}

}  // namespace
}  // namespace attnscope::cli
