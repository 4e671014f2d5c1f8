#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/scan.h"
#include "session/device_table.h"
#include "session/sharing.h"

namespace attnscope::session {

// What the session currently knows of a place and its worker.
struct PlaceNow {
  bool up = false, lost = false;     // the worker's state; neither: it is starting or waits in a queue
  const DeviceSpec* spec = nullptr;  // null: the worker has no such device
  Versions versions;                 // the worker's
  std::string detail;                // why the worker is lost
};
using LookAt = std::function<PlaceNow(const DeviceTable::Place&)>;

// Where a scan's points run: at one place, or at several that share them. Decides which place gets which point. When a
// worker goes away, its point goes to another one; a point that two workers went away with is not tried again. Pure.
class ScanSites {
 public:
  static constexpr size_t kMostLosses = 2;  // workers, with the same point
  static constexpr size_t kMostAhead = 16;  // points that a place compiles while one runs, on as many cores as it has

  ScanSites() = default;
  explicit ScanSites(DeviceTable::Place only) : sites_{{std::move(only), {}, {}}} {}
  ScanSites(std::vector<DeviceTable::Place> places, Sharing sharing);

  struct Taken {
    size_t site = 0, point = 0;
    std::vector<size_t> ahead = {};  // the points that the place compiles meanwhile and no other place does
  };
  // A place without a point and an unfinished point for it; empty: there is no such pair now. `look` is called only for
  // places that share.
  std::optional<Taken> next(const Scan& scan, const LookAt& look) const;
  void start(const Taken& taken);
  void end(size_t site) { sites_.at(site).point.reset(); }
  // No place gets that unfinished point until resume(); then it comes before others.
  void put_off(size_t point) { put_off_.insert(point); }
  void resume();
  bool has_free(const Scan& scan) const;  // an unfinished point that no place runs and that is not put off
  // That worker went away with its point. If the point is not tried again, returns what happened to both workers.
  std::optional<std::string> lose(size_t site, const std::string& worker, const std::string& why);
  // Why no place can ever run a point; empty if one does or may.
  std::string hopeless(const LookAt& look) const;

  bool shared() const { return sharing_.has_value(); }
  size_t count() const { return sites_.size(); }
  const DeviceTable::Place& place(size_t site) const { return sites_.at(site).place; }

 private:
  struct Site {
    DeviceTable::Place place;
    std::optional<size_t> point;  // the point that runs there
    std::vector<size_t> ahead;    // the points it has compiled
  };
  struct Loss {
    size_t worker = 0;
    std::string text;  // "l4box: it was ended by signal 9"
  };
  std::string why_gone(const PlaceNow& now) const;
  bool is_gone(const Site& site, const LookAt& look) const;
  bool is_free(const Scan& scan, size_t point) const;
  bool may_take(const Site& site, size_t point, const LookAt& look) const;
  bool is_ahead_of_another(const Site& site, size_t point) const;
  std::vector<size_t> ahead_of(const Site& site, size_t point, const Scan& scan) const;
  std::optional<size_t> point_for(const Site& site, const Scan& scan, const LookAt& look) const;

  std::vector<Site> sites_;
  std::optional<Sharing> sharing_;
  std::map<size_t, std::vector<Loss>> losses_;  // by point
  std::set<size_t> put_off_, resumed_;
};

}  // namespace attnscope::session
