#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct LineRange {
  int first = 0, last = 0;  // from 1, inclusive
  bool contains(int line) const { return first <= line && line <= last; }
};

// Lines that a kernel's manifest names: one of its phases.
struct NamedLines {
  std::string name;
  LineRange lines;
};

// The functions of a C++ source and the loops in them, by line number, to name the pieces of a kernel.
class SourcePieces {
 public:
  // `named` lines come before functions and loops; they must not overlap.
  explicit SourcePieces(std::string_view source, std::vector<NamedLines> named = {});

  // The function whose body contains the line (counted from 1); empty: none.
  std::string_view function_at(int line) const;
  // The line of the `for`, `while` or `do` of the loop that contains the line; 0: none. For nested loops it is the
  // outermost loop that has at most one loop at each depth. So the loops of a matrix product are one piece, and a loop
  // over key tiles with several loops in it is several.
  int loop_at(int line) const;
  // The lines of every function with that name, inclusive: an overload is one more.
  std::vector<LineRange> lines_of(std::string_view function) const;

  std::string_view name_at(int line) const;  // empty: none

 private:
  struct Piece {
    std::string name;         // a function's
    int first = 0, last = 0;  // lines, inclusive
    size_t parent = 0;        // for a loop: index of the enclosing loop, or its own
    bool single = true;       // for a loop: it contains no two loops side by side
  };
  std::vector<Piece> functions_, loops_;
  std::vector<NamedLines> named_;
};

}  // namespace attnscope
