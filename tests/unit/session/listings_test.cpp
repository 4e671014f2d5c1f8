#include "session/listings.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

Listing of(const std::string& hash) { return Listing{.experiment_hash = hash}; }

TEST(Listings, OneIsAskedForOnceUntilItsExperimentRuns) {
  Listings listings;
  EXPECT_TRUE(listings.ask("a"));
  EXPECT_FALSE(listings.ask("a")) << "it is on its way";
  listings.over("a");
  EXPECT_TRUE(listings.ask("a")) << "it came to nothing";
  listings.add(of("a"));
  listings.over("a");
  EXPECT_FALSE(listings.ask("a")) << "it is here";
  listings.ran("a");
  EXPECT_TRUE(listings.all().empty());
  EXPECT_TRUE(listings.ask("a"));
}

// The model simulates the same again; a GPU's clocks are those of one run.
TEST(Listings, ARunsClocksGoWhenItRunsAgain) {
  Listings listings;
  const std::string clocks = listing_key("a", TimelineAsk{.measured = true});
  const std::string of_an_sm = listing_key("a", TimelineAsk{.measured = true, .sm = 3});
  const std::string modelled = listing_key("a", TimelineAsk{});
  const std::string of_another = listing_key("ab", TimelineAsk{.measured = true});
  for (const std::string& key : {clocks, of_an_sm, modelled, of_another}) listings.add(of(key));
  listings.ran("a");
  EXPECT_TRUE(listings.ask(clocks));
  EXPECT_TRUE(listings.ask(of_an_sm));
  EXPECT_TRUE(listings.all().contains(modelled));
  EXPECT_TRUE(listings.all().contains(of_another));
  for (size_t i = 2; i < Listings::kMost; ++i) listings.add(of(std::to_string(i)));
  EXPECT_TRUE(listings.all().contains(modelled)) << "the ones that went take no room";
}

// "hash/timeline/…" was refused because no run was kept; the run or its watch keeps one.
TEST(Listings, WhatWasRefusedOfARunMayBeAskedForAfterItAndItsWatch) {
  for (const auto more : {&Listings::ran, &Listings::reconsider}) {
    Listings listings;
    listings.refuse("a/timeline/0", {});
    listings.refuse("ab", {});
    (listings.*more)("a");
    EXPECT_TRUE(listings.ask("a/timeline/0"));
    EXPECT_FALSE(listings.ask("ab")) << "another experiment";
  }
}

TEST(Listings, ARefusalHoldsUntilItsExperimentRuns) {
  Listings listings;
  listings.refuse("a", Failure{Stage::device, "no", ""});
  EXPECT_FALSE(listings.ask("a"));
  listings.ran("a");
  EXPECT_TRUE(listings.refused().empty());
  EXPECT_TRUE(listings.ask("a"));
  for (size_t i = 0; i <= Listings::kMostRefused; ++i) listings.refuse(std::to_string(i), {});
  EXPECT_LE(listings.refused().size(), Listings::kMostRefused);
}

TEST(Listings, TheOldestGoFirst) {
  Listings listings;
  for (size_t i = 0; i < Listings::kMost; ++i) listings.add(of(std::to_string(i)));
  listings.add(of("0"));  // again: now it is the newest
  listings.add(of("new"));
  EXPECT_EQ(listings.all().size(), Listings::kMost);
  EXPECT_TRUE(listings.all().contains("0"));
  EXPECT_FALSE(listings.all().contains("1"));
}

}  // namespace
}  // namespace attnscope::session
