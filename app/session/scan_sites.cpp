#include "session/scan_sites.h"

#include <algorithm>
#include <utility>

#include "core/joined.h"

namespace attnscope::session {

ScanSites::ScanSites(std::vector<DeviceTable::Place> places, Sharing sharing) : sharing_(std::move(sharing)) {
  for (DeviceTable::Place& place : places) {
    place.spec = nullptr;  // the table that spec points into may change
    sites_.push_back({std::move(place), {}, {}});
  }
}

std::optional<ScanSites::Taken> ScanSites::next(const Scan& scan, const LookAt& look) const {
  for (size_t site = 0; site < sites_.size(); ++site) {
    if (sites_[site].point) continue;
    if (shared() && (!look(sites_[site].place).up || is_gone(sites_[site], look))) continue;
    if (const auto point = point_for(sites_[site], scan, look))
      return Taken{site, *point, ahead_of(sites_[site], *point, scan)};
  }
  return std::nullopt;
}

void ScanSites::start(const Taken& taken) {
  sites_.at(taken.site).point = taken.point;
  sites_.at(taken.site).ahead = taken.ahead;
}

void ScanSites::resume() {
  resumed_.merge(put_off_);
  put_off_.clear();
}

bool ScanSites::has_free(const Scan& scan) const {
  for (size_t point = 0; point < scan.points.size(); ++point)
    if (is_free(scan, point)) return true;
  return false;
}

std::optional<std::string> ScanSites::lose(size_t site, const std::string& worker, const std::string& why) {
  const auto point = std::exchange(sites_.at(site).point, std::nullopt);
  if (!point) return std::nullopt;
  std::vector<Loss>& losses = losses_[*point];
  losses.push_back({sites_[site].place.worker, worker + ": " + why});
  return losses.size() < kMostLosses ? std::nullopt : std::optional(joined(losses, &Loss::text, "; "));
}

std::string ScanSites::hopeless(const LookAt& look) const {
  if (!shared()) return "";
  std::vector<std::string> reasons;
  for (const Site& site : sites_) {
    if (site.point || !is_gone(site, look)) return "";
    reasons.push_back(site.place.id + ": " + why_gone(look(site.place)));
  }
  return joined(reasons, {}, "; ");
}

// The points that the site has compiled and not run yet, then the next free ones.
std::vector<size_t> ScanSites::ahead_of(const Site& site, size_t point, const Scan& scan) const {
  std::vector<size_t> ahead = site.ahead;
  std::erase_if(ahead, [&](size_t one) { return one == point || !is_free(scan, one); });
  for (size_t next = point + 1; next < scan.points.size() && ahead.size() < kMostAhead; ++next)
    if (is_free(scan, next) && !is_ahead_of_another(site, next) && std::ranges::count(ahead, next) == 0)
      ahead.push_back(next);
  return ahead;
}

// Why the place cannot be used: its worker is lost, or the device turned out to be another one. Empty if neither.
std::string ScanSites::why_gone(const PlaceNow& now) const {
  if (!now.up && now.lost) return now.detail.empty() ? "it is lost" : now.detail;
  if (!now.up) return "";
  if (now.spec == nullptr) return "its worker has no such device";
  return unlike(*now.spec, now.versions, sharing_->device, sharing_->versions, sharing_->by_nvcc);
}

bool ScanSites::is_gone(const Site& site, const LookAt& look) const { return !why_gone(look(site.place)).empty(); }

bool ScanSites::is_free(const Scan& scan, size_t point) const {
  return !scan.points[point].ended() && !put_off_.contains(point) &&
         std::ranges::none_of(sites_, [&](const Site& site) { return site.point == point; });
}

// A worker gets a point again that it went away with only if no other worker can take it.
bool ScanSites::may_take(const Site& site, size_t point, const LookAt& look) const {
  const auto found = losses_.find(point);
  if (found == losses_.end()) return true;
  const auto had_it = [&](const Site& one) {
    return std::ranges::count(found->second, one.place.worker, &Loss::worker) > 0;
  };
  return !had_it(site) ||
         std::ranges::all_of(sites_, [&](const Site& other) { return had_it(other) || is_gone(other, look); });
}

bool ScanSites::is_ahead_of_another(const Site& site, size_t point) const {
  return std::ranges::any_of(
      sites_, [&](const Site& other) { return &other != &site && std::ranges::count(other.ahead, point) > 0; });
}

// Points that were given back come first, then those that were put off, then those the site has compiled, then those no
// other site has compiled, then any.
std::optional<size_t> ScanSites::point_for(const Site& site, const Scan& scan, const LookAt& look) const {
  for (const auto& [point, losses] : losses_)
    if (is_free(scan, point) && may_take(site, point, look)) return point;
  for (const size_t point : resumed_)
    if (is_free(scan, point) && !losses_.contains(point)) return point;
  for (const size_t point : site.ahead)
    if (is_free(scan, point) && !losses_.contains(point)) return point;
  std::optional<size_t> of_another;
  for (size_t point = 0; point < scan.points.size(); ++point) {
    if (!is_free(scan, point) || losses_.contains(point)) continue;
    if (!is_ahead_of_another(site, point)) return point;
    if (!of_another) of_another = point;
  }
  const auto is_up = [&](const Site& other) { return &other != &site && look(other.place).up; };
  if (of_another || std::ranges::any_of(sites_, is_up)) return of_another;
  // Its own lost point again, rather than hours of waiting for a worker in a queue.
  for (const auto& [point, losses] : losses_)
    if (is_free(scan, point)) return point;
  return std::nullopt;
}

}  // namespace attnscope::session
