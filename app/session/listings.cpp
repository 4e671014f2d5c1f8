#include "session/listings.h"

namespace attnscope::session {

void Listings::add(Listing listing) {
  const std::string hash = listing.experiment_hash;
  refused_.erase(hash);
  if (all_.contains(hash)) std::erase(arrived_, hash);
  arrived_.push_back(hash);
  all_[hash] = share(std::move(listing));
  while (arrived_.size() > kMost) {
    all_.erase(arrived_.front());
    arrived_.pop_front();
  }
}

void Listings::refuse(const std::string& hash, Failure why) {
  if (refused_.size() >= kMostRefused) refused_.clear();
  refused_.insert_or_assign(hash, std::move(why));
}

void Listings::reconsider(const std::string& hash) {
  std::erase_if(refused_, [&](const auto& one) { return one.first == hash || one.first.starts_with(hash + "/"); });
}

void Listings::ran(const std::string& hash) {
  reconsider(hash);
  const std::string clocks = clocks_key(hash);
  const auto is_of_a_run = [&](const std::string& key) { return key == hash || key.starts_with(clocks); };
  std::erase_if(all_, [&](const auto& one) { return is_of_a_run(one.first); });
  std::erase_if(arrived_, is_of_a_run);
}

}  // namespace attnscope::session
