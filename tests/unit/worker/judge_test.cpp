// A judge's answers, over pipes, as its client reads them.
#include "worker/judge.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "check/inputs.h"
#include "check/operands.h"
#include "check/reference.h"
#include "core/binary_json.h"
#include "core/json.h"
#include "protocol/frame.h"
#include "protocol/msgpack.h"
#include "support/temp_dir.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

Problem small() {
  Problem problem;
  problem.heads = problem.kv_heads = 2;
  problem.seq_q = problem.seq_k = 16;
  return problem;
}

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    std::signal(SIGPIPE, SIG_IGN);
    int to[2], from[2];
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    to_ = to[1], from_ = from[0];
    judge_ = std::thread([this, in = to[0], out = from[1]] {
      status_ = serve_judge(in, out, cache_.path());
      close(in), close(out);
    });
  }
  ~JudgeTest() override { end(); }

  int end() {
    for (int* end : {&to_, &from_})
      if (*end >= 0) close(std::exchange(*end, -1));
    if (judge_.joinable()) judge_.join();
    return status_;
  }
  void send_bytes(std::span<const std::byte> bytes) const {
    EXPECT_EQ(write(to_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void send(const Json& json) const { send_bytes(protocol::frame_of(protocol::to_msgpack(json)).value()); }
  Json answer() {
    for (;;) {
      auto payload = decoder_.next();
      if (payload && *payload) return protocol::from_msgpack(**payload).value();
      std::vector<std::byte> buffer(4096);
      const ssize_t got = payload ? read(from_, buffer.data(), buffer.size()) : 0;
      if (got <= 0) return {};
      decoder_.feed(std::span(buffer).first(static_cast<size_t>(got)));
    }
  }
  Json ask(const Json& json) {
    send(json);
    return answer();
  }
  static Json output_of(std::vector<uint8_t> bytes) {
    return {{"type", "output"}, {"bytes", binary_json(std::move(bytes))}};
  }
  static std::string message_of(const Json& answer) { return answer.at("failure").at("message"); }

  testing_support::TempDir cache_;
  int to_ = -1, from_ = -1;

 private:
  protocol::FrameDecoder decoder_;
  std::thread judge_;
  int status_ = -1;
};

TEST_F(JudgeTest, GivesTheInputsAndJudgesTheOutput) {
  const auto inputs = check::make_inputs(small());
  send({{"type", "inputs"}, {"problem", to_json(small())}});
  for (const auto* tensor : {&inputs->q, &inputs->k, &inputs->v}) {
    const std::vector<uint8_t> bytes = answer().at("bytes").get_binary();
    ASSERT_EQ(bytes.size(), tensor->size());
    EXPECT_EQ(std::memcmp(bytes.data(), tensor->data(), bytes.size()), 0);
  }
  const auto elements = static_cast<size_t>(small().q_elements());
  Json verdict = ask(output_of(std::vector<uint8_t>(2 * elements))).at("verdict");
  EXPECT_EQ(verdict.at("state"), "wrong") << "all zero";
  const auto reference = check::make_reference(small(), *inputs, check::Accumulate::f32);
  std::vector<uint8_t> right(2 * elements);
  for (size_t i = 0; i < elements; ++i)
    check::store_value(ElementType::f16, reinterpret_cast<std::byte*>(right.data()), static_cast<int64_t>(i),
                       (*reference)->values[i]);
  EXPECT_EQ(ask(output_of(right)).at("verdict").at("state"), "correct");
  EXPECT_EQ(ask(output_of(std::vector<uint8_t>(7))).count("failure"), 1u) << "another size";
  EXPECT_FALSE(std::filesystem::is_empty(cache_ / "references")) << "the reference is kept";
  EXPECT_EQ(end(), 0);
}

TEST_F(JudgeTest, AnOutputNeedsItsProblem) {
  EXPECT_EQ(message_of(ask(output_of({1, 2}))), "an output before its problem");
  send({{"type", "inputs"}, {"problem", to_json(small())}});
  for (int tensor = 0; tensor < 3; ++tensor) EXPECT_TRUE(answer().contains("bytes"));
  Json bad = to_json(small());
  bad["seq_q"] = -1;
  EXPECT_THAT(message_of(ask({{"type", "inputs"}, {"problem", bad}})), HasSubstr("seq_q"));
  EXPECT_EQ(message_of(ask(output_of({1, 2}))), "an output before its problem") << "the last problem was refused";
}

TEST_F(JudgeTest, WhatIsNoQuestionIsAFailure) {
  const std::string words = " is not a question to a judge";
  EXPECT_EQ(message_of(ask({{"type", "hello"}})), "\"hello\"" + words);
  EXPECT_EQ(message_of(ask({{"type", std::string(100, 'x')}})), '"' + std::string(64, 'x') + '"' + words);
  EXPECT_EQ(message_of(ask({{"type", "inputs"}})), "\"inputs\"" + words);
  EXPECT_EQ(message_of(ask({{"type", "output"}})), "\"output\"" + words);
  EXPECT_EQ(message_of(ask({{"type", "output"}, {"bytes", "text"}})), "\"output\"" + words);
  EXPECT_EQ(message_of(ask(Json::array({1}))), "\"\"" + words);
  send_bytes(protocol::frame_of(std::vector<std::byte>{std::byte{0xc1}}).value());  // not MessagePack
  EXPECT_EQ(answer().at("failure").at("stage"), "protocol");
  EXPECT_EQ(message_of(ask({{"type", "hello"}})), "\"hello\"" + words) << "it goes on";
}

TEST_F(JudgeTest, AFrameThatIsTooLongEndsIt) {
  send_bytes(std::vector(4, std::byte{0xff}));
  EXPECT_TRUE(answer().is_null());
  EXPECT_EQ(end(), 2);
}

TEST_F(JudgeTest, AClientThatIsGoneEndsIt) {
  close(std::exchange(from_, -1));
  send({{"type", "hello"}});
  EXPECT_EQ(end(), 0);
}

}  // namespace
}  // namespace attnscope::worker
