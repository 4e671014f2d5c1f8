#pragma once
#include <cstddef>
#include <map>
#include <string>

#include "core/view.h"
#include "session/shared.h"

namespace attnscope::session {

// The newest tile of each request. Beyond kMaxBytes or kMaxTiles, it drops the tile that arrived first.
class TileCache {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxTiles = 64;

  void add(Tile tile);
  const Tile* find(const ViewRequest& request) const;
  const std::map<std::string, Shared<Tile>>& view() const { return tiles_; }

 private:
  void remove(const std::string& key);

  std::map<std::string, Shared<Tile>> tiles_;
  std::map<std::string, uint64_t> arrived_;  // order of arrival by key
  size_t bytes_ = 0;
  uint64_t clock_ = 0;
};

// True if every row of the tile is computed.
bool complete(const Tile& tile);

}  // namespace attnscope::session
