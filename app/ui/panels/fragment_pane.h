#pragma once
#include <vector>

#include "charts/fragment_grid.h"
#include "ui/panels/code_state.h"

namespace attnscope::ui {

// Which lane holds which element: the matrices of one product or matrix load as grids of lane numbers, side by side,
// with one lane's elements marked.
class FragmentPane {
 public:
  // Shows the chosen instruction, otherwise the first of the chosen line that has matrices, otherwise the one shown
  // before. Returns the instruction that a person chose here, or -1.
  int64_t draw(const CodeState& code);

 private:
  void refresh(const CodeState& code);
  int64_t draw_choice();
  void draw_a(const CodeState& code) const;
  void draw_grids();
  void draw_grid(const charts::FragmentGrid& grid, float cell, float width);
  void draw_cell(const charts::FragmentGrid& grid, size_t row, size_t column, ImVec2 size);
  void draw_held(const charts::FragmentGrid& grid, float width) const;

  const Listing* listing_ = nullptr;  // of the code that is drawn, as are facts_
  const CodeFacts* facts_ = nullptr;
  uint64_t arrivals_ = 0;  // CodeState::arrivals() when it was taken
  int64_t shown_ = -1;
  bool elsewhere_ = false;  // the chosen line has none
  std::vector<MatrixFragment> fragments_;
  std::vector<charts::FragmentGrid> grids_;
  int lane_ = 7;
  int hovered_ = -1, next_hovered_ = -1;  // the lane under the pointer, in the previous frame and in this one
};

}  // namespace attnscope::ui
