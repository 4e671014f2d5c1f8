#include "protocol/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace attnscope::protocol {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
Bytes copy_of(const std::string& text) { return {bytes_of(text).begin(), bytes_of(text).end()}; }

TEST(Frame, HeaderIsLittleEndianLength) {
  auto frame = frame_of(Bytes(0x010203));
  ASSERT_TRUE(frame);
  EXPECT_EQ((*frame)[0], std::byte{3});
  EXPECT_EQ((*frame)[1], std::byte{2});
  EXPECT_EQ((*frame)[2], std::byte{1});
  EXPECT_EQ((*frame)[3], std::byte{0});
  EXPECT_EQ(frame->size(), 4u + 0x010203u);
}

// Other versions' workers keep to the same limit.
TEST(Frame, AFrameOf256MibIsTakenAndALongerOneIsRefusedUnread) {
  const auto announced = [](uint32_t length) {
    Bytes header(4);
    for (size_t i = 0; i < 4; ++i) header[i] = static_cast<std::byte>(length >> (8 * i));
    FrameDecoder decoder;
    decoder.feed(header);
    return decoder.next().has_value();
  };
  EXPECT_TRUE(announced(268'435'456));
  EXPECT_FALSE(announced(268'435'457));
}

TEST(Frame, EverySplitGivesTheSamePayloads) {
  std::mt19937 random(1);
  std::vector<Bytes> payloads;
  Bytes stream;
  for (int i = 0; i < 200; ++i) {
    Bytes payload(i % 7 == 0 ? 0 : random() % 5000);
    for (std::byte& b : payload) b = static_cast<std::byte>(random());
    auto frame = frame_of(payload);
    ASSERT_TRUE(frame);
    stream.insert(stream.end(), frame->begin(), frame->end());
    payloads.push_back(std::move(payload));
  }
  for (int round = 0; round < 20; ++round) {
    FrameDecoder decoder;
    std::vector<Bytes> got;
    for (size_t at = 0; at < stream.size();) {
      const size_t most = round == 0 ? 1 : 1 + random() % (round < 10 ? 9000 : 40);
      const size_t count = std::min(most, stream.size() - at);
      decoder.feed(std::span(stream).subspan(at, count));
      at += count;
      for (;;) {
        auto next = decoder.next();
        ASSERT_TRUE(next);
        if (!*next) break;
        got.emplace_back((*next)->begin(), (*next)->end());
      }
    }
    EXPECT_EQ(got, payloads);
    EXPECT_FALSE(decoder.in_frame());
  }
}

TEST(Frame, TruncatedFrameStaysWaiting) {
  auto frame = frame_of(copy_of("hello"));
  FrameDecoder decoder;
  decoder.feed(std::span(*frame).first(frame->size() - 1));
  auto next = decoder.next();
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->has_value());
  EXPECT_TRUE(decoder.in_frame());
}

TEST(Frame, OversizeIsRefusedByItsHeader) {
  FrameDecoder decoder;
  decoder.feed(Bytes{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0x10}});  // 256 MiB + 1
  auto next = decoder.next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().stage, Stage::protocol);
  EXPECT_NE(next.error().message.find("268435457"), std::string::npos);
  decoder.feed(*frame_of(copy_of("fine")));
  EXPECT_FALSE(decoder.next()) << "a stream that lost its boundaries must stay refused";
}

TEST(Frame, LargestFrameIsAccepted) {
  FrameDecoder decoder(1000);
  decoder.feed(*frame_of(Bytes(1000)));
  auto next = decoder.next();
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->size(), 1000u);
  decoder.feed(*frame_of(Bytes(1001)));
  EXPECT_FALSE(decoder.next());
}

// Were the buffer to grow piece by piece, this would copy some 500 GB.
TEST(Frame, ALongFrameMayComeByteByByte) {
  FrameDecoder decoder;
  const Bytes frame = *frame_of(Bytes(size_t{1} << 20, std::byte{7}));
  for (size_t at = 0; at < frame.size(); ++at) decoder.feed(std::span(frame).subspan(at, 1));
  const auto whole = decoder.next();
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->size(), size_t{1} << 20);
}

// A long frame's memory is freed once it was read, and only then.
TEST(Frame, ALongFrameAndThoseAroundItAreWhole) {
  std::vector<Bytes> payloads{Bytes(10, std::byte{1}), Bytes(size_t{3} << 19), Bytes(20, std::byte{2})};
  for (size_t i = 0; i < payloads[1].size(); ++i) payloads[1][i] = static_cast<std::byte>(i % 251);
  Bytes stream;
  for (int twice = 0; twice < 2; ++twice)
    for (const Bytes& payload : payloads) {
      const auto frame = frame_of(payload);
      stream.insert(stream.end(), frame->begin(), frame->end());
    }
  for (const size_t piece : {size_t{1} << 16, stream.size()}) {
    FrameDecoder decoder;
    size_t got = 0;
    for (size_t at = 0; at < stream.size(); at += piece) {
      decoder.feed(std::span(stream).subspan(at, std::min(piece, stream.size() - at)));
      for (auto next = decoder.next(); next && *next; next = decoder.next())
        EXPECT_TRUE(std::ranges::equal(**next, payloads[got++ % payloads.size()])) << got;
    }
    EXPECT_EQ(got, 2 * payloads.size()) << piece;
    EXPECT_FALSE(decoder.in_frame());
  }
}

TEST(Frame, SendingOversizeIsRefused) {
  const auto refused = frame_of(std::span(static_cast<const std::byte*>(nullptr), kMaxFrame + 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "a message of 268435457 bytes is over the limit of 268435456");
}

TEST(Banner, FoundAtOnceAndSplit) {
  const std::string stream = banner_line("0.1.0") + "rest";
  for (size_t split = 0; split <= stream.size(); ++split) {
    BannerSkipper skipper;
    std::string rest;
    auto first = skipper.feed(bytes_of(stream.substr(0, split)));
    ASSERT_TRUE(first);
    if (*first) {
      rest.append(reinterpret_cast<const char*>(skipper.rest().data()), skipper.rest().size());
      rest += stream.substr(split);
    } else {
      ASSERT_TRUE(skipper.feed(bytes_of(stream.substr(split))).value());
      rest.append(reinterpret_cast<const char*>(skipper.rest().data()), skipper.rest().size());
    }
    EXPECT_EQ(skipper.version(), "0.1.0");
    EXPECT_EQ(rest, "rest") << split;
  }
}

TEST(Banner, SkipsALoginMessage) {
  BannerSkipper skipper;
  const std::string noise = "Welcome to l4box\r\nattnscope-like text\n\n";
  EXPECT_TRUE(skipper.feed(bytes_of(noise + "attnscope-worker 1.2\r\n")).value());
  EXPECT_EQ(skipper.version(), "1.2");
}

TEST(Banner, GivesUpAfterTheCapAndQuotesTheNoise) {
  BannerSkipper skipper;
  std::string noise;
  while (noise.size() < kMaxBanner) noise += "srun: job queued\n";
  auto fed = skipper.feed(bytes_of(noise));
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().stage, Stage::protocol);
  EXPECT_NE(fed.error().message.find("srun: job"), std::string::npos);
}

TEST(Banner, QuotesTheLastWholeLineThatIsNotEmptyCutShort) {
  BannerSkipper skipper;
  const std::string line(119, 'y');
  const auto fed = skipper.feed(bytes_of("first\n" + line + "zz\r\n\n" + std::string(kMaxBanner, 'x')));
  ASSERT_FALSE(fed);
  EXPECT_NE(fed.error().message.find("65536 bytes"), std::string::npos) << fed.error().message;
  EXPECT_TRUE(fed.error().message.ends_with(": \"" + line + "z\"")) << fed.error().message;
}

TEST(Banner, TheCapIsOfAllBytesBeforeTheBanner) {
  BannerSkipper skipper;
  const std::string banner = banner_line("1");
  ASSERT_TRUE(skipper.feed(bytes_of(std::string(kMaxBanner - banner.size(), 'x') + "\n")));
  EXPECT_FALSE(skipper.found());
  EXPECT_TRUE(skipper.feed(bytes_of(banner)).value());
  EXPECT_EQ(kMaxBanner, 65536u);
}

TEST(Banner, ALineWithoutEndIsCappedToo) {
  BannerSkipper skipper;
  EXPECT_TRUE(skipper.feed(Bytes(kMaxBanner, std::byte{'x'})));
  EXPECT_FALSE(skipper.feed(Bytes(1, std::byte{'x'})));
}

}  // namespace
}  // namespace attnscope::protocol
