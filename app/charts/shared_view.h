#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "charts/bank_grid.h"
#include "core/listing.h"
#include "core/words.h"

namespace attnscope::charts {

// How the rows of the accessed buffer lie in memory: as in the run, with 16 bytes after each row, or with the 16-byte
// chunks of each row permuted by its number.
enum class BankLayout { recorded, padded, swizzled };

struct BankPicture {
  BankLayout layout = BankLayout::recorded;
  BankGrid grid;
};
std::string title_of(BankLayout layout);

// A part of shared memory and the instructions that access it.
struct BufferUse {
  SharedPlace place;
  // Distance between rows in bytes, as most of the accesses show it; 0: none shows it.
  int64_t row = 0;
  std::vector<int64_t> instructions;  // that access it, ascending
};
// In the order of the listing's places.
std::vector<BufferUse> buffer_uses(const Listing& listing);
// "0 to 8,191: 64 rows of 128 B; every row begins in the same bank", "32 rows of 144 B; each row begins 4 banks after
// the one before".
std::string layout_text(const BufferUse& use);

// One execution of an instruction that accesses shared memory.
struct AccessView {
  SharedAccess access;
  int64_t row = 0;                    // distance between rows in bytes; 0: the lanes are in one row
  std::string place;                  // "K_tile + 2,048"; "byte 2,048" if nothing there has a name
  std::string execution;              // "warp 1, its execution 3"
  std::vector<BankPicture> pictures;  // as recorded; the other layouts too if there are rows
};
// `buffers` are the listing's. `row` is the row's length in bytes; 0: taken from the lanes, otherwise from the buffer's
// other accesses.
AccessView access_view(const std::vector<BufferUse>& buffers, const SharedSteps& steps, size_t step, int64_t row);
// The first of the steps with the most wavefronts. There must be at least one step.
size_t worst_step(const SharedSteps& steps);

// "load of 16 B a lane", "4 matrices of 8 x 8 halves".
std::string access_words(const SharedAccess& access);
// "8 wavefronts for 4"
std::string wavefronts_text(const Wavefronts& one);
// "lanes 0 to 7: 2 wavefronts"
std::string phase_text(const BankPhase& phase);

}  // namespace attnscope::charts
