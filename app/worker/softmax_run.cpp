#include "worker/softmax_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "catalog/softmax_places.h"
#include "catalog/validate.h"
#include "check/exact_softmax.h"
#include "check/float_formats.h"
#include "check/inputs.h"
#include "compile/sass.h"
#include "core/joined.h"
#include "core/source_lines.h"
#include "emulator/isa/program.h"
#include "worker/watch_run.h"

namespace attnscope::worker {
namespace {

using catalog::SoftmaxSite;
using emulator::Probe;

// The ids of the probes. Those that the manifest does not name are not set.
enum Read : uint32_t { kM, kL, kEnd, kScores };

// The bytes of the CTA's shared memory that hold a row's elements.
struct Held {
  bool halves = false;  // fp16 instead of fp32
  std::vector<uint32_t> bytes;
  // The 32-bit words that contain them.
  std::vector<uint32_t> words() const {
    std::vector<uint32_t> all;
    for (const uint32_t byte : bytes) all.push_back(byte / 4 * 4);
    return all;
  }
  // Appends their values, read from those words.
  void append_to(std::vector<float>& values, std::span<const uint32_t> words) const {
    for (size_t i = 0; i < bytes.size(); ++i)
      values.push_back(halves ? check::float_from_f16(static_cast<uint16_t>(words[i] >> 8 * (bytes[i] % 4)))
                              : std::bit_cast<float>(words[i]));
  }
};

// Elements are fp16 if two elements of a row are two bytes apart.
bool are_halves(std::vector<int64_t> bytes) {
  std::ranges::sort(bytes);
  return std::ranges::adjacent_find(bytes, [](int64_t a, int64_t b) { return b - a == 2; }) != bytes.end();
}

// The run for one row: its launch, and where the row's data is in it.
struct Walk {
  const Kernel& kernel;
  const Problem& problem;
  SoftmaxSite site;
  std::shared_ptr<const emulator::Program> program;
  std::vector<SharedPlace> places;
  Held scores = {}, weights = {}, o = {};
  SourceLines lines = SourceLines(kernel.source_name, kernel.source);

  const compile::SassProgram& sass() const { return *program->sass; }
  Result<std::vector<uint32_t>> instructions(int64_t line, std::string_view op) const;
  Result<void> find(const SoftmaxSite::Kept& kept, Held& held) const;
  Result<std::vector<Probe>> probes();
  int64_t line_of(uint32_t op) const;
};

int64_t Walk::line_of(uint32_t op) const {
  const compile::SassLine& line = sass().instructions[op].line;
  if (line.line == 0 || line.file >= sass().files.size()) return 0;
  return lines.text_line(sass().files[line.file], line.line);
}

// The instructions of a line with that opcode. Those of inlined calls do not belong to the line.
Result<std::vector<uint32_t>> Walk::instructions(int64_t line, std::string_view op) const {
  const SourcePlace place = lines.place_of(line);
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < sass().instructions.size(); ++i) {
    const compile::SassInstruction& one = sass().instructions[i];
    if (one.opcode == op && one.line.line == static_cast<uint32_t>(place.line) && one.line.file < sass().files.size() &&
        sass().files[one.line.file] == place.file)
      found.push_back(i);
  }
  if (found.empty())
    return fail(Stage::catalog, fmt::format("{}:{} has no {} in this config's code", kernel.source_name, line, op),
                "See its instructions with attnscope disasm, and mend \"softmax\" in " + kernel.manifest_name + ".");
  return found;
}

Result<void> Walk::find(const SoftmaxSite::Kept& kept, Held& held) const {
  if (kept.buffer.empty()) return {};
  held.halves = are_halves(kept.bytes);
  const auto place = std::ranges::find(places, kept.buffer, &SharedPlace::name);
  if (place == places.end())
    return fail(Stage::catalog, fmt::format("{}: its shared memory has no buffer {}", kernel.id, kept.buffer),
                places.empty() ? "It has no named buffers." : "It has " + joined(places, &SharedPlace::name) + ".");
  const int64_t size = held.halves ? 2 : 4;  // of one element, in bytes
  for (const int64_t byte : kept.bytes) {
    if (byte + size > place->bytes)
      return fail(
          Stage::catalog,
          fmt::format("{}: byte {} is past the end of {}, which has {}", kernel.id, byte, kept.buffer, place->bytes),
          "Mend \"softmax\" in " + kernel.manifest_name + ".");
    if ((place->begin + byte) % size != 0)
      return fail(Stage::catalog,
                  fmt::format("{}: byte {} of {} is not where {} bytes of an element start", kernel.id, byte,
                              kept.buffer, size),
                  "Mend \"softmax\" in " + kernel.manifest_name + ".");
    held.bytes.push_back(static_cast<uint32_t>(place->begin + byte));
  }
  return {};
}

Result<std::vector<Probe>> Walk::probes() {
  std::vector<Probe> all;
  for (const SoftmaxSite::Written* one : {&site.m, &site.l}) {
    auto ops = instructions(one->line, one->op);
    if (!ops) return fail(ops.error());
    all.push_back({Probe::When::executes,
                   std::move(*ops),
                   static_cast<uint32_t>(one->warp),
                   static_cast<uint32_t>(one->lane),
                   true,
                   {},
                   std::nullopt});
  }
  auto barrier = instructions(site.ends_line, "BAR");
  if (!barrier) return fail(barrier.error());
  for (const auto& done : {find(site.o, o), find(site.weights, weights), find(site.scores, scores)})
    if (!done) return fail(done.error());
  Probe end{Probe::When::passes, std::move(*barrier), 0, 0, false, weights.words(), std::nullopt};
  const std::vector<uint32_t> words_of_o = o.words();
  end.bytes.insert(end.bytes.end(), words_of_o.begin(), words_of_o.end());
  all.push_back(std::move(end));
  if (scores.bytes.empty()) return all;
  Probe first_load{Probe::When::loads, {}, 0, 0, false, scores.words(), kEnd};
  for (const emulator::Op& op : program->ops)
    if (emulator::reads(op.access) && (op.space == emulator::Space::shared || op.space == emulator::Space::generic))
      first_load.ops.push_back(op.index);
  all.push_back(std::move(first_load));
  return all;
}

// Turns probe hits into steps, tile by tile.
struct Assembly {
  const Walk& walk;
  SoftmaxSteps made;
  std::vector<uint32_t> of_m, of_l;  // words of the current tile
  std::optional<std::vector<uint32_t>> scores;

  Result<bool> take(const emulator::ProbeHit& hit);
  Result<void> end_tile(const emulator::ProbeHit& hit);
};

Result<bool> Assembly::take(const emulator::ProbeHit& hit) {
  if (hit.probe == kM) {
    if (of_m.size() == static_cast<size_t>(walk.site.m.turn)) made.m_line = walk.line_of(hit.op);
    of_m.push_back(hit.words.back());
  } else if (hit.probe == kL) {
    if (of_l.size() == static_cast<size_t>(walk.site.l.turn)) made.l_line = walk.line_of(hit.op);
    of_l.push_back(hit.words.back());
  } else if (hit.probe == kScores) {
    made.scores_line = walk.line_of(hit.op);
    scores = hit.words;
  } else {
    if (made.steps() == static_cast<size_t>(SoftmaxSteps::kMostSteps)) return false;
    made.end_line = walk.line_of(hit.op);
    if (auto done = end_tile(hit); !done) return fail(done.error());
  }
  return true;
}

Result<void> Assembly::end_tile(const emulator::ProbeHit& hit) {
  const auto value = [&](const char* what, const std::vector<uint32_t>& words, int64_t turn) -> Result<float> {
    if (static_cast<size_t>(turn) < words.size()) return std::bit_cast<float>(words[static_cast<size_t>(turn)]);
    return fail(Stage::catalog,
                fmt::format("{}: in tile {} the row's lane wrote {} {} times, and \"turn\" names execution {}",
                            walk.kernel.id, made.steps() + 1, what, words.size(), turn),
                "Mend \"softmax\" in " + walk.kernel.manifest_name + ", or read another config.");
  };
  auto m = value("m", of_m, walk.site.m.turn), l = value("l", of_l, walk.site.l.turn);
  if (!m) return fail(m.error());
  if (!l) return fail(l.error());
  made.m.push_back(*m);
  made.l.push_back(*l);
  const size_t weights = walk.weights.bytes.size();
  walk.weights.append_to(made.weights, std::span(hit.words).first(weights));
  walk.o.append_to(made.o, std::span(hit.words).subspan(weights));
  if (!walk.scores.bytes.empty()) {
    if (!scores)
      return fail(Stage::catalog,
                  fmt::format("{}: nothing loads the row's scores in tile {}", walk.kernel.id, made.steps()),
                  "Mend \"softmax/scores\" in " + walk.kernel.manifest_name + ".");
    walk.scores.append_to(made.scores, *scores);
  }
  of_m.clear();
  of_l.clear();
  scores.reset();
  return {};
}

void take_exact(const Problem& problem, SoftmaxSteps& made) {
  const check::ExactSoftmax exact = check::exact_softmax(problem, made.row, made.keys, made.steps());
  for (size_t step = 0; step < made.steps(); ++step) {
    made.exact_m.push_back(static_cast<float>(exact.m[step] * made.unit));
    made.exact_l.push_back(static_cast<float>(exact.l[step]));
  }
}

void take_output(const Problem& problem, std::span<const std::byte> output, SoftmaxSteps& made) {
  for (int64_t column = 0; column < problem.head_dim; ++column) {
    const int64_t at = check::element_offset(problem, problem.heads, problem.seq_q, made.row.batch, made.row.head,
                                             made.row.row, column);
    made.output.push_back(check::load_element(problem.dtype, output.data(), at));
  }
}

}  // namespace

Result<SoftmaxSteps> step_softmax(Services& services, const Request& request, const SoftmaxRow& row, Sink& sink) {
  const Kernel& kernel = request.kernel;
  const Problem& problem = request.experiment.problem;
  if (!problem.is_attention() || !kernel.library.is_source())
    return fail(Stage::input, kernel.id + " has no online softmax whose code is known here",
                "Choose an attention kernel that has a source.");
  auto config = catalog::complete_config(kernel, request.experiment.config.knobs, request.experiment.config.options);
  if (!config) return fail(config.error());
  auto site = catalog::softmax_site(kernel, problem, *config, row);
  if (!site) return fail(site.error());
  Walk walk{kernel, problem, std::move(*site), {}, {}};
  int64_t cta = 0;
  const auto probe = [&](const model::LaunchShape& shape, const compile::Variant& code,
                         const std::vector<SharedBuffer>& dynamic_parts) -> Result<device::Trial> {
    auto sass =
        compile::disassemble(code.cubin, code.entry_symbol, {.nvdisasm = {}, .cache_dir = services.decoded_cache});
    if (!sass) return fail(sass.error());
    auto program = emulator::prepare(*sass);
    if (!program) return fail(program.error());
    walk.program = *program;
    walk.places = shared_names(code, dynamic_parts);
    const auto& grid = shape.grid;
    for (size_t i = 0; i < 3; ++i)
      if (walk.site.cta[i] >= grid[i])
        return fail(Stage::catalog, kernel.where("softmax/rows") + ": the grid has no CTA for " + row_text(row),
                    "\"rows\" is the number of query rows of a CTA.");
    device::Trial trial;
    cta = walk.site.cta[0] + grid[0] * (walk.site.cta[1] + grid[1] * walk.site.cta[2]);
    trial.ctas = {static_cast<uint32_t>(cta)};
    auto probes = walk.probes();
    if (!probes) return fail(probes.error());
    trial.probes = std::move(*probes);
    return trial;
  };
  auto outcome = run_trial(services, request, probe, sink);
  if (!outcome) return fail(outcome.error());
  const emulator::RunResult& result = outcome->emulated->result;
  if (!result.probed.whole)
    return fail(Stage::input, row_text(row) + ": its tiles hold more values than are kept",
                "Choose a problem with fewer keys.");
  Assembly assembly{walk, {}, {}, {}, {}};
  SoftmaxSteps& made = assembly.made;
  made.row = row;
  made.cta = cta;
  made.keys = walk.site.keys;
  made.visible = visible_keys(problem, row.row);
  made.head_dim = problem.head_dim;
  made.unit = walk.site.unit;
  for (const emulator::ProbeHit& hit : result.probed.all) {
    auto more = assembly.take(hit);
    if (!more) return fail(more.error());
    if (!*more) break;
  }
  take_exact(problem, made);
  take_output(problem, outcome->output->data(), made);
  return std::move(assembly.made);
}

}  // namespace attnscope::worker
