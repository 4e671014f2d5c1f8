#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace attnscope::ui {

// The text of a copy's source while it is edited: when to write it to its file, and what has happened to the file.
// Plain values without a widget; times are in seconds.
class SourceEdits {
 public:
  static constexpr double kPause = 0.5;  // without a key press, before the text is written and runs

  // What the editor must do after a message from the session.
  enum class News { none, take };  // take: text() is new, because another program wrote the file

  // `source`: the content of the kernel's file. `kept`: the text that the editor returns if nothing was typed; its line
  // ends are "\n", and the file keeps its own.
  void open(std::string kernel, std::string source, std::string kept);
  const std::string& kernel() const { return kernel_; }
  const std::string& text() const { return text_; }
  const std::string& source() const { return loaded_; }  // the kernel's source in the session's last snapshot

  void typed(std::string text, double now);
  // The text to write now, if any: after the pause and the previous save, or at once if `hurry`. Returned only once.
  std::optional<session::SourceSave> due(double now, bool hurry, uint64_t id);
  double wait(double now) const;  // seconds until it is due; 0: nothing is pending

  // `source`: the kernel's source in the session's snapshot.
  News observe(const std::string& source, const session::SavedSource& saved);

  const std::string& file() const { return file_; }  // the file's content, as far as it is known
  bool unsaved() const { return text_ != disk_ || sent_.has_value(); }
  const std::optional<Failure>& failure() const { return failure_; }  // why the last save failed
  // True if another program has changed the file. This text is not written until a person has chosen one of the two.
  bool conflict() const { return theirs_.has_value(); }
  void keep_mine();
  void take_theirs();
  void try_again() { failure_.reset(); }

 private:
  News heard(const std::string& source);

  std::string kernel_;
  std::string loaded_;                 // source()
  std::string file_, disk_;            // the file's content, with its own line ends and with "\n"
  std::string text_;                   // the editor's
  bool returns_ = false;               // the file's lines end with "\r\n"
  std::optional<std::string> theirs_;  // what another program wrote
  struct Sent {
    uint64_t id = 0;
    std::string text, file;
  };
  std::optional<Sent> sent_;
  std::vector<Sent> before_;  // earlier saves without an answer: the file may hold one of them
  double typed_at_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace attnscope::ui
