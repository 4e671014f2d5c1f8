#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// The functions of a C++ source and the loops in them, by lines, to name the pieces of a kernel.
class SourcePieces {
 public:
  explicit SourcePieces(std::string_view source);

  // The function whose body has the line, which counts from 1; empty: none.
  std::string_view function_at(int line) const;
  // The line of the `for`, `while` or `do` of the loop that the line is in; 0: none. Of loops in loops it is the
  // outermost in which there is one loop after the other into the depth, and none beside another: a product's loops are
  // one piece, and a loop over key tiles with several loops in it is many.
  int loop_at(int line) const;

 private:
  struct Piece {
    std::string name;         // of a function
    int first = 0, last = 0;  // lines
    size_t parent = 0;        // of a loop: the loop around it, or itself
    bool single = true;       // of a loop: no two loops beside each other in it
  };
  std::vector<Piece> functions_, loops_;
};

}  // namespace attnscope
