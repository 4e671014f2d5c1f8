#include "ui/still_code.h"

#include <limits>

#include "session/listings.h"
#include "support/made_up_timeline.h"
#include "ui/still_session.h"

namespace attnscope::ui {
namespace {

Listing listing(const std::string& file, bool second) {
  Listing made{.files = {file, "cuda_fp16.hpp"}};
  made.lines = {
      {.text = "LDG.E R4, [R2]",
       .places = {{0, 2}},
       .control = {.stall = 2, .write_barrier = 0},
       .reads = {2, 3},
       .writes = {4},
       .counts = CodeCounts{10, 320, 0, 0, 80, 7}},
      {.text = second ? "HADD2 R7, R4, R4" : "HMUL2 R5, R4, R4",
       .places = {{1, 700}, {0, 2}},
       .control = {.stall = 5, .wait_mask = 1},
       .reads = {4},
       .writes = {5},
       .counts = CodeCounts{10, 160, 0, 0, 0, 2}},
      {.text = second ? "STG.E [R6], R7" : "STG.E [R8], R5",
       .places = {{0, 2}},
       .reads = {5, 6, 7},
       .counts = CodeCounts{10, 320, 0, 0, 40, 1}},
      {.text = "EXIT", .places = {{0, 3}}, .falls_through = false, .counts = CodeCounts{10, 320, 0, 0, 0, 0.5}}};
  made.ptx = ".file 1 \"" + file + "\"\n.loc 1 2 3\nld.global.f16 %h1, [%rd1];\n.loc 1 3 1\nret;\n";
  made.counted = true;
  made.emulated_ctas = made.total_ctas = 128;
  return made;
}

}  // namespace

session::Snapshot snapshot_with_code(bool listed) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  auto kernels = std::make_shared<std::vector<Kernel>>(*snapshot.kernels);
  for (Kernel& kernel : *kernels)
    kernel.source = "__global__ void attention(const half* q, half* out) {\n  out[0] = q[NUM_WARPS];\n}\n";
  snapshot.kernels = kernels;
  revise_runs(snapshot, [&](uint64_t run, const Observation& seen) {
    if (!listed) return;
    const Kernel* kernel = session::find_kernel(snapshot, seen.experiment.kernel);
    auto code = std::make_shared<Listing>(listing(kernel->source_name, run == 2));
    code->experiment_hash = hash_of(seen.experiment);
    snapshot.listings[code->experiment_hash] = code;
  });
  return snapshot;
}

session::Snapshot with_banks(session::Snapshot snapshot) {
  SharedAccess row{{}, 0xffffffff, 16, SharedUse::load}, column = row;
  for (int lane = 0; lane < 32; ++lane) {
    row.at[size_t(lane)] = 16 * lane;
    column.at[size_t(lane)] = 128 * lane;
  }
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  auto listing = std::make_shared<Listing>(*snapshot.listings.at(hash));
  listing->lines[0].shared = {.shapes = {row, column}, .steps = {{0, 0, 0, 4096}, {1, 4, 1, 4096}}};
  row.use = SharedUse::store;
  listing->lines[2].shared = {.shapes = {row}, .steps = {{}}};
  listing->places = {{"Q_tile", 0, 4096}, {"K_tile", 4096, 8192}};
  snapshot.listings[hash] = listing;
  return snapshot;
}

session::Snapshot with_a_product(session::Snapshot snapshot) {
  const std::string hash = hash_of(snapshot.focus.shown->experiment);
  auto code = std::make_shared<Listing>(*snapshot.listings.at(hash));
  code->lines[2].text = "HMMA.16816.F32 R4, R8, R12, RZ";
  code->lines[2].fragments = {{MatrixName::a, 16, 16, 16, 2, false, 8},
                              {MatrixName::b, 16, 8, 16, 2, true, 12},
                              {MatrixName::c, 16, 8, 32, 2, false, MatrixFragment::kZero},
                              {MatrixName::d, 16, 8, 32, 2, false, 4}};
  CodeLine load{.text = "LDSM.16.MT88.2 R20, [R3]", .places = {{0, 3}}};
  load.fragments = {{MatrixName::d, 16, 8, 16, 2, true, 20}};
  code->lines.push_back(load);
  snapshot.listings[hash] = code;
  return snapshot;
}

Finding waiting_warps() {
  Finding found;
  found.severity = Severity::warning;
  found.sentence = "Three of four warps wait.";
  found.evidence = {{"idle", 75, "%", FigureKind::counted}};
  found.where = {{"line", "2"}, {"buffer", "K_tile"}};
  found.next = Next{{{"NUM_WARPS", 2}}};
  return found;
}

session::Snapshot snapshot_with_terms(const std::vector<Finding>& found) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  revise_runs(snapshot, [&](uint64_t run, Observation& seen) {
    const std::string& file = session::find_kernel(snapshot, seen.experiment.kernel)->source_name;
    const double us = seen.timing->p50, barriers = run == 1 ? us * 0.6 : us * 0.1;
    seen.timing->terms = Terms{{{TermKind::issue, us - barriers, {{0x10, file + ":3", 50, 0x10, file + ":3"}}},
                                {TermKind::barriers, barriers, {{0x20, file + ":2", 9, 0x30, file + ":3"}}}},
                               {{"attention", us, {}}},
                               ""};
    if (run == 2) seen.findings = found;
  });
  return snapshot;
}

session::Snapshot with_timeline(session::Snapshot snapshot, const SmTimeline& timeline) {
  Listing listing;
  listing.timeline = timeline;
  const std::string key = session::listing_key(hash_of(snapshot.focus.shown->experiment), TimelineAsk{});
  snapshot.listings[key] = session::share(std::move(listing));
  return snapshot;
}

SoftmaxSteps two_softmax_tiles() {
  SoftmaxSteps made;
  made.keys = 4;
  made.visible = 7;
  made.head_dim = 3;
  made.m = {1, 3};
  made.l = {1.5f, 1.25f};
  made.exact_m = made.m;
  made.exact_l = {1.5f, 1.203f};
  made.scores = {1, 0.25f, -2, 0.5f, 3, 1, 2, -std::numeric_limits<float>::infinity()};
  made.weights = {1, 0.5f, 0.05f, 0.6f, 1, 0.1f, 0.4f, 0};
  made.o = {4, -5, 6, 7, 8, -9};
  made.output = {5.6f, 6.4f, -7.2f};
  made.m_line = 2;
  made.l_line = 3;
  return made;
}

std::string softmax_key(const session::Snapshot& snapshot) {
  return session::listing_key(hash_of(snapshot.focus.shown->experiment), SoftmaxRow{});
}

session::Snapshot snapshot_with_softmax() {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  revise_runs(snapshot, [](uint64_t, Observation&) {});
  Listing listing;
  listing.softmax = two_softmax_tiles();
  snapshot.listings[softmax_key(snapshot)] = session::share(std::move(listing));
  return snapshot;
}

std::string softmax_key_of_a(const session::Snapshot& snapshot) {
  return session::listing_key(hash_of(snapshot.history.at(0).observation->experiment), SoftmaxRow{});
}

session::Snapshot snapshot_with_softmax_of_both() {
  session::Snapshot snapshot = snapshot_with_softmax();
  revise_runs(snapshot, [](uint64_t run, Observation& seen) {
    if (run == 1) seen.experiment.config.knobs["BLOCK_M"] *= 2;
  });
  Listing of_a;
  of_a.softmax = two_softmax_tiles();
  of_a.softmax->m = {1.25f, 3.5f};
  of_a.softmax->l = {1.75f, 2.5f};
  for (float& value : of_a.softmax->o) value *= 0.75f;
  snapshot.listings[softmax_key_of_a(snapshot)] = session::share(std::move(of_a));
  return snapshot;
}

session::Snapshot snapshot_with_clocks_of_both() {
  session::Snapshot snapshot = on_a_gpu(snapshot_after({"m32_w4", "m32_w8"}));
  revise_runs(snapshot, [](uint64_t, Observation& seen) { seen.experiment.device = seen.device = "cuda:0"; });
  const auto keep = [&](size_t run, const TimelineAsk& ask, SmTimeline timeline) {
    Listing listing;
    listing.timeline = std::move(timeline);
    const Experiment& ran = snapshot.history.at(run).observation->experiment;
    snapshot.listings[session::listing_key(hash_of(ran), ask)] = session::share(std::move(listing));
  };
  SmTimeline of_a = testing_support::made_up_clocks();
  of_a.clocks = of_a.ctas.back().to = 17;
  keep(1, {}, testing_support::made_up_timeline());
  keep(1, {.measured = true}, testing_support::made_up_clocks());
  keep(0, {.measured = true}, of_a);
  return snapshot;
}

}  // namespace attnscope::ui
