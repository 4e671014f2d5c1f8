#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lesson/lesson.h"
#include "lesson/observed.h"

namespace attnscope::lesson {

// The state of a lesson in progress: predict, run, reveal, reach the goal. Pure: it says which run it waits for and
// takes the results.
class Progress {
 public:
  enum class State {
    asks,      // its question is open and its run has not started
    waits,     // waits for the step's run
    told,      // the reveal is shown
    practises  // the reveal is shown, and a goal is not reached yet
  };

  explicit Progress(Lesson lesson);

  const Lesson& lesson() const { return lesson_; }
  size_t at() const { return at_; }
  const Step& step() const { return lesson_.steps[at_]; }
  State state() const;

  void choose(size_t choice);  // only while it asks
  std::optional<size_t> chosen() const { return chosen_; }
  // The choice that holds. Call only after the reveal.
  Result<size_t> right() const;

  // The run that the step needs; null if it has none, or if its question is open.
  const Run* wanted() const;
  // Takes the wanted run's observation, with its code if the run asks for it, and later ones of the learner's own runs.
  void take(const Observation& observation, const Listing* code = nullptr);
  bool may_go_on() const;  // nothing is open except the goal, which may be skipped
  bool reached() const { return reached_; }

  struct Told {
    const Run* run = nullptr;  // null: the learner's own last run, after the step's
    const Observation* observation = nullptr;
  };
  // The runs whose figures may be shown, oldest first: those of the steps up to this one, each once its reveal is
  // shown, and the learner's own. Valid until the next call that changes the progress.
  std::vector<Told> told() const;

  // A text, reveal or goal with its figures filled in.
  Result<std::string> filled(const std::string& text) const { return observed_.filled(text); }

  void next();  // does nothing at the last step
  void back();  // goes to the previous step, with its answer
  bool is_last() const { return at_ + 1 == lesson_.steps.size(); }

 private:
  struct Left {
    std::optional<size_t> chosen{};
    bool ran = false;
    bool reached = false;
  };
  void enter(size_t at);

  Lesson lesson_;
  std::map<size_t, Observation> runs_{};  // by step
  std::optional<Observation> own_{};      // the learner's last run at this step
  size_t at_ = 0;
  std::vector<Left> left_{};  // by step
  std::optional<size_t> chosen_{};
  bool ran_ = false, reached_ = false;
  Observed observed_{};
};

}  // namespace attnscope::lesson
