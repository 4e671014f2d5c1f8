#include "core/comparable.h"

namespace attnscope {

Unlike comparable(const Observation& a, const Observation& b) {
  const Experiment &x = a.experiment, &y = b.experiment;
  if (x.problem.kind != y.problem.kind) return Unlike::operation;
  if (x.problem != y.problem) return Unlike::problem;
  if (x.device != y.device || a.versions.gpu != b.versions.gpu) return Unlike::device;
  if (x.measure.cache != y.measure.cache) return Unlike::cache;
  if (!a.timing || !b.timing) return Unlike::untimed;
  if (a.timing->kind != b.timing->kind) return Unlike::kind;
  // A measured time depends on the device; a modelled one depends on the program's model.
  const bool modelled = a.timing->kind == FigureKind::modelled;
  return modelled && a.versions.app != b.versions.app ? Unlike::version : Unlike::none;
}

}  // namespace attnscope
