#include "lesson/check.h"

#include <fmt/format.h>

#include <utility>

#include "core/joined.h"
#include "lesson/observed.h"

namespace attnscope::lesson {
namespace {

class Checker {
 public:
  Checker(const Lesson& lesson, const std::vector<Kernel>& kernels, const Runner& run, const CodeOf& code_of)
      : lesson_(lesson), kernels_(kernels), run_(run), code_of_(code_of) {}

  Checked all() {
    for (at_ = 0; at_ < lesson_.steps.size(); ++at_) step(lesson_.steps[at_]);
    return std::move(checked_);
  }

 private:
  void step(const Step& step) {
    text(step.text);
    if (step.run && !take(*step.run, {})) return;
    if (step.predict) one_of(step.predict->choices);
    text(step.reveal);
    for (const std::string& claim : step.claims) expect(claim, "does not hold");
    if (!step.goal) return;
    text(step.goal->text);
    ++checked_.claims;
    if (observed_.holds(step.goal->holds).value_or(false))  // a run that was refused lacks what the goal refers to
      fault(fmt::format("\"{}\" is a goal that the step's run meets already", step.goal->holds), "Ask for more.");
    if (take(*step.run, step.goal->solution)) expect(step.goal->holds, "is a goal that its solution does not meet");
  }

  bool take(const Run& run, const std::vector<std::string>& set) {
    const auto draft = draft_of(lesson_, run, kernels_, set);
    const auto observation = draft ? run_(*draft, run.watch) : fail(draft.error());
    if (!observation) {
      fault(observation.error().message, observation.error().hint);
      return false;
    }
    std::shared_ptr<const Listing> code;
    if (run.code || run.softmax) {
      auto known = code_of_(observation->experiment, run);
      if (!known) {
        fault(known.error().message, known.error().hint);
        return false;
      }
      code = std::move(*known);
    }
    if (set.empty()) observed_.set(run.name, *observation, code.get());
    observed_.set("now", *observation, code.get());
    return true;
  }

  void one_of(const std::vector<Choice>& choices) {
    ++checked_.claims;
    std::vector<std::string> right;
    for (const Choice& choice : choices) {
      const auto holds = observed_.holds(choice.holds);
      if (!holds) return fault(holds.error().message, holds.error().hint);
      if (*holds) right.push_back("\"" + choice.text + "\"");
    }
    if (right.empty()) return fault("no choice holds", "Say in one choice what the run shows.");
    if (right.size() > 1) fault("more than one choice holds: " + joined(right, {}, " and "), "Let only one hold.");
  }

  void text(const std::string& text) {
    if (text.find('{') == std::string::npos) return;
    ++checked_.claims;
    if (const auto filled = observed_.filled(text); !filled) fault(filled.error().message, filled.error().hint);
  }

  void expect(const std::string& claim, const std::string& otherwise) {
    ++checked_.claims;
    const auto holds = observed_.holds(claim);
    if (!holds) return fault(holds.error().message, holds.error().hint);
    if (!*holds)
      fault(fmt::format("\"{}\" {}", claim, otherwise), "Change the claim, or the kernel that it speaks of.");
  }

  void fault(const std::string& message, const std::string& hint) {
    checked_.faults.push_back(
        {Stage::input, fmt::format("{}, step {} ({}): {}", lesson_.id, at_ + 1, lesson_.steps[at_].title, message),
         hint});
  }

  const Lesson& lesson_;
  const std::vector<Kernel>& kernels_;
  const Runner& run_;
  const CodeOf& code_of_;
  size_t at_ = 0;
  Observed observed_{};
  Checked checked_{};
};

}  // namespace

Checked check(const Lesson& lesson, const std::vector<Kernel>& kernels, const Runner& run, const CodeOf& code_of) {
  return Checker(lesson, kernels, run, code_of).all();
}

}  // namespace attnscope::lesson
