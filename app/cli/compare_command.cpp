#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "catalog/catalog.h"
#include "charts/standing.h"
#include "charts/words.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/given_file.h"
#include "cli/places.h"
#include "core/comparable.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "core/number_text.h"
#include "measure/statistics.h"
#include "model/bars.h"
#include "platform/atomic_file.h"
#include "session/session.h"
#include "store/preset.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMostCompared = 16 << 20;  // of a file to compare
constexpr int64_t kBlockMs = 100;             // for timing one of the two in a block

struct CompareOptions {
  std::string files[2];
  std::vector<std::string> kernel_dirs;
  std::string device, problem;
  int blocks = 12;
  bool recorded = false;
  bool fail_if_slower = false;  // B slower than A
  bool json = false;
};

// One of the two: what to run, and its recorded observation.
struct Side {
  Draft draft;
  std::optional<Observation> recorded;
  std::optional<Observation> ran;  // its latest timed run
  // The folder of its file's kernel, if that is not in the cache.
  std::shared_ptr<const platform::TemporaryFolder> temporary = {};
  const measure::Rounds* rounds() const {
    return recorded && recorded->timing && recorded->timing->sampling ? &recorded->timing->sampling->rounds : nullptr;
  }
};

Result<Json> read_json(const std::string& file) {
  auto text = platform::read_file(file, kMostCompared);
  if (!text) return fail(Stage::input, text.error().message, "Give the JSON of `attnscope run --json`, or a preset.");
  return parse_json(*text, file);
}

// A kernel in a file, with the sizes from its manifest or its import.
Result<Side> side_of_file(const std::string& file, CompareOptions& options) {
  GivenFile given;
  given.file = file;
  auto named = named_by(given, {.preset = {},
                                .kernel = {},
                                .settings = {},
                                .options = {},
                                .problem = options.problem,
                                .device = options.device,
                                .kernel_dirs = options.kernel_dirs});
  if (!named) return fail(named.error());
  auto draft = draft_of(named->options);
  if (!draft) return fail(draft.error());
  for (const std::string& guess : named->kernel.guessed) print_note(file + ": guessed: " + guess);
  options.kernel_dirs.push_back(named->kernel.folder);
  return Side{draft->draft, {}, {}, named->kernel.temporary};
}

Result<Side> read_side(const std::string& file, const std::vector<Kernel>& kernels, CompareOptions& options) {
  if (file.empty())
    return fail(Stage::input, "compare needs two files, and only A is given",
                "Name B too: an observation (attnscope run --json), a preset, a .cu file or machine code.");
  if (is_code_file(file)) return side_of_file(file, options);
  if (!options.problem.empty())
    return fail(Stage::input, file + " has its problem: --problem is for .cu files", "Leave it out.");
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

// A's time over B's: from blocks or recorded rounds, or from two modelled times, which have one figure each and no
// blocks.
struct Compared {
  FigureKind kind = FigureKind::measured;
  measure::Comparison times;
};

bool is_modelled(const std::optional<Observation>& one) {
  return one && one->timing && one->timing->kind == FigureKind::modelled;
}

Compared compare_modelled(const Observation& a, const Observation& b) {
  const model::Paired paired = model::paired(b, a);
  return {FigureKind::modelled, {paired.ratio, {paired.low, paired.high}, 0}};
}

// A recorded run whose kernel has another text now cannot be timed again.
Result<void> check_text(const Side& side, const std::string& file, const std::vector<Kernel>& kernels) {
  if (!side.recorded || side.recorded->experiment.kernel_hash.empty()) return {};
  const auto found = std::ranges::find(kernels, side.draft.kernel, &Kernel::id);
  if (found == kernels.end() || found->content_hash == side.recorded->experiment.kernel_hash) return {};
  return fail(Stage::input,
              fmt::format("{}: the kernel {} was edited since this run, so it cannot be timed again", file,
                          one_line(side.draft.kernel)),
              "Compare the recorded runs (--recorded), or run the edited kernel and give its new file.");
}

// Times one of the two for a block. A run without a time makes the whole comparison fail.
Result<double> time_once(session::Session& session, Side& side) {
  Draft draft = side.draft;
  draft.measure.max_time_ms = kBlockMs;
  side.ran = session.queue(std::move(draft)).get();
  if (side.ran->failure) return fail(*side.ran->failure);
  if (!side.ran->timing)
    return fail(Stage::input, side.draft.kernel + " on " + side.draft.device + " gave no time",
                "Compare on a device that times it, such as --device cuda:0.");
  return side.ran->timing->p50;
}

// In turn, a b then b a, so that a drift of the clock affects both.
Result<Compared> compare_in_turn(const CompareOptions& options, Side& a, Side& b) {
  auto session_opts = session_options(options.kernel_dirs, false);
  if (!session_opts) return fail(session_opts.error());
  session_opts->first_experiment = false;
  auto session = session::Session::start(std::move(*session_opts), {});
  if (!session) return fail(session.error());
  std::vector<measure::Block> blocks;
  for (int block = -1; block < options.blocks; ++block) {  // the first block compiles and warms up, and is dropped
    const bool swapped = block % 2 != 0;
    auto first = time_once(**session, swapped ? b : a);
    if (!first) return fail(first.error());
    auto second = time_once(**session, swapped ? a : b);
    if (!second) return fail(second.error());
    if (auto like = check_comparable(*a.ran, *b.ran); !like) return fail(like.error());
    if (is_modelled(a.ran)) return compare_modelled(*a.ran, *b.ran);  // a modelled time is always the same
    if (block >= 0) blocks.push_back(swapped ? measure::Block{*second, *first} : measure::Block{*first, *second});
  }
  return Compared{FigureKind::measured, measure::compare_blocks(blocks)};
}

Result<Compared> compare_recorded(const CompareOptions& options, const Side& a, const Side& b) {
  if (is_modelled(a.recorded) && is_modelled(b.recorded)) {
    if (auto like = check_comparable(*a.recorded, *b.recorded); !like) return fail(like.error());
    return compare_modelled(*a.recorded, *b.recorded);
  }
  for (const auto& [side, file] : {std::pair(&a, &options.files[0]), std::pair(&b, &options.files[1])})
    if (!side->rounds())
      return fail(Stage::input, *file + " holds no recorded samples",
                  "Record one: attnscope run --device cuda:0 --json > FILE");
  if (auto like = check_comparable(*a.recorded, *b.recorded); !like) return fail(like.error());
  return Compared{FigureKind::measured, measure::compare_rounds(*a.rounds(), *b.rounds())};
}

std::string line_of(const char* letter, const Side& side, bool recorded) {
  const Observation& o = recorded ? *side.recorded : *side.ran;
  std::string text = fmt::format("{}  {} on {}, {}", letter, one_line(o.experiment.kernel), one_line(o.device),
                                 short_text(o.experiment.problem));
  for (const auto& [knob, value] : o.experiment.config.knobs) text += fmt::format(" {}={}", one_line(knob), value);
  if (o.timing)
    text += fmt::format(": {} us {}, {}", number_text(o.timing->p50), to_string(o.timing->kind),
                        to_string(o.timing->cache));
  if (const auto headline = headline_of(o)) text += fmt::format(", {}", to_string(*headline));
  return text + "\n";
}

std::string compared_text(const Compared& compared, bool recorded) {
  const measure::Comparison& c = compared.times;
  const bool modelled = compared.kind == FigureKind::modelled;
  const std::string how = modelled   ? "modelled"
                          : recorded ? fmt::format("recorded, {} rounds", c.blocks)
                                     : fmt::format("{} blocks in turn", c.blocks);
  const std::string figures =
      fmt::format("A/B {:.5f}, {} {:.5f} to {:.5f}, {}", c.ratio, modelled ? "error bar" : "95 % interval",
                  c.interval.low, c.interval.high, how);
  if (c.tie()) return fmt::format("{}: {}\n", to_string(charts::Outcome::tie), figures);
  // Of B, and relative to A, as in the window.
  return fmt::format("B is {:.2f} % {}: {}\n", 100 * std::abs(1 / c.ratio - 1),
                     to_string(c.ratio > 1 ? charts::Outcome::faster : charts::Outcome::slower), figures);
}

bool is_b_slower(const measure::Comparison& times) { return !times.tie() && times.ratio < 1; }

Json compared_json(const Compared& compared, bool recorded, const Side& a, const Side& b) {
  const auto side = [&](const Side& one) {
    const Observation& o = recorded ? *one.recorded : *one.ran;
    return Json{{"experiment", to_json(o.experiment)},
                {"us", o.timing ? Json(o.timing->p50) : Json(nullptr)},
                {"verdict", o.verdict ? Json(word_of(o.verdict->state)) : Json(nullptr)},
                {"headline", headline_of(o) ? Json(word_of(*headline_of(o))) : Json(nullptr)}};
  };
  const measure::Comparison& c = compared.times;
  return Json{{"kind", word_of(compared.kind)},
              {"how", recorded                                ? "recorded"
                      : compared.kind == FigureKind::modelled ? "modelled"
                                                              : "in turn"},
              {"a", side(a)},
              {"b", side(b)},
              {"ratio", c.ratio},
              {"interval", {c.interval.low, c.interval.high}},
              {"blocks", c.blocks},
              {"tie", c.tie()}};
}

int compare(CompareOptions options) {
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return report(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  auto a = read_side(options.files[0], catalog.kernels, options);
  if (!a) return report(a.error());
  auto b = read_side(options.files[1], catalog.kernels, options);
  if (!b) return report(b.error());
  if (!options.recorded)
    for (const auto& [side, file] : {std::pair(&*a, &options.files[0]), std::pair(&*b, &options.files[1])})
      if (auto same = check_text(*side, *file, catalog.kernels); !same) return report(same.error());
  if (!options.device.empty()) a->draft.device = b->draft.device = options.device;
  auto compared = options.recorded ? compare_recorded(options, *a, *b) : compare_in_turn(options, *a, *b);
  bool recorded = options.recorded;
  if (!compared && compared.error().stage == Stage::device && a->rounds() && b->rounds()) {
    report(compared.error());  // the GPU is not available, but its recorded samples are
    compared = compare_recorded(options, *a, *b);
    recorded = true;
  }
  if (!compared) return report(compared.error());
  print_result(options.json
                   ? json_text(compared_json(*compared, recorded, *a, *b), 2)
                   : line_of("A", *a, recorded) + line_of("B", *b, recorded) + compared_text(*compared, recorded));
  const auto status =
      std::max(status_of(recorded ? *a->recorded : *a->ran), status_of(recorded ? *b->recorded : *b->ran));
  return options.fail_if_slower && is_b_slower(compared->times) ? std::max(status, kWrong) : status;
}

}  // namespace

void add_compare(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("compare", "Time two experiments in turn, or compare their recorded or modelled times");
  auto options = std::make_shared<CompareOptions>();
  command
      ->add_option("A", options->files[0],
                   "An observation (attnscope run --json), a preset, a .cu file or machine code")
      ->required();
  command->add_option("B", options->files[1], "What to compare it with: one of these");
  add_kernels_option(*command, options->kernel_dirs);
  command->add_option("--device", options->device, "Time both here")->type_name("DEVICE");
  command->add_option("--problem", options->problem, "The sizes of .cu files: n=4096")->type_name("SIZES");
  command->add_option("--blocks", options->blocks, "How often both are timed, one after the other")
      ->type_name("N")
      ->check(CLI::Range(static_cast<int>(measure::kFewestBlocks), 1000));
  command->add_flag("--recorded", options->recorded, "Do not time anything: compare the samples that A and B hold");
  command->add_flag("--fail-if-slower", options->fail_if_slower,
                    "Exit with 1 if B is slower than A and they are not a tie: a gate for CI");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace attnscope::cli
