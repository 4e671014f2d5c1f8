#include "ui/listening_session.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace attnscope::ui {

std::vector<std::string> ListeningSession::asked() { return std::exchange(asked_, {}); }

std::string ListeningSession::changed(const Draft& draft) const {
  const Experiment& wanted = snapshot()->focus.wanted;
  return Json::diff(to_json(wanted), to_json(Experiment{draft, wanted.kernel_hash})).dump();
}

void ListeningSession::save_session(std::string title, std::string about, Json) {
  note("save session " + title + ": " + about);
}
void ListeningSession::open_session(std::filesystem::path path) { note("open session " + path.filename().string()); }
void ListeningSession::copy_preset(std::filesystem::path path) { note("copy preset " + path.filename().string()); }
void ListeningSession::delete_session(std::filesystem::path path) {
  note("delete session " + path.filename().string());
}
void ListeningSession::restore_session(std::filesystem::path path) {
  note("restore session " + path.filename().string());
}
void ListeningSession::annotate(std::string hash, store::RunNote own) {
  const session::History& history = snapshot()->history;
  std::string runs;
  for (size_t at = 0; at < history.size; ++at)
    if (hash_of(history.at(at).observation->experiment) == hash) runs += " " + std::to_string(history.at(at).id);
  note("annotate runs" + runs + (own.starred ? " with a star: " : ": ") + own.text);
}
void ListeningSession::focus(Draft draft, session::Gesture gesture) {
  note("focus " + changed(draft) + (gesture.finished ? ", " : ", going on, ") + gesture.change);
}
std::future<Observation> ListeningSession::queue(Draft draft, session::Watch) {
  note("queue " + changed(draft));
  return {};
}
void ListeningSession::scan(session::ScanRequest request) {
  std::string knobs;
  for (const std::string& knob : request.knobs) knobs += " " + knob;
  for (const auto& [knob, value] : request.set) knobs += " " + knob + "=" + std::to_string(value);
  note("scan " + changed(request.draft) + knobs + (request.warned ? ", warned too" : ""));
}
void ListeningSession::load_preset(std::filesystem::path path) { note("load preset " + path.filename().string()); }
void ListeningSession::save_preset(std::filesystem::path path, std::string title, Json) {
  note("save preset " + path.filename().string() + ": " + title);
}
void ListeningSession::describe_preset(std::filesystem::path path, std::string title, std::string about) {
  note("describe preset " + path.filename().string() + ": " + title + ": " + about);
}
void ListeningSession::delete_preset(std::filesystem::path path) { note("delete preset " + path.filename().string()); }
void ListeningSession::copy_kernel(uint64_t, Draft draft) { note("copy kernel " + changed(draft)); }
void ListeningSession::add_worker(session::WorkerCommand worker) {
  std::string words;
  for (const std::string& word : worker.argv) words += " " + word;
  note("add worker " + worker.name + (worker.remote ? ", remote:" : ":") + words);
}

}  // namespace attnscope::ui
