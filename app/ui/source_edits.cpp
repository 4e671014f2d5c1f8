#include "ui/source_edits.h"

#include <algorithm>
#include <utility>

namespace attnscope::ui {
namespace {

std::string without_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

std::string with_returns(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

}  // namespace

void SourceEdits::open(std::string kernel, std::string source, std::string kept) {
  *this = {};
  kernel_ = std::move(kernel);
  returns_ = source.find("\r\n") != std::string::npos;
  loaded_ = file_ = std::move(source);
  disk_ = text_ = std::move(kept);
}

void SourceEdits::typed(std::string text, double now) {
  text_ = std::move(text);
  typed_at_ = now;
  failure_.reset();
}

std::optional<session::SourceSave> SourceEdits::due(double now, bool hurry, uint64_t id) {
  if (failure_ || theirs_ || text_ == (sent_ ? sent_->text : disk_)) return std::nullopt;
  if (!hurry && (sent_ || now < typed_at_ + kPause)) return std::nullopt;
  // Saves are made in order: this one finds the file as the previous one wrote it.
  const std::string based_on = sent_ ? sent_->file : file_;
  if (sent_) before_.push_back(std::move(*sent_));
  sent_ = Sent{id, text_, returns_ ? with_returns(text_) : text_};
  return session::SourceSave{id, kernel_, based_on, sent_->file};
}

double SourceEdits::wait(double now) const {
  const bool waits = text_ != disk_ && !sent_ && !failure_ && !theirs_;
  return waits ? std::max(0.01, typed_at_ + kPause - now) : 0;
}

SourceEdits::News SourceEdits::observe(const std::string& source, const session::SavedSource& saved) {
  if (sent_ && saved.id == sent_->id) {
    const Sent sent = *std::exchange(sent_, std::nullopt);
    failure_ = saved.failure;
    if (saved.changed) {
      if (heard(*saved.changed) == News::take) return News::take;
    } else if (!saved.failure) {
      file_ = sent.file;  // the session's source may still be an older one
      disk_ = sent.text;
      before_.clear();
    }
  }
  if (sent_ || source == loaded_) return News::none;  // a pending save will report it
  loaded_ = source;
  return heard(source);
}

// The file's content is now `source`.
SourceEdits::News SourceEdits::heard(const std::string& source) {
  if (source == file_) {
    theirs_.reset();  // it is unchanged again
    return News::none;
  }
  if (const auto mine = std::ranges::find(before_, source, &Sent::file); mine != before_.end()) {
    file_ = mine->file;
    disk_ = mine->text;
    theirs_.reset();
    return News::none;
  }
  std::string plain = without_returns(source);
  if (text_ != disk_ && text_ != plain) {
    theirs_ = source;
    return News::none;
  }
  theirs_ = source;
  take_theirs();
  return News::take;
}

void SourceEdits::keep_mine() {
  if (!theirs_) return;
  file_ = *std::exchange(theirs_, std::nullopt);
  disk_ = without_returns(file_);
  before_.clear();
}

void SourceEdits::take_theirs() {
  if (!theirs_) return;
  file_ = *std::exchange(theirs_, std::nullopt);
  returns_ = file_.find("\r\n") != std::string::npos;
  disk_ = text_ = without_returns(file_);
  before_.clear();
}

}  // namespace attnscope::ui
