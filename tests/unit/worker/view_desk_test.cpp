#include "worker/view_desk.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace attnscope::worker {
namespace {

ViewRequest map_of(const std::string& experiment) {
  ViewRequest request;
  request.experiment_hash = experiment;
  return request;
}

TEST(ViewDesk, AnswersEachInTheOrderAsked) {
  std::vector<std::pair<protocol::Id, std::string>> answers;
  std::promise<void> all;
  ViewDesk desk(
      [](const ViewRequest& request) -> Result<Tile> { return fail(Stage::check, request.experiment_hash, ""); },
      [&](protocol::Id id, Result<Tile> tile) {
        answers.emplace_back(id, tile ? "" : tile.error().message);
        if (answers.size() == 3) all.set_value();
      });
  for (const protocol::Id id : {7, 5, 9}) desk.ask(id, map_of("map " + std::to_string(id)));
  all.get_future().wait();
  EXPECT_EQ(answers, (std::vector<std::pair<protocol::Id, std::string>>{{7, "map 7"}, {5, "map 5"}, {9, "map 9"}}));
}

TEST(ViewDesk, AskingDoesNotWaitForTheOneBeingMadeAndWhatIsMadeIsAnswered) {
  std::promise<void> begun, go_on;
  std::thread release;
  int made = 0, answered = 0;
  {
    std::future<void> may_go_on = go_on.get_future();
    ViewDesk desk(
        [&](const ViewRequest&) -> Result<Tile> {
          if (++made == 1) begun.set_value();
          may_go_on.wait();
          return Tile{};
        },
        [&](protocol::Id, Result<Tile> tile) { answered += tile.has_value(); });
    desk.ask(1, map_of("a"));
    begun.get_future().wait();
    desk.ask(2, map_of("b"));  // returns while the first is being made
    release = std::thread([&] { go_on.set_value(); });
  }
  release.join();
  EXPECT_GE(made, 1);
  EXPECT_EQ(answered, made);
}

}  // namespace
}  // namespace attnscope::worker
