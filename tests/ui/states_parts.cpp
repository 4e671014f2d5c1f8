// The states of terms and findings, of code, and of timelines.
#include <cmath>

#include "session/listings.h"
#include "support/made_up_timeline.h"
#include "ui/states.h"
#include "ui/states_made.h"
#include "ui/still_code.h"

namespace attnscope::ui {

using session::Part;
using session::Snapshot;

std::vector<State> states_of_terms() {
  std::vector<State> all;
  const auto add = [&](const char* name, Snapshot snapshot, std::function<void(Workbench&)> set = {}) {
    follow(snapshot);
    all.push_back({name, std::move(snapshot), std::move(set)});
  };
  Finding lone = waiting_warps();
  lone.rule = RuleId::lone_warps;
  lone.gain = Gain{12.5, {}};
  Finding place = finding(RuleId::bank_conflicts, Severity::info, "Conflicts cost most.");
  place.where = {{"file", "02_tiled.cu"}, {"line", "2"}};
  place.evidence = {{"conflicts", 75, "%", FigureKind::counted}, {"of it", 3, "us", FigureKind::modelled}};
  place.next = Next{{{"SWIZZLE_XOR", 1}}};
  place.gain = Gain{10, 4};
  std::vector<Finding> many{lone, place};
  for (const RuleId rule :
       {RuleId::shared_queue, RuleId::global_scattered, RuleId::global_narrow, RuleId::grid_tail, RuleId::launch_most,
        RuleId::mufu_bound, RuleId::knob_unused, RuleId::times_tie, RuleId::unknown})
    many.push_back(finding(rule, rule == RuleId::times_tie ? Severity::error : Severity::info,
                           "It is " + std::string(Rule(rule).says()) + "."));
  add("terms", snapshot_with_terms());
  add("one finding", snapshot_with_terms({lone}));
  add("many findings", snapshot_with_terms(many));
  const auto tried = [&](double ratio, bool ended) {
    Snapshot snapshot = snapshot_with_terms({lone, place});
    Scan scan{3, snapshot.focus.shown->experiment, {}, {}};
    ScanPoint point;
    point.config = scan.held.config;
    point.config.knobs["NUM_WARPS"] = 2;
    if (ended) {
      auto run = std::make_shared<Observation>(*snapshot.focus.shown);
      run->experiment.config = point.config;
      Timing& timing = *run->timing;
      for (double* const figure : {&timing.p10, &timing.p50, &timing.p90, &timing.interval_low, &timing.interval_high})
        *figure *= ratio;
      point.observation = std::move(run);
    }
    scan.points.push_back(std::move(point));
    snapshot.scans = {session::share(std::move(scan))};
    return snapshot;
  };
  add("a trial runs", tried(1, false));
  add("a trial was faster", tried(0.1, true));
  add("a trial was slower", tried(10, true));
  add("a trial was as fast", tried(1, true));
  add("nothing is tried", tried(1, false), [](Workbench& bench) { bench.settings().tries = false; });
  const auto findings_of = [](Snapshot snapshot, const std::vector<Finding>& a, const std::vector<Finding>& b) {
    revise_runs(snapshot, [&](uint64_t run, Observation& seen) { seen.findings = run == 1 ? a : b; });
    return snapshot;
  };
  add("findings since A", findings_of(snapshot_with_terms(), {lone}, {lone, place}));
  add("findings gone since A", findings_of(snapshot_with_terms(), many, {lone}));
  add("findings without terms", findings_of(two_runs(), {}, {lone, place}));
  const auto other = [](const std::function<void(uint64_t, Observation&)>& change) {
    Snapshot snapshot = snapshot_with_terms();
    revise_runs(snapshot, change);
    return snapshot;
  };
  add("A has no terms", other([](uint64_t run, Observation& seen) {
        if (run == 1) seen.timing->terms.reset();
      }));
  add("A has another source", other([](uint64_t run, Observation& seen) {
        if (run == 1) seen.experiment.kernel_hash = "0123";
      }));
  add("A is of another problem", other([](uint64_t run, Observation& seen) {
        if (run == 1) seen.experiment.problem.seq_q = 256;
      }));
  add("edited since", other([](uint64_t, Observation& seen) { seen.experiment.kernel_hash = "0123"; }));
  add("no lines", other([](uint64_t, Observation& seen) {
        for (Term& term : seen.timing->terms->list) term.lines.clear();
      }));
  add("equal terms", other([](uint64_t, Observation& seen) {
        seen.timing->p50 = 10;
        seen.timing->terms->list = {{TermKind::issue, 10, {}}};
      }));
  add("only A lists a line", other([](uint64_t run, Observation& seen) {
        if (run == 2)
          for (Term& term : seen.timing->terms->list) term.lines.front().source = "02_tiled.cu:1";
      }));
  Snapshot alone = snapshot_with_terms({lone});
  auto chunk = std::make_shared<session::HistoryChunk>();
  chunk->entries = {alone.history.at(1)};
  alone.history = {{chunk}, 1};
  add("without A", alone);
  Snapshot picked = snapshot_with_terms({lone, place});
  picked.selected = picked.history.at(1);
  add("picked", picked);
  Snapshot runs = running(snapshot_with_terms({lone}), "emulating", 0.5, Part::counters);
  all.push_back({"running", runs, {}});
  add("measured", other([](uint64_t, Observation& seen) { measure(seen, CacheState::hot, Stopped::stable); }));
  add("light", snapshot_with_terms(many), [](Workbench& bench) { bench.settings().theme = ThemeMode::light; });
  add("zoomed", snapshot_with_terms(many), [](Workbench& bench) { bench.settings().zoom = 1.5f; });
  return all;
}

std::vector<State> states_of_code() {
  std::vector<State> all;
  const auto add = [&](const char* name, Snapshot snapshot, std::function<void(Workbench&)> set = {}) {
    all.push_back({name, std::move(snapshot), std::move(set)});
  };
  const auto whole = [] {
    Snapshot snapshot = with_a_product(with_banks(snapshot_with_code()));
    snapshot.own_kernels_dir = "/own";
    Listing softmax;
    softmax.softmax = two_softmax_tiles();
    snapshot.listings[softmax_key(snapshot)] = session::share(std::move(softmax));
    follow(snapshot);
    return snapshot;
  };
  const auto of_listing = [&](const std::function<void(Listing&)>& change) {
    Snapshot snapshot = whole();
    const std::string hash = hash_of(snapshot.focus.shown->experiment);
    auto code = std::make_shared<Listing>(*snapshot.listings.at(hash));
    change(*code);
    snapshot.listings[hash] = code;
    return snapshot;
  };
  const auto of_softmax = [&](const std::function<void(SoftmaxSteps&)>& change) {
    Snapshot snapshot = whole();
    auto steps = std::make_shared<Listing>(*snapshot.listings.at(softmax_key(snapshot)));
    change(*steps->softmax);
    snapshot.listings[softmax_key(snapshot)] = steps;
    return snapshot;
  };
  add("code", whole());
  add("not listed", snapshot_with_code(false));
  add("refused", [&] {
    Snapshot snapshot = snapshot_with_code(false);
    for (const std::string& key : {hash_of(snapshot.focus.shown->experiment), softmax_key(snapshot)})
      snapshot.refused_listings[key] = Failure{Stage::decode, "It has no code.", "Run it again."};
    return snapshot;
  }());
  add("not counted", of_listing([](Listing& code) {
        code.counted = false;
        for (CodeLine& line : code.lines) {
          line.counts.reset();
          line.shared.reset();
        }
      }));
  add("partly counted", of_listing([](Listing& code) { code.emulated_ctas = 13; }));
  add("of a launch", of_listing([](Listing& code) { code.launch = "launch 2, row_sum"; }));
  add("no products", of_listing([](Listing& code) {
        for (CodeLine& line : code.lines) line.fragments.clear();
      }));
  add("jumps and barriers", of_listing([](Listing& code) {
        code.lines[1].targets = {3};
        code.lines[1].guarded = true;
        code.lines[2].control = {.stall = 12, .yields = true, .write_barrier = 1, .read_barrier = 2, .wait_mask = 5};
        code.lines[0].places.clear();
      }));
  add("copies", of_listing([](Listing& code) {
        code.lines[0].shared->shapes[0].use = SharedUse::copy;
        code.lines[0].shared->shapes[1].use = SharedUse::copy;
        code.places.clear();
      }));
  add("half the lanes", of_listing([](Listing& code) {
        for (SharedAccess& shape : code.lines[0].shared->shapes) shape.mask = 0xffff;
      }));
  add("marked lines", [&] {
    Snapshot snapshot = whole();
    revise_runs(snapshot, [](uint64_t, Observation& seen) {
      seen.findings = {waiting_warps()};
      seen.watch = report({race("2")});
    });
    follow(snapshot);
    return snapshot;
  }());
  add("does not compile", [&] {
    Snapshot snapshot = whole();
    snapshot.focus.failure = Failure{Stage::compile, "02_tiled.cu(2): error: no q", "Declare it."};
    return snapshot;
  }());
  add("edited since", [&] {
    Snapshot snapshot = whole();
    return of_kernel([](Kernel& kernel) { kernel.content_hash = "0123"; }, snapshot);
  }());
  add("a copy", [&] {
    Snapshot snapshot = whole();
    snapshot.originals =
        session::share(std::map<std::string, std::string>{{"tiled", "__global__ void attention() {\n}\n"}});
    return snapshot;
  }());
  add("comments", of_kernel(
                      [](Kernel& kernel) {
                        kernel.source = "// one\n/* two\n three */\nint x;  // four\r\n\n  /* five */ int y;\n";
                      },
                      whole()));
  add("machine code", of_kernel(
                          [](Kernel& kernel) {
                            kernel.source = std::string(
                                "\x7f"
                                "ELF\0\0",
                                6);
                          },
                          whole()));
  add("one head", [&] {
    Snapshot snapshot = snapshot_with_softmax();
    revise_runs(snapshot, [](uint64_t, Observation& seen) {
      seen.experiment.problem.heads = seen.experiment.problem.kv_heads = 1;
      seen.experiment.problem.batch = 3;
    });
    follow(snapshot);
    Listing softmax;
    softmax.softmax = two_softmax_tiles();
    snapshot.listings[softmax_key(snapshot)] = session::share(std::move(softmax));
    return snapshot;
  }());
  add("beside A's row", snapshot_with_softmax_of_both());
  add("A's row refused", [&] {
    Snapshot snapshot = snapshot_with_softmax_of_both();
    snapshot.listings.erase(softmax_key_of_a(snapshot));
    snapshot.refused_listings[softmax_key_of_a(snapshot)] = Failure{Stage::decode, "It has no row.", ""};
    return snapshot;
  }());
  add("units of 2", of_softmax([](SoftmaxSteps& steps) {
        steps.unit = 1.4427;
        steps.scores_line = 2;
        steps.end_line = 3;
        steps.visible = 20;
      }));
  add("no scores", of_softmax([](SoftmaxSteps& steps) {
        steps.scores.clear();
        steps.weights.clear();
        steps.m_line = steps.l_line = 0;
      }));
  add("nothing named", of_softmax([](SoftmaxSteps& steps) {
        steps.scores.clear();
        steps.weights.clear();
        steps.o.clear();
      }));
  add("not finite", of_softmax([](SoftmaxSteps& steps) {
        steps.scores[1] = NAN;
        steps.o[2] = INFINITY;
        steps.m[1] = INFINITY;
      }));
  add("few keys", of_softmax([](SoftmaxSteps& steps) { steps.visible = 4; }));
  add("not attention", [&] {
    Snapshot snapshot = whole();
    revise_runs(snapshot, [](uint64_t, Observation& seen) { seen.experiment.problem.kind = ProblemKind::reduction; });
    follow(snapshot);
    return snapshot;
  }());
  add("without A", [&] {
    Snapshot snapshot = whole();
    auto chunk = std::make_shared<session::HistoryChunk>();
    chunk->entries = {snapshot.history.at(1)};
    snapshot.history = {{chunk}, 1};
    return snapshot;
  }());
  add("A is not listed", [&] {
    Snapshot snapshot = whole();
    snapshot.listings.erase(hash_of(snapshot.history.at(0).observation->experiment));
    return snapshot;
  }());
  add("A was edited", [&] {
    Snapshot snapshot = whole();
    revise_runs(snapshot, [](uint64_t run, Observation& seen) {
      if (run == 1) seen.experiment.kernel_hash = "0123";
    });
    return snapshot;
  }());
  add("running", running(whole(), "emulating", 0.5, Part::counters));
  add("light", whole(), [](Workbench& bench) { bench.settings().theme = ThemeMode::light; });
  add("zoomed", whole(), [](Workbench& bench) { bench.settings().zoom = 1.5f; });
  return all;
}

std::vector<State> states_of_timelines() {
  std::vector<State> all;
  const auto add = [&](const char* name, Snapshot snapshot, std::function<void(Workbench&)> set = {}) {
    all.push_back({name, std::move(snapshot), std::move(set)});
  };
  const auto made = [](const std::function<void(SmTimeline&)>& change) {
    SmTimeline timeline = testing_support::made_up_timeline();
    change(timeline);
    return with_timeline(two_runs(), timeline);
  };
  const auto of_a = [](Snapshot snapshot, const SmTimeline& timeline) {
    Listing listing;
    listing.timeline = timeline;
    snapshot.listings[session::listing_key(hash_of(snapshot.history.at(0).observation->experiment), TimelineAsk{})] =
        session::share(std::move(listing));
    return snapshot;
  };
  add("modelled", made([](SmTimeline&) {}));
  add("being simulated", two_runs());
  add("refused", [&] {
    Snapshot snapshot = two_runs();
    snapshot.refused_listings[session::listing_key(hash_of(snapshot.focus.shown->experiment), TimelineAsk{})] =
        Failure{Stage::limits, "It has too many CTAs.", "Use a smaller problem."};
    return snapshot;
  }());
  add("incomplete", made([](SmTimeline& timeline) { timeline.complete = false; }));
  add("by instructions", made([](SmTimeline& timeline) { timeline.by_instructions = true; }));
  add("an empty SM", made([](SmTimeline& timeline) { timeline.warps.clear(); }));
  add("no clocks", made([](SmTimeline& timeline) { timeline.columns = 0; }));
  add("a later part",
      made([](SmTimeline& timeline) { timeline.from = 2, timeline.columns = 2, timeline.clocks = 9000; }));
  add("many SMs", made([](SmTimeline& timeline) {
        timeline.sms = 500;
        for (int64_t at = 4; at < 300; ++at) timeline.ctas.push_back({at, at, at % 2, 1.0 + double(at % 3), 7});
        timeline.total_ctas = 4000;
      }));
  add("many warps", made([](SmTimeline& timeline) {
        for (int64_t at = 2; at < 60; ++at) timeline.warps.push_back({at / 8, at % 8, at % 4});
        timeline.shares.resize(timeline.warps.size() * 4 * kWarpStates);
        for (size_t at = 8 * kWarpStates; at < timeline.shares.size(); at += 3) timeline.shares[at] = 0.3f;
      }));
  SmTimeline longer = testing_support::made_up_timeline();
  longer.clocks = longer.ctas[1].to = 12;
  add("beside A", of_a(made([](SmTimeline&) {}), longer));
  longer.sms = 7;
  add("A is unlike", of_a(made([](SmTimeline&) {}), longer));
  add("a program", [&] {
    Snapshot snapshot = made([](SmTimeline& timeline) { timeline.launch = "launch 2, row_sum"; });
    revise_runs(snapshot, [](uint64_t run, Observation& seen) {
      if (run == 2) make_program(seen);
    });
    follow(snapshot);
    Listing listing;
    listing.timeline = testing_support::made_up_timeline();
    listing.timeline->launch = "launch 2, row_sum";
    snapshot.listings[session::listing_key(hash_of(snapshot.focus.shown->experiment), TimelineAsk{})] =
        session::share(std::move(listing));
    return snapshot;
  }());
  add("measured too", snapshot_with_clocks_of_both());
  add("running", running(made([](SmTimeline&) {}), "emulating", 0.5, Part::counters));
  add("no run", without_runs());
  add("light", made([](SmTimeline&) {}), [](Workbench& bench) { bench.settings().theme = ThemeMode::light; });
  add("zoomed", made([](SmTimeline&) {}), [](Workbench& bench) { bench.settings().zoom = 1.5f; });
  return all;
}

}  // namespace attnscope::ui
