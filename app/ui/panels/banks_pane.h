#pragma once
#include <optional>
#include <string>
#include <vector>

#include "charts/shared_view.h"
#include "ui/panels/code_state.h"

namespace attnscope::ui {

// An access to shared memory as 32 lanes by 32 banks, for the chosen instruction or line: step by step and phase by
// phase, as recorded and in other layouts, and where every buffer is.
class BanksPane {
 public:
  // Returns the instruction that a person chose here, or -1.
  int64_t draw(const CodeState& code);

 private:
  void take(const CodeState& code);
  void choose_step(size_t step);
  const SharedSteps& steps() const { return *listing_->lines[size_t(instruction_)].shared; }
  int64_t draw_choice();
  void draw_a(const CodeState& code) const;
  void draw_rows();
  void draw_steps();
  void draw_phases();
  void draw_pictures(float height);
  void draw_picture(const charts::BankPicture& picture, ImVec2 size, bool titled);
  void draw_cells(const charts::BankPicture& picture, ImVec2 pen, ImVec2 cell);
  void tell(const charts::BankPicture& picture, int lane, int bank) const;
  void draw_buffers();

  const Listing* listing_ = nullptr;  // of the code that is drawn, as are facts_
  const CodeFacts* facts_ = nullptr;
  uint64_t arrivals_ = 0;            // CodeState::arrivals() when it was taken
  std::vector<int64_t> of_line_;     // instructions of the chosen line that access shared memory
  int64_t line_ = -1, chosen_ = -1;  // the chosen line and instruction for which of_line_ was computed
  int64_t instruction_ = -1;         // the shown one
  size_t step_ = 0;
  int64_t row_ = 0;                                           // length of a row in bytes; 0: taken from the accesses
  size_t phase_ = 0;                                          // the shown phase, from 1; 0: all
  charts::BankLayout layout_ = charts::BankLayout::recorded;  // used if there is room for only one picture
  charts::AccessView view_;
};

}  // namespace attnscope::ui
