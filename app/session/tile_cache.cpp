#include "session/tile_cache.h"

#include <algorithm>

#include "session/snapshot.h"

namespace attnscope::session {
namespace {
size_t bytes_of(const Tile& tile) { return tile.values.size() * sizeof(float) + tile.ready_rows.size() + sizeof(Tile); }
}  // namespace

void TileCache::add(Tile tile) {
  const std::string key = tile_key(tile.request);
  remove(key);
  bytes_ += bytes_of(tile);
  tiles_[key] = share(std::move(tile));
  arrived_[key] = ++clock_;
  while (tiles_.size() > 1 && (bytes_ > kMaxBytes || tiles_.size() > kMaxTiles)) {
    const auto oldest = std::min_element(arrived_.begin(), arrived_.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    remove(std::string(oldest->first));
  }
}

const Tile* TileCache::find(const ViewRequest& request) const {
  auto found = tiles_.find(tile_key(request));
  return found == tiles_.end() ? nullptr : found->second.get();
}

void TileCache::remove(const std::string& key) {
  auto found = tiles_.find(key);
  if (found == tiles_.end()) return;
  bytes_ -= bytes_of(*found->second);
  tiles_.erase(found);
  arrived_.erase(key);
}

bool complete(const Tile& tile) {
  return std::all_of(tile.ready_rows.begin(), tile.ready_rows.end(), [](uint8_t ready) { return ready != 0; });
}

}  // namespace attnscope::session
