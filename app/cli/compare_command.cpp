#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "catalog/catalog.h"
#include "charts/words.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "core/comparable.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "measure/statistics.h"
#include "platform/atomic_file.h"
#include "session/session.h"
#include "store/preset.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;  // size of a file to compare
constexpr int64_t kBlockMs = 100;          // of timing one of the two in a block

struct Options {
  std::string files[2];
  std::vector<std::string> kernel_dirs;
  std::string device;
  int blocks = 12;
  bool recorded = false;
  bool json = false;
};

// One of the two: what to run, and its recorded observation.
struct Side {
  Draft draft;
  std::optional<Observation> recorded;
  std::optional<Observation> ran;  // its latest timed run
  const measure::Rounds* rounds() const {
    return recorded && recorded->timing && recorded->timing->sampling ? &recorded->timing->sampling->rounds : nullptr;
  }
};

Result<Json> read_json(const std::string& file) {
  auto text = platform::read_file(file, kMostBytes);
  if (!text) return fail(Stage::input, text.error().message, "Give the JSON of `attnscope run --json`, or a preset.");
  return parse_json(*text, file);
}

Result<Side> read_side(const std::string& file, const std::vector<Kernel>& kernels) {
  auto json = read_json(file);
  if (!json) return fail(json.error());
  Side side;
  if (json->is_object() && json->contains("attnscope_preset")) {
    auto preset = store::preset_from_json(*json, file, kernels);
    if (!preset) return fail(preset.error());
    side.draft = *preset;
    return side;
  }
  auto observation = observation_from_json(*json, file);
  if (!observation)
    return fail(Stage::input, observation.error().message, "Give the JSON of `attnscope run --json`, or a preset.");
  side.draft = observation->experiment;
  side.recorded = std::move(*observation);
  return side;
}

Result<void> check_comparable(const Observation& a, const Observation& b) {
  const Unlike unlike = comparable(a, b);
  if (unlike == Unlike::none) return {};
  return fail(
      Stage::input,
      fmt::format("A and B are not comparable, {}: {}", to_string(unlike), one_line(charts::unlike_sentence(a, b))),
      "Give two that differ only in kernel, knobs and compile options.");
}

// Times one of the two for a block. A run without a time makes the whole comparison fail.
Result<double> time_once(session::Session& session, Side& side) {
  Draft draft = side.draft;
  draft.measure.max_time_ms = kBlockMs;
  side.ran = session.queue(std::move(draft)).get();
  if (side.ran->failure) return fail(*side.ran->failure);
  if (!side.ran->timing || side.ran->timing->kind != FigureKind::measured)
    return fail(Stage::input, side.draft.kernel + " on " + side.draft.device + " is modelled, not timed",
                "Compare on a GPU (--device cuda:0), or two observations with timings recorded on a GPU (--recorded).");
  return side.ran->timing->p50;
}

// In turn, a b then b a, so that a drift of the clock affects both.
Result<measure::Comparison> compare_in_turn(const Options& options, Side& a, Side& b) {
  auto session_opts = session_options(options.kernel_dirs, false);
  if (!session_opts) return fail(session_opts.error());
  session_opts->first_experiment = false;
  auto session = session::Session::start(std::move(*session_opts), {});
  if (!session) return fail(session.error());
  std::vector<measure::Block> blocks;
  for (int block = -1; block < options.blocks; ++block) {  // the first compiles and warms up, and is left out
    const bool swapped = block % 2 != 0;
    auto first = time_once(**session, swapped ? b : a);
    if (!first) return fail(first.error());
    auto second = time_once(**session, swapped ? a : b);
    if (!second) return fail(second.error());
    if (auto like = check_comparable(*a.ran, *b.ran); !like) return fail(like.error());
    if (block >= 0) blocks.push_back(swapped ? measure::Block{*second, *first} : measure::Block{*first, *second});
  }
  return measure::compare_blocks(blocks);
}

Result<measure::Comparison> compare_recorded(const Options& options, const Side& a, const Side& b) {
  for (const auto& [side, file] : {std::pair(&a, &options.files[0]), std::pair(&b, &options.files[1])})
    if (!side->rounds())
      return fail(Stage::input, *file + " holds no recorded samples",
                  "Record one: attnscope run --device cuda:0 --json > FILE");
  if (auto like = check_comparable(*a.recorded, *b.recorded); !like) return fail(like.error());
  return measure::compare_rounds(*a.rounds(), *b.rounds());
}

std::string line_of(const char* letter, const Side& side, bool recorded) {
  const Observation& o = recorded ? *side.recorded : *side.ran;
  std::string text = fmt::format("{}  {} on {}, {}", letter, one_line(o.experiment.kernel), one_line(o.device),
                                 short_text(o.experiment.problem));
  for (const auto& [knob, value] : o.experiment.config.knobs) text += fmt::format(" {}={}", one_line(knob), value);
  if (o.timing)
    text += fmt::format(": {:.4g} us {}, {}", o.timing->p50, to_string(o.timing->kind), to_string(o.timing->cache));
  if (const auto headline = headline_of(o)) text += fmt::format(", {}", to_string(*headline));
  return text + "\n";
}

std::string text_of(const measure::Comparison& c, bool recorded) {
  const std::string how =
      recorded ? fmt::format("recorded, {} rounds", c.blocks) : fmt::format("{} blocks in turn", c.blocks);
  const std::string figures =
      fmt::format("A/B {:.5f}, 95 % interval {:.5f} to {:.5f}, {}", c.ratio, c.interval.low, c.interval.high, how);
  if (c.tie()) return "tie: " + figures + "\n";
  return fmt::format("A is {:.2f} % {}: {}\n", 100 * std::abs(c.ratio - 1), c.ratio > 1 ? "slower" : "faster", figures);
}

Json json_of(const measure::Comparison& c, bool recorded, const Side& a, const Side& b) {
  const auto side = [&](const Side& one) {
    const Observation& o = recorded ? *one.recorded : *one.ran;
    return Json{{"experiment", to_json(o.experiment)},
                {"us", o.timing ? Json(o.timing->p50) : Json(nullptr)},
                {"verdict", o.verdict ? Json(word_of(o.verdict->state)) : Json(nullptr)},
                {"headline", headline_of(o) ? Json(word_of(*headline_of(o))) : Json(nullptr)}};
  };
  return Json{{"kind", word_of(FigureKind::measured)},
              {"how", recorded ? "recorded" : "in turn"},
              {"a", side(a)},
              {"b", side(b)},
              {"ratio", c.ratio},
              {"interval", {c.interval.low, c.interval.high}},
              {"blocks", c.blocks},
              {"tie", c.tie()}};
}

int compare(const Options& options) {
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return report(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  auto a = read_side(options.files[0], catalog.kernels);
  if (!a) return report(a.error());
  auto b = read_side(options.files[1], catalog.kernels);
  if (!b) return report(b.error());
  if (!options.device.empty()) a->draft.device = b->draft.device = options.device;
  auto compared = options.recorded ? compare_recorded(options, *a, *b) : compare_in_turn(options, *a, *b);
  bool recorded = options.recorded;
  if (!compared && compared.error().stage == Stage::device && a->rounds() && b->rounds()) {
    report(compared.error());  // their GPU is not here, but its recorded samples are
    compared = compare_recorded(options, *a, *b);
    recorded = true;
  }
  if (!compared) return report(compared.error());
  print_result(options.json ? json_text(json_of(*compared, recorded, *a, *b), 2)
                            : line_of("A", *a, recorded) + line_of("B", *b, recorded) + text_of(*compared, recorded));
  return std::max(status_of(recorded ? *a->recorded : *a->ran), status_of(recorded ? *b->recorded : *b->ran));
}

}  // namespace

void add_compare(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("compare", "Time two experiments in turn, or compare their recorded samples");
  auto options = std::make_shared<Options>();
  command->add_option("A", options->files[0], "An observation (attnscope run --json) or a preset")->required();
  command->add_option("B", options->files[1], "What to compare it with")->required();
  add_kernels_option(*command, options->kernel_dirs);
  command->add_option("--device", options->device, "Time both here")->type_name("DEVICE");
  command->add_option("--blocks", options->blocks, "How often both are timed, one after the other")
      ->type_name("N")
      ->check(CLI::Range(static_cast<int>(measure::kFewestBlocks), 1000));
  command->add_flag("--recorded", options->recorded, "Do not time anything: compare the samples that A and B hold");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace attnscope::cli
