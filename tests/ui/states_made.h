#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ui/still_session.h"

namespace attnscope::ui {

// Parts of the states that LookStates shows (states.h).

// What is wanted is what is shown.
void follow(session::Snapshot& snapshot);
session::Snapshot two_runs();
session::Snapshot without_runs();
// The parts before `growing` are of the wanted experiment, the others of the run before.
session::Snapshot running(session::Snapshot snapshot, const char* stage, double progress, session::Part growing);
// `change` of the runs' kernel.
session::Snapshot of_kernel(const std::function<void(Kernel&)>& change, session::Snapshot snapshot = two_runs());

Finding finding(RuleId rule, Severity severity, const std::string& sentence);
// At that line of 02_tiled.cu.
Finding race(const char* line);
WatchReport report(std::vector<Finding> findings);
// As measured on a GPU: so many samples around the modelled time.
void measure(Observation& seen, CacheState cache, Stopped stopped);
// Gives it the steps of a program: a memset, and two launches, of which the second one takes longer.
void make_program(Observation& seen);

}  // namespace attnscope::ui
