#include "model/attribution.h"

#include <algorithm>
#include <limits>

namespace attnscope::model {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;

TermKind latency_term(Unit unit) {
  switch (unit) {
    case Unit::shared_load:
    case Unit::shared_store:
      return TermKind::shared_latency;
    case Unit::global_load:
    case Unit::global_store:
    case Unit::async_copy:
      return TermKind::global_latency;
    case Unit::local_load:
    case Unit::local_store:
      return TermKind::local_latency;
    case Unit::mufu:
    case Unit::conversion:
      return TermKind::mufu_latency;
    case Unit::shuffle:
      return TermKind::shuffle_latency;
    case Unit::constant_load:
      return TermKind::constant_latency;
    case Unit::tensor:
      return TermKind::tensor_latency;
    default:
      return TermKind::instruction_latency;
  }
}

// A stall count stands for a result only after a unit with fixed latency; elsewhere it only spaces instructions.
TermKind stall_term(Unit unit) {
  return unit == Unit::tensor ? TermKind::tensor_latency : TermKind::instruction_latency;
}

}  // namespace

TermKind pipe_term(Unit unit) {
  switch (unit) {
    case Unit::fp32:
      return TermKind::fp32;
    case Unit::fp16x2:
      return TermKind::fp16;
    case Unit::half_to_float:
      return TermKind::half_conversions;
    case Unit::fp64:
      return TermKind::fp64;
    case Unit::integer:
      return TermKind::integer;
    case Unit::imad:
      return TermKind::integer_multiply;
    case Unit::mufu:
      return TermKind::mufu;
    case Unit::conversion:
      return TermKind::conversions;
    case Unit::tensor:
      return TermKind::tensor_cores;
    case Unit::uniform:
      return TermKind::uniform;
    case Unit::shared_load:  // a wide load keeps the issue slot for more than a clock
      return TermKind::issue;
    default:
      return TermKind::other;
  }
}

Attribution::Attribution(const std::vector<ScheduledInstruction>& code, size_t places)
    : code_(code),
      places_(double(places)),
      next_change_(kNever),
      epochs_{epoch_},
      sums_{std::vector<Sums::Own>(code.size()), std::vector<std::vector<Sums::Entry>>(code.size()), 0} {}

void Attribution::enter(double time, const SimulatedWarp& warp) {
  change({time, What::enter, static_cast<uint8_t>(warp.scheduler), {}, Stall::kNone, Stall::kNone});
}

void Attribution::leave(double time, const SimulatedWarp& warp, const Awaited* last) {
  const TermKind term = last != nullptr            ? latency_term(last->unit)
                        : warp.held > warp.stalled ? warp.held_by
                                                   : stall_term(code_[warp.previous].unit);
  change({time, What::leave, static_cast<uint8_t>(warp.scheduler), term, last ? last->producer : warp.previous,
          warp.previous});
}

void Attribution::empty_place(double time) { change({time, What::empty, 0, {}, Stall::kNone, Stall::kNone}); }

void Attribution::change(Change what) {
  changes_.push(what);
  next_change_ = changes_.top().time;
}

void Attribution::apply_changes(double now) {
  while (!changes_.empty() && changes_.top().time <= now) {
    const Change what = changes_.top();
    changes_.pop();
    apply(what);
  }
  next_change_ = changes_.empty() ? kNever : changes_.top().time;
}

void Attribution::apply(const Change& what) {
  Lane& lane = lanes_[what.scheduler];
  if (what.what == What::enter) {
    if (lane.live++ == 0) lane = {1, what.time, 0};
  } else if (what.what == What::leave) {
    if (--lane.live == 0) {
      if (what.time > lane.until) add(what.term, what.producer, what.consumer, weight(lane.until, what.time));
    }
  } else {
    ++empty_places_;
  }
  const auto live = double(std::ranges::count_if(lanes_, [](const Lane& one) { return one.live > 0; }));
  const double tail_slope = live > 0 ? empty_places_ / places_ : 0, slope = live > 0 ? (1 - tail_slope) / live : 0;
  if (slope == epoch_.slope && tail_slope == tail_slope_) return;
  for (const Lane& one : lanes_)  // the rest of the clock in which it issued
    if (one.until > what.time) sums_.own[one.issued].issued += (slope - epoch_.slope) * (one.until - what.time);
  sums_.tail += tail_slope_ * (what.time - epoch_.time);
  tail_slope_ = tail_slope;
  epoch_ = {what.time, epoch_.weight + epoch_.slope * (what.time - epoch_.time), slope};
  epochs_.push_back(epoch_);
}

double Attribution::weight_at(double time) const {
  auto epoch = epochs_.rbegin();
  while (epoch->time > time) ++epoch;  // the first one begins at 0
  return epoch->weight + (time - epoch->time) * epoch->slope;
}

void Attribution::add(TermKind term, uint32_t producer, uint32_t consumer, double clocks) {
  for (Sums::Entry& entry : sums_.entries[consumer]) {
    if (entry.producer != producer || entry.term != term) continue;
    entry.clocks += clocks;
    return;
  }
  sums_.entries[consumer].push_back({producer, term, clocks});
}

Attribution::Sums Attribution::sums(double now) const {
  Sums so_far = sums_;
  so_far.tail += tail_slope_ * (now - epoch_.time);
  return so_far;
}

void Attribution::repeat(const Sums& before, double now, double clocks) {
  const double tail = sums(now).tail - before.tail;
  double since = tail;
  // Calls visit(sum, its value before): entries are only ever appended.
  const auto for_each = [&](const auto& visit) {
    for (size_t i = 0; i < sums_.own.size(); ++i) {
      visit(sums_.own[i].issued, before.own[i].issued);
      visit(sums_.own[i].stalled, before.own[i].stalled);
      visit(sums_.own[i].held, before.own[i].held);
      visit(sums_.own[i].banked, before.own[i].banked);
      const auto& known = before.entries[i];
      for (size_t e = 0; e < sums_.entries[i].size(); ++e)
        visit(sums_.entries[i][e].clocks, e < known.size() ? known[e].clocks : 0);
    }
  };
  for_each([&](const double& sum, double old) { since += sum - old; });
  if (since <= 0) return;
  const double factor = clocks / since;
  for_each([&](double& sum, double old) { sum += factor * (sum - old); });
  sums_.tail += factor * tail;
}

// The causes of a stall come in order of time, so each piece begins where the previous one ended.
void Attribution::attribute_gap(double from, const SimulatedWarp& warp, double now, const Holder& holder) {
  const uint32_t consumer = warp.next;
  const ScheduledInstruction& instruction = code_[consumer];
  const auto clocks_until = [&](double until) {
    const double to = std::min(until, now);
    if (to <= from) return 0.0;
    const double clocks = weight(from, to);
    from = to;
    return clocks;
  };
  const auto piece = [&](TermKind term, uint32_t producer, double until) {
    if (const double clocks = clocks_until(until); clocks > 0) add(term, producer, consumer, clocks);
  };
  if (warp.stalled > from) {
    const uint32_t producer = instruction.waits_for > 0 ? consumer - instruction.waits_for : warp.previous;
    piece(stall_term(code_[producer].unit), producer, warp.stalled);
  }
  piece(warp.held_by, warp.held_by == TermKind::launch ? Stall::kNone : warp.previous, warp.held);
  piece(TermKind::jumps, warp.previous, warp.ready);
  piece(TermKind::instruction_fetch, consumer, warp.fetched);
  if (now > from)
    data_ready(warp, instruction, [&](const Awaited& awaited, double) {
      piece(latency_term(awaited.unit), awaited.producer, std::min(awaited.unloaded, awaited.until));
      if (const double queued = clocks_until(awaited.until); queued > 0) {
        const double conflicts = queued * double(awaited.conflicts);
        if (queued > conflicts) add(awaited.queue, awaited.producer, consumer, queued - conflicts);
        if (conflicts > 0) add(TermKind::bank_conflicts, awaited.producer, consumer, conflicts);
      }
    });
  if (now > from) held_by(holder) += weight(from, now);
}

std::vector<Stall> Attribution::finish(double clocks, bool complete) {
  if (complete) apply_changes(kNever);
  std::vector<Stall> stalls;
  const auto keep = [&](const Stall& stall) {
    if (stall.time > 0) stalls.push_back(stall);
  };
  for (uint32_t i = 0; i < code_.size(); ++i) {
    keep({TermKind::issue, i, i, sums_.own[i].issued});
    keep({pipe_term(code_[i].unit), i, i, sums_.own[i].held});
    keep({TermKind::register_banks, i, i, sums_.own[i].banked});
    if (sums_.own[i].stalled > 0)
      keep({stall_term(code_[stall_producer(i)].unit), stall_producer(i), i, sums_.own[i].stalled});
    for (const Sums::Entry& entry : sums_.entries[i]) keep({entry.term, entry.producer, i, entry.clocks});
  }
  keep({TermKind::tail, Stall::kNone, Stall::kNone, sums_.tail});
  const double sum = sum_of(stalls);
  if (complete) {
    if (clocks - sum > kRounding * clocks) keep({TermKind::other, Stall::kNone, Stall::kNone, clocks - sum});
  } else if (sum > 0) {
    for (Stall& stall : stalls) stall.time *= clocks / sum;
  }
  return stalls;
}

}  // namespace attnscope::model
