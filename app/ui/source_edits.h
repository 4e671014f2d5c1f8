#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace attnscope::ui {

// The text of a copy's source while it is edited: when it is written into its file, and what became of the file
// meanwhile. Plain values, no widget; times are seconds.
class SourceEdits {
 public:
  static constexpr double kPause = 0.5;  // without a key, before the text is written and runs

  // What the editor has to do about what the session says.
  enum class News { none, take };  // take: text() is new, another program wrote it

  // `source`: what the kernel's file holds. `kept`: as the editor gives it back when nothing was typed; its line ends
  // are "\n", and the file keeps its own.
  void open(std::string kernel, std::string source, std::string kept);
  const std::string& kernel() const { return kernel_; }
  const std::string& text() const { return text_; }
  const std::string& source() const { return loaded_; }  // the kernel's, as the session had it last

  void typed(std::string text, double now);
  // The text to write now, if any: after the pause and the save before it, or at once if `hurry`. It is asked for once.
  std::optional<session::SourceSave> due(double now, bool hurry, uint64_t id);
  double wait(double now) const;  // seconds until it is due; 0: nothing waits

  // `source`: the kernel's, as the session has it.
  News observe(const std::string& source, const session::SavedSource& saved);

  const std::string& file() const { return file_; }  // what the file holds, as far as is known
  bool unsaved() const { return text_ != disk_ || sent_.has_value(); }
  const std::optional<Failure>& failure() const { return failure_; }  // why the last save came to nothing
  // Another program changed the file since, and this text is not written until one of the two is chosen.
  bool conflict() const { return theirs_.has_value(); }
  void keep_mine();
  void take_theirs();
  void try_again() { failure_.reset(); }

 private:
  News heard(const std::string& source);

  std::string kernel_;
  std::string loaded_;                 // source()
  std::string file_, disk_;            // what the file holds, with its own line ends and with "\n"
  std::string text_;                   // the editor's
  bool returns_ = false;               // the file's lines end with "\r\n"
  std::optional<std::string> theirs_;  // what another program wrote
  struct Sent {
    uint64_t id = 0;
    std::string text, file;
  };
  std::optional<Sent> sent_;
  std::vector<Sent> before_;  // sent before it, and no answer was seen: the file may hold one of them
  double typed_at_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace attnscope::ui
