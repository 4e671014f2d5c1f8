#include "cli/run_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "charts/format.h"
#include "charts/tables.h"
#include "charts/terms.h"
#include "charts/words.h"
#include "cli/findings.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/option_fields.h"
#include "core/options.h"
#include "core/with_commas.h"
#include "worker/watch_run.h"

namespace attnscope::cli {
namespace {

void add_row(std::string& out, std::string_view label, const std::string& text) { out += text_line(label, text); }

void add_timing(std::string& out, const Observation& o) {
  const Timing& t = *o.timing;
  std::string text = fmt::format("{} us {} ({} to {})", charts::terminal_us(t.p50), to_string(t.kind),
                                 charts::terminal_us(t.interval_low), charts::terminal_us(t.interval_high));
  if (o.tflops) text += fmt::format(", {:.3g} TFLOP/s", *o.tflops);
  if (t.bound != Bound::unknown) text += ", bound by " + std::string(to_string(t.bound));
  add_row(out, "latency", text);
  if (const auto& fragment = o.fragment_cycles) {
    std::string clocks = fmt::format("{:.1f} clocks a CTA {}", fragment->median, to_string(fragment->kind));
    if (fragment->low < fragment->high) clocks += fmt::format(" ({:.1f} to {:.1f})", fragment->low, fragment->high);
    add_row(out, "fragment", clocks);
  }
  const char* label = "terms";
  for (const std::string& part : {charts::terms_text(t), charts::carrier_text(t), charts::phases_text(t)})
    if (!part.empty()) add_row(out, std::exchange(label, ""), part);
  if (!t.sampling) return;
  std::string how = fmt::format("{}, {} samples in {} rounds, {}", to_string(t.cache), t.samples,
                                t.sampling->rounds.size(), to_string(t.sampling->stopped));
  if (t.clock_mhz > 0) how += fmt::format(", {:.0f} MHz", t.clock_mhz);
  if (t.sampling->power_w > 0)
    how += fmt::format(", {:.0f} of {:.0f} W", t.sampling->power_w, t.sampling->power_limit_w);
  for (const std::string& reason : t.sampling->reasons) how += ", " + reason;
  if (t.sampling->dropped > 0) how += fmt::format(", {} left out", t.sampling->dropped);
  if (t.sampling->empty_us) how += fmt::format(", an empty kernel {:.2g} us", *t.sampling->empty_us);
  add_row(out, "", how);
}

void add_verdict(std::string& out, const Observation& o) {
  const Verdict& v = *o.verdict;
  add_row(out, "verdict", verdict_text(o));
  if (v.rows_checked == 0) return;  // there is no error to report
  add_row(out, "error",
          fmt::format("relative Frobenius {:.3g}{}, max {:.3g}, mean {:.3g}, cosine {:.6f}", v.rel_frobenius,
                      v.rel_frobenius_limit > 0 ? fmt::format(" (limit {:.3g})", v.rel_frobenius_limit) : "", v.max_abs,
                      v.mean_abs, v.cosine));
  add_row(out, "",
          fmt::format("{:.4g} % outside tolerance, {} not finite, {} of {} rows checked", v.outside_share * 100,
                      v.nonfinite, with_commas(v.rows_checked), with_commas(v.rows_total)));
}

void add_shared(std::string& out, const VariantInfo& v) {
  add_row(
      out, "shared memory",
      fmt::format("{} B per CTA ({} static, {} dynamic)", with_commas(v.static_shared_bytes + v.dynamic_shared_bytes),
                  with_commas(v.static_shared_bytes), with_commas(v.dynamic_shared_bytes)));
  for (const SharedBuffer& b : v.shared_buffers)
    add_row(out, "", fmt::format("{:>9} B {}{}", with_commas(b.bytes), b.name, b.dynamic ? " (dynamic)" : ""));
}

void add_occupancy(std::string& out, const Occupancy& o) {
  add_row(out, "occupancy",
          fmt::format("{:.1f} % ({} CTAs, {} warps per SM), limited by {}", o.fraction * 100, o.ctas_per_sm,
                      o.warps_per_sm, to_string(o.limiter)));
  std::string waves = fmt::format("{:.2f} waves: {} CTAs for {} places", o.waves, with_commas(o.total_ctas),
                                  with_commas(o.resident_ctas));
  if (o.tail_ctas > 0) waves += fmt::format(", the last wave runs {}", with_commas(o.tail_ctas));
  add_row(out, "", waves);
}

void add_counters(std::string& out, const Counters& c) {
  add_row(out, "counters", fmt::format("{} {}", to_string(c.kind), charts::counter_share_text(c)));
  for (const charts::FigureGroup& group : charts::counter_groups(c)) {
    std::string text = group.title + ":", between = " ";
    for (const charts::FigureRow& row : group.rows)
      text +=
          std::exchange(between, "; ") + row.name + " " + row.value + (row.note.empty() ? "" : " (" + row.note + ")");
    add_row(out, "", text);
  }
}

void add_watch(std::string& out, const WatchReport& w, bool program) {
  if (w.findings.empty()) return add_row(out, "watch", "silent: " + watched_text(w, program));
  add_row(
      out, "watch",
      fmt::format("{} finding{}: {}", w.findings.size(), w.findings.size() == 1 ? "" : "s", watched_text(w, program)));
  for (const Finding& f : w.findings) add_row(out, to_string(f.severity), f.sentence);
}

void add_printed(std::string& out, const Printed& p) {
  const char* label = "printed";
  for (const std::string& said : p.lines) add_row(out, std::exchange(label, ""), said);
  if (p.more > 0) add_row(out, label, fmt::format("and {} times more", with_commas(p.more)));
}

void add_variant(std::string& out, const Observation& o, bool compiled) {
  const VariantInfo& variant = *o.variant;
  const std::string code = variant.code_hash.substr(0, 12);
  if (!compiled) {
    add_row(out, "registers", fmt::format("{} per thread, {} B stack", variant.registers, variant.stack_bytes));
    add_shared(out, variant);
    return add_row(out, "machine code", fmt::format("sm_{}, as the file holds it, code {}", variant.arch, code));
  }
  add_row(out, "registers",
          fmt::format("{} per thread, {} B spilled, {} B stack", variant.registers, variant.spill_bytes,
                      variant.stack_bytes));
  add_shared(out, variant);
  add_row(out, "compiled",
          fmt::format("sm_{}{}, {:.0f} ms{}, code {}", variant.arch,
                      variant.compiler.empty() ? "" : " by " + variant.compiler, variant.compile_ms,
                      variant.cached ? " (from the cache)" : "", code));
  std::string options;
  for_each_option([&](std::string_view name, std::string_view label, auto) {
    options +=
        fmt::format("{}{} {}", options.empty() ? "" : ", ", label, shown_option(o.experiment.config.options, name));
  });
  add_row(out, "options", options);
}

}  // namespace

std::string text_line(std::string_view label, const std::string& text) {
  return fmt::format("{:<14} {}\n", one_line(label), one_line(text));
}

std::string heading_text(const Observation& o, const std::string& config_text) {
  return text_line("kernel", o.experiment.kernel + "  " + config_text) +
         text_line("problem", short_text(o.experiment.problem)) +
         text_line("device", o.device + (o.versions.cublas.empty() ? "" : ", cuBLAS " + o.versions.cublas));
}

std::string verdict_text(const Observation& o) {
  const Verdict& v = *o.verdict;
  const bool of_kernel = v.against && v.state != VerdictState::unchecked;
  const std::string output = words_of_output(v);
  const std::string why = v.reason.empty() ? "" : ": " + v.reason;
  const Headline headline = *headline_of(o);
  if (is_of_watch(headline))
    return fmt::format("{}; the output itself {}{}", to_string(headline), output,
                       headline_of(v) == Headline::agrees ? "" : why);
  if (of_kernel) return headline == Headline::agrees ? v.reason : output + why;
  return std::string(to_string(v.state)) + why;
}

std::string watched_text(const WatchReport& w, bool program) {
  const std::string luck = fmt::format("{} contents of shared memory, {} orders of the warps", w.fills, w.orders);
  if (w.ctas < w.total_ctas)
    return fmt::format("{} of {} CTAs, {}", with_commas(w.ctas), with_commas(w.total_ctas), luck);
  if (w.ctas > worker::kWatchedCtas && !program)
    return fmt::format("all {} CTAs, and on {} of them {}", with_commas(w.ctas), worker::kWatchedCtas, luck);
  return "all CTAs, " + luck;
}

std::string text_of(const Observation& o, const std::string& config_text, bool compiled) {
  std::string out = heading_text(o, config_text);
  if (o.timing) add_timing(out, o);
  if (o.verdict) add_verdict(out, o);
  for (const charts::FigureGroup& group : charts::launch_groups(o)) {
    const char* label = "launches";
    for (const charts::FigureRow& row : group.rows) {
      std::string said = row.value.empty() ? "" : fmt::format("{} {}", row.value, to_string(row.kind));
      if (!row.note.empty()) said += (said.empty() ? "" : ", ") + row.note;
      add_row(out, std::exchange(label, ""), row.name + (said.empty() ? "" : ": " + said));
    }
    if (o.variant)
      add_row(out, "", "registers, shared memory and occupancy below are those of " + charts::longest_launch_words(o));
  }
  if (o.variant) add_variant(out, o, compiled);
  if (o.occupancy) add_occupancy(out, *o.occupancy);
  if (o.counters) add_counters(out, *o.counters);
  if (stores_nothing(o)) add_row(out, "stores", std::string("none: ") + kStoresNothing);
  if (o.watch)
    add_watch(out, *o.watch, !o.launches.empty());
  else if (o.verdict)
    add_row(
        out, "watch",
        "none: races, uneven barriers, never-written reads and what is right by luck were not looked for (--watch)");
  if (o.printed) add_printed(out, *o.printed);
  // `attnscope explain` has the rest, with evidence and what to try.
  for (const Finding& f : o.findings)
    if (f.severity != Severity::info) add_row(out, to_string(f.severity), f.sentence);
  return out;
}

}  // namespace attnscope::cli
