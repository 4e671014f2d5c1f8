#include "core/sm_timeline.h"

namespace attnscope {

const char* sentence_of(WarpState state) {
  switch (state) {
    case WarpState::issue:
      return "an instruction of the warp issues";
    case WarpState::turn:
      return "the warp has all that it needs; its scheduler or the instruction's unit is taken";
    case WarpState::result:
      return "the warp waits for an instruction's result";
    case WarpState::shared:
      return "the warp waits for shared memory";
    case WarpState::memory:
      return "the warp waits for global or local memory";
    case WarpState::barrier:
      return "the warp waits at its CTA's barrier";
    case WarpState::start:
      return "the CTA has its place and does not run yet";
  }
  return "";
}

const CtaSpan* SmTimeline::cta_at(int64_t place, double clock) const {
  for (const CtaSpan& one : ctas)
    if (one.sm == sm && one.place == place && one.from <= clock && clock < one.to) return &one;
  return nullptr;
}

}  // namespace attnscope
