#include "cli/sweep_place.h"

#include <fmt/format.h>

#include "charts/format.h"
#include "cli/command.h"
#include "cli/places.h"

namespace attnscope::cli {

Result<SweepPlace> SweepPlace::open(session::SessionOptions options, const std::string& device) {
  auto waiting = WaitingSession::start(std::move(options));
  if (!waiting) return fail(waiting.error());
  auto found = (*waiting)->wait_for(device);
  if (!found) return fail(found.error());
  return of({std::move(*waiting), std::move(*found), {}});
}

Result<SweepPlace> SweepPlace::of(Pool pool) {
  const auto places = find_places();
  if (!places) return fail(places.error());
  auto opened = sweep::open_results(places->user.data / "results.sqlite");
  if (!opened) return fail(opened.error());
  if (!opened->note.empty()) print_note("attnscope: " + opened->note);
  SweepPlace place;
  place.session = &pool.session->session();
  place.device = std::move(pool.device);
  place.results = std::move(opened->results);
  place.emulated = emulated_devices(*places).devices;
  place.sharing = std::move(pool.sharing);
  place.find = [waiting = pool.session.get()](const std::string& id) { return waiting->wait_for(id); };
  place.resources = places->resources;
  place.new_id = [last = std::make_shared<uint64_t>(0)] { return ++*last; };  // one counter for all copies
  place.waiting = std::move(pool.session);
  return place;
}

void SweepPlace::rank_beside(const std::vector<std::string>& kernel_dirs) {
  beside = std::make_shared<std::unique_ptr<WaitingSession>>();
  open_beside = [kernel_dirs, opened = beside]() -> Result<session::Session*> {
    auto options = session_options(kernel_dirs, false);
    if (!options) return fail(options.error());
    auto started = WaitingSession::start(std::move(*options));
    if (!started) return fail(started.error());
    *opened = std::move(*started);
    return &(*opened)->session();
  };
}

SweepLine::SweepLine(const sweep::Place& place, const sweep::Plan& plan, const std::vector<Config>& configs,
                     std::string prefix)
    : prefix_(std::move(prefix)), kernel_(plan.kernel), options_(plan.held.config.options) {
  if (auto sharing = sweep::sharing_of(place, configs)) pool_words_.emplace(std::move(*sharing));
}

void SweepLine::follow(sweep::Search::Settings& settings) {
  settings.on_progress = [this](const sweep::Progress& now) { show(now); };
  settings.on_look = [this](const session::Snapshot& now) {
    if (!pool_words_) return waiting_.look(now);
    if (pool_words_->look(now) && !how_far_.empty()) show();
  };
}

void SweepLine::show(const sweep::Progress& now) {
  how_far_ = now.of_model ? sweep::modelled_text(now.ended, now.most)
                          : fmt::format("{} of {}{}", now.ended, now.at_most ? "at most " : "", now.most);
  how_far_ += sweep::briefly_text(now.briefly);
  if (!now.of_model && now.to_model > 0) how_far_ += ", " + sweep::modelled_text(now.modelled, now.to_model);
  if (now.left_seconds) how_far_ += ", " + charts::left_text(*now.left_seconds);
  if (now.best != nullptr)
    how_far_ += fmt::format(", best {} us: {}", charts::terminal_us(now.best->timing->p50),
                            short_text(now.best->experiment.config, kernel_, options_));
  parts_ = {now.ended, now.most};
  show();
}

void SweepLine::show() {
  const std::string workers = pool_words_ ? pool_words_->text() : "";
  line_.show(prefix_ + (workers.empty() ? how_far_ : how_far_ + "; " + workers), parts_);
}

}  // namespace attnscope::cli
