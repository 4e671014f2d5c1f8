#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "charts/bank_grid.h"
#include "core/listing.h"
#include "core/words.h"

namespace attnscope::charts {

// How the rows of the accessed buffer lie: as they lay in the run, with 16 bytes behind each, or with the 16-byte
// chunks of each permuted by its number.
enum class BankLayout { recorded, padded, swizzled };

struct BankPicture {
  BankLayout layout = BankLayout::recorded;
  BankGrid grid;
};
std::string title_of(BankLayout layout);

// A part of shared memory and who accesses it.
struct BufferUse {
  SharedPlace place;
  int64_t row = 0;                    // bytes from one row to the next, as most of the accesses tell; 0: none tells
  std::vector<int64_t> instructions;  // that access it, ascending
};
// The listing's places, in their order.
std::vector<BufferUse> buffer_uses(const Listing& listing);
// "0 to 8,191: 64 rows of 128 B; every row begins in the same bank", "32 rows of 144 B; each row begins 4 banks after
// the one before".
std::string layout_text(const BufferUse& use);

// One execution of an instruction that accesses shared memory.
struct AccessView {
  SharedAccess access;
  int64_t row = 0;                    // bytes; 0: the lanes lie in one row
  std::string place;                  // "K_tile + 2,048"; "byte 2,048" where nothing has a name
  std::string execution;              // "warp 1, its execution 3"
  std::vector<BankPicture> pictures;  // as recorded, and the other layouts if there are rows
};
// `buffers`: those of the listing. `row`: bytes of a row; 0: as the lanes tell, or else as the other accesses of the
// buffer do.
AccessView access_view(const std::vector<BufferUse>& buffers, const SharedSteps& steps, size_t step, int64_t row);
// The first of the steps that take most wavefronts; there is at least one.
size_t worst_step(const SharedSteps& steps);

// "load of 16 B a lane", "4 matrices of 8 x 8 halves".
std::string access_words(const SharedAccess& access);
// "8 wavefronts for 4"
std::string wavefronts_text(const Wavefronts& one);
// "lanes 0 to 7: 2 wavefronts"
std::string phase_text(const BankPhase& phase);

}  // namespace attnscope::charts
