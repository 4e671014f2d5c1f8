#include "core/source_pieces.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace attnscope {
namespace {

TEST(SourcePieces, AFunctionIsNamedFromItsHeadToItsEnd) {
  const SourcePieces pieces(
      "namespace {\n"                                               // 1
      "constexpr int kSteps[] = {1, f(2)};\n"                       // 2
      "struct At {\n"                                               // 3
      "  int row;\n"                                                // 4
      "  __device__ At(int r, int c) : row(r), column{c} {\n"       // 5
      "    row += 1;\n"                                             // 6
      "  }\n"                                                       // 7
      "  int at(int step) const { return row + step; }\n"           // 8
      "};\n"                                                        // 9
      "template <int kN>\n"                                         // 10
      "__device__ __forceinline__ float score(const float* q) {\n"  // 11
      "  return q[kN];\n"                                           // 12
      "}\n"                                                         // 13
      "static_assert(sizeof(At) == 8);\n"                           // 14
      "}  // namespace\n"                                           // 15
      "extern \"C\" __global__ void __launch_bounds__(32 * 4)\n"    // 16
      "    attention(float* o) {\n"                                 // 17
      "  o[0] = score<1>(o);\n"                                     // 18
      "}\n"                                                         // 19
      "void declared(int);\n");                                     // 20
  EXPECT_EQ(pieces.function_at(6), "At");
  EXPECT_EQ(pieces.function_at(8), "at");
  EXPECT_EQ(pieces.function_at(12), "score");
  EXPECT_EQ(pieces.function_at(18), "attention");
  EXPECT_EQ(pieces.function_at(19), "attention");
  for (const int line : {1, 2, 4, 14, 20}) EXPECT_EQ(pieces.function_at(line), "") << line;
  EXPECT_EQ(pieces.loop_at(18), 0);
}

TEST(SourcePieces, NestedLoopsAreOnePieceUntilTheyStandSideBySide) {
  const SourcePieces pieces(
      "void kernel() {\n"                           // 1
      "  for (int i = 0; i < 2; ++i) a();\n"        // 2
      "  for (int tile = 0; tile < 9; ++tile) {\n"  // 3
      "    copy();\n"                               // 4
      "    for (int m = 0; m < 4; ++m)\n"           // 5
      "      for (int n = 0; n < 4; ++n) {\n"       // 6
      "        multiply(m, n);\n"                   // 7
      "      }\n"                                   // 8
      "    while (waits()) {\n"                     // 9
      "      look();\n"                             // 10
      "    }\n"                                     // 11
      "  }\n"                                       // 12
      "  do {\n"                                    // 13
      "    last();\n"                               // 14
      "  } while (more());\n"                       // 15
      "  end();\n"                                  // 16
      "}\n");                                       // 17
  EXPECT_EQ(pieces.loop_at(2), 2);
  EXPECT_EQ(pieces.loop_at(4), 3);
  EXPECT_EQ(pieces.loop_at(7), 5);
  EXPECT_EQ(pieces.loop_at(10), 9);
  EXPECT_EQ(pieces.loop_at(14), 13);
  EXPECT_EQ(pieces.loop_at(15), 13);
  EXPECT_EQ(pieces.loop_at(16), 0);
}

TEST(SourcePieces, BrokenSourcesHaveNoPiecesAndNoFault) {
  for (const char* source : {"", "(", "f(", "void f() {", "for (", "void f() { for (;;", "}}}", "f() : {", "do {"}) {
    const SourcePieces pieces(source);
    pieces.function_at(1);
    pieces.loop_at(1);
  }
}

// The pieces that a reader of the ladder would name.
TEST(SourcePieces, OfTheRungs) {
  const auto read = [](const std::string& name) {
    std::stringstream text;
    text << std::ifstream(std::string(ATTNSCOPE_SOURCE_DIR) + "/kernels/" + name).rdbuf();
    return text.str();
  };
  const auto line_of = [](const std::string& source, const std::string& text) {
    const size_t at = source.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    return static_cast<int>(std::count(source.begin(), source.begin() + static_cast<long>(at), '\n')) + 1;
  };
  const std::string mma = read("05_mma.cu");
  const SourcePieces pieces(mma);
  EXPECT_EQ(pieces.function_at(line_of(mma, "load_matrices(k, ")), "score");
  const std::string tiled = read("02_tiled.cu");
  const SourcePieces of_tiled(tiled);
  EXPECT_EQ(of_tiled.function_at(line_of(tiled, "float dot = 0.0f")), "attention_tiled");
  EXPECT_EQ(of_tiled.loop_at(line_of(tiled, "float dot = 0.0f")), of_tiled.loop_at(line_of(tiled, "dot +=")));
  EXPECT_NE(of_tiled.loop_at(line_of(tiled, "dot +=")), of_tiled.loop_at(line_of(tiled, "sum += float(S_tile")));
}

}  // namespace
}  // namespace attnscope
