#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lesson/lesson.h"
#include "lesson/observed.h"

namespace attnscope::lesson {

// A lesson on its way: predict, run, reveal, reach the goal. Pure: it says which run it waits for and is told what
// came.
class Progress {
 public:
  enum class State {
    asks,      // its question is open; its run has not started
    waits,     // for the step's run
    told,      // reveal is shown
    practises  // told, with a goal that is not reached
  };

  explicit Progress(Lesson lesson);

  const Lesson& lesson() const { return lesson_; }
  size_t at() const { return at_; }
  const Step& step() const { return lesson_.steps[at_]; }
  State state() const;

  void choose(size_t choice);  // only while it asks
  std::optional<size_t> chosen() const { return chosen_; }
  // Which choice holds; only once it is told.
  Result<size_t> right() const;

  // The step's run; null: it has none, or its question is open.
  const Run* wanted() const;
  // The wanted run's, with its code if the run asks for it, and later ones of the learner's own.
  void take(const Observation& observation, const Listing* code = nullptr);
  bool may_go_on() const;  // nothing is open but the goal, which may be left
  bool reached() const { return reached_; }

  struct Told {
    const Run* run = nullptr;  // null: it is the learner's own last run, after the step's
    const Observation* observation = nullptr;
  };
  // The runs whose figures may be seen: those of the steps up to this one, each once its step is told, and the
  // learner's own. Oldest first. Valid until the next call that changes the progress.
  std::vector<Told> told() const;

  // Text, reveal and goal with their figures.
  Result<std::string> filled(const std::string& text) const { return observed_.filled(text); }

  void next();  // at the last step: nothing
  void back();  // the step before, with its answer
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
