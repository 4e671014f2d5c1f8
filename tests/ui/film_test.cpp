// Films: the animated PNG that is written, and the scripts that are read.
#include <gmock/gmock.h>
#include <stb_image.h>

#include <fstream>
#include <map>
#include <memory>

#include "support/temp_dir.h"
#include "ui/film_script.h"
#include "ui/png.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;

struct Chunk {
  std::string kind, data;
};

uint32_t number_at(std::string_view bytes, size_t at, size_t size = 4) {
  uint32_t value = 0;
  for (size_t byte = 0; byte < size; ++byte) value = value << 8 | static_cast<uint8_t>(bytes[at + byte]);
  return value;
}

std::vector<Chunk> chunks_of(const std::string& png) {
  std::vector<Chunk> found;
  for (size_t at = 8; at + 12 <= png.size();) {
    const size_t length = number_at(png, at);
    found.push_back({png.substr(at + 4, 4), png.substr(at + 8, length)});
    at += 12 + length;
  }
  return found;
}

std::string chunk(const std::string& kind, const std::string& data) {
  std::string out;
  for (int at = 3; at >= 0; --at) out += static_cast<char>(data.size() >> (8 * at));
  return out + kind + data + std::string(4, '\0');  // stb_image does not look at the CRC
}

// Plays the file with another decoder: every picture in full, and how long it is shown.
struct Played {
  std::vector<std::vector<uint8_t>> pictures;
  std::vector<uint32_t> ms;
};

Played play(const std::string& file, int width, int height) {
  Played played;
  std::vector<uint8_t> canvas(static_cast<size_t>(width * height * 3));
  const auto chunks = chunks_of(file);
  std::string head, frame;
  uint32_t sequence = 0;
  for (const Chunk& one : chunks) {
    if (one.kind == "IHDR") head = one.data;
    if (one.kind == "fcTL" || one.kind == "fdAT") {
      EXPECT_EQ(number_at(one.data, 0), sequence++);
    }
    if (one.kind == "fcTL") frame = one.data;
    if (one.kind != "IDAT" && one.kind != "fdAT") continue;
    const std::string data = one.kind == "IDAT" ? one.data : one.data.substr(4);
    const std::string still = file.substr(0, 8) + chunk("IHDR", frame.substr(4, 8) + head.substr(8)) +
                              chunk("IDAT", data) + chunk("IEND", "");
    int w = 0, h = 0, channels = 0;
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(still.data()), static_cast<int>(still.size()), &w, &h,
                              &channels, 4),
        stbi_image_free);
    if (pixels == nullptr) {
      ADD_FAILURE() << stbi_failure_reason();
      return played;
    }
    const int left = static_cast<int>(number_at(frame, 12)), top = static_cast<int>(number_at(frame, 16));
    EXPECT_LE(left + w, width);
    EXPECT_LE(top + h, height);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const stbi_uc* from = pixels.get() + (y * w + x) * 4;
        if (from[3] != 0) std::copy_n(from, 3, canvas.begin() + ((top + y) * width + left + x) * 3);
      }
    played.pictures.push_back(canvas);
    played.ms.push_back(number_at(frame, 20, 2) * 1000 / number_at(frame, 22, 2));
  }
  return played;
}

std::vector<uint8_t> plain(int width, int height, uint8_t level) {
  return std::vector<uint8_t>(static_cast<size_t>(width * height * 3), level);
}

TEST(AnimatedPng, AnotherDecoderSeesEveryPicture) {
  constexpr int kWidth = 37, kHeight = 23;
  std::vector<std::vector<uint8_t>> pictures{plain(kWidth, kHeight, 40)};
  // A dot in a corner, a stripe on both sides, a part that changes back, and all at once.
  pictures.push_back(pictures.back());
  pictures.back()[0] = 200;
  pictures.push_back(pictures.back());
  for (size_t x = 0; x < kWidth * 3; ++x) pictures.back()[11 * kWidth * 3 + x] = static_cast<uint8_t>(x);
  pictures.push_back(pictures[1]);
  pictures.push_back(plain(kWidth, kHeight, 90));
  AnimatedPng film({kWidth, kHeight});
  for (size_t at = 0; at < pictures.size(); ++at) ASSERT_TRUE(film.add(pictures[at], 100 + static_cast<int>(at)));
  const std::string file = film.bytes();
  EXPECT_EQ(file.substr(file.size() - 8), std::string("IEND\xae\x42\x60\x82", 8)) << "the CRC of an empty IEND";
  const Played played = play(file, kWidth, kHeight);
  EXPECT_EQ(played.pictures, pictures);
  EXPECT_EQ(played.ms, (std::vector<uint32_t>{100, 101, 102, 103, 104}));
  const auto chunks = chunks_of(file);
  ASSERT_EQ(chunks[1].kind, "acTL");
  EXPECT_EQ(number_at(chunks[1].data, 0), 5u);
  EXPECT_EQ(number_at(chunks[1].data, 4), 0u) << "plays without end";
}

TEST(AnimatedPng, AnEqualPictureOnlyLengthensTheLast) {
  AnimatedPng film({8, 8});
  ASSERT_TRUE(film.add(plain(8, 8, 1), 100));
  ASSERT_TRUE(film.add(plain(8, 8, 1), 250));
  EXPECT_EQ(film.pictures(), 1u);
  EXPECT_EQ(film.length_ms(), 350);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(film.add(plain(8, 8, 1), 30000));
  EXPECT_EQ(film.length_ms(), 60000) << "a delay has 16 bits";
  EXPECT_EQ(play(film.bytes(), 8, 8).ms, std::vector<uint32_t>{60000});
}

// Of each later picture the box around its changes is written, wherever they lie.
TEST(AnimatedPng, APictureIsTheBoxAroundItsChanges) {
  constexpr int kWidth = 40, kHeight = 30;
  auto picture = plain(kWidth, kHeight, 0);
  for (size_t at = 0; at < picture.size(); ++at) picture[at] = static_cast<uint8_t>(at * 2654435761u >> 13);
  AnimatedPng film({kWidth, kHeight});
  ASSERT_TRUE(film.add(picture, 100));
  using Box = std::vector<uint32_t>;  // width, height, left, top
  std::vector<Box> boxes;
  for (const auto& [dots, box] :
       std::vector<std::pair<std::vector<std::pair<size_t, size_t>>, Box>>{{{{0, 0}}, {1, 1, 0, 0}},
                                                                           {{{39, 29}}, {1, 1, 39, 29}},
                                                                           {{{12, 20}, {7, 9}}, {6, 12, 7, 9}},
                                                                           {{{5, 4}, {30, 4}}, {26, 1, 5, 4}},
                                                                           {{{17, 2}, {17, 28}}, {1, 27, 17, 2}}}) {
    for (const auto& [x, y] : dots) picture[3 * (y * kWidth + x) + 1] ^= 255;
    ASSERT_TRUE(film.add(picture, 100));
    boxes.push_back(box);
  }
  std::vector<Box> written;
  for (const auto& one : chunks_of(film.bytes()))
    if (one.kind == "fcTL")
      written.push_back(
          {number_at(one.data, 4), number_at(one.data, 8), number_at(one.data, 12), number_at(one.data, 16)});
  ASSERT_EQ(written.size(), boxes.size() + 1);
  EXPECT_EQ(written.front(), (Box{kWidth, kHeight, 0, 0})) << "the first one is whole";
  EXPECT_EQ(std::vector<Box>(written.begin() + 1, written.end()), boxes);
}

TEST(AnimatedPng, OnlyWhatChangedIsWritten) {
  AnimatedPng still({320, 240}), dot({320, 240});
  auto picture = plain(320, 240, 0);
  for (size_t at = 0; at < picture.size(); ++at) picture[at] = static_cast<uint8_t>(at * 2654435761u >> 13);
  ASSERT_TRUE(still.add(picture, 100));
  ASSERT_TRUE(dot.add(picture, 100));
  picture[3 * (100 * 320 + 50)] ^= 255;
  ASSERT_TRUE(dot.add(picture, 100));
  EXPECT_LT(dot.bytes().size(), still.bytes().size() + 200);
}

TEST(FilmScript, IsReadAndItsFaultsAreNamed) {
  const testing_support::TempDir folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "film.json") << text;
    return read_film(folder / "film.json");
  };
  const auto script = read(R"({"hold": 0.5, "acts": [{"turn": "NUM_WARPS=8", "hold": 2}, {"panel": "Source"}, {}]})");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_EQ(script->hold, 0.5);
  ASSERT_EQ(script->acts.size(), 3u);
  EXPECT_EQ(script->acts[0].turn, "NUM_WARPS=8");
  EXPECT_EQ(script->acts[0].hold, 2);
  EXPECT_EQ(script->acts[1].panel, "Source");
  for (const auto& [text, fault] : std::map<std::string, std::string>{
           {R"({})", "/acts"},
           {R"({"acts": [{"turn": "A=1", "panel": "Source"}]})", "/acts/0/turn: stands beside another"},
           {R"({"acts": [{"panel": "Why", "action": "Undo"}]})", "/acts/0/panel: stands beside another"},
           {R"({"acts": [{"turns": "A=1"}]})", "turns"},
           {R"({"acts": [{"hold": 0}]})", "/acts/0/hold"},
           {R"({"acts": [{"hold": 31}]})", "/acts/0/hold"},
           {R"({"acts": [)", "film.json"}}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().stage, Stage::input);
    EXPECT_THAT(refused.error().message, HasSubstr(fault)) << text;
  }
  EXPECT_FALSE(read_film(folder / "none.json"));
}

}  // namespace
}  // namespace attnscope::ui
