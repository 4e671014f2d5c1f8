#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace attnscope::emulator {

// What the atomics of the CTAs that ran did to a part of global memory.
struct HotPart {
  uint64_t turns = 0;        // see InstructionCounters
  uint64_t ctas = 0;         // that take them; in a cooperative launch, the turns of these
  uint32_t instruction = 0;  // the first in the code that takes them
  bool operator==(const HotPart&) const = default;
};

// Where global memory gets the most atomics.
struct HotSpots {
  HotPart sector;  // of 32 bytes
  HotPart piece;   // of 512 bytes
  bool operator==(const HotSpots&) const = default;
};

// How many turns the atomics of one host thread's CTAs take in each sector of global memory and in each piece of it.
// Exact for the first kMostPieces pieces that they go to; what they do elsewhere is left out.
class HotPlaces {
 public:
  static constexpr uint64_t kPieceSectors = 16;
  static constexpr size_t kMostPieces = 8192;

  // A request of CTA `cta` takes turns in the sector with that number.
  void add(uint64_t sector, uint32_t turns, uint32_t instruction, uint32_t cta) {
    Piece* const piece = find(sector / kPieceSectors, kMostPieces);
    if (piece == nullptr) return;
    piece->whole.add(turns, instruction, cta);
    piece->sectors[sector % kPieceSectors].add(turns, instruction, cta);
  }

  // Adds what another host thread's CTAs did.
  void add(const HotPlaces& others) {
    for (const auto& [number, from] : others.pieces_) {
      Piece& to = *find(number, SIZE_MAX);
      to.whole.add(from->whole.part);
      for (uint64_t i = 0; i < kPieceSectors; ++i) to.sectors[i].add(from->sectors[i].part);
    }
  }

  // Of equal ones those with the lowest address; all zeros if there is none.
  HotSpots hottest() const {
    HotSpots most;
    uint64_t sector_at = 0, piece_at = 0;
    const auto take = [](HotPart& part, uint64_t& at, const HotPart& other, uint64_t other_at) {
      if (other.turns > part.turns || (other.turns == part.turns && part.turns > 0 && other_at < at))
        part = other, at = other_at;
    };
    for (const auto& [number, piece] : pieces_) {
      take(most.piece, piece_at, piece->whole.part, number);
      for (uint64_t i = 0; i < kPieceSectors; ++i)
        take(most.sector, sector_at, piece->sectors[i].part, number * kPieceSectors + i);
    }
    return most;
  }

 private:
  struct Count {
    HotPart part;
    uint32_t last_cta = 0;

    void add(uint32_t turns, uint32_t instruction, uint32_t cta) {
      const bool first = part.ctas == 0;
      part.instruction = first ? instruction : std::min(part.instruction, instruction);
      if (first || last_cta != cta) ++part.ctas;
      last_cta = cta;
      part.turns += turns;
    }
    void add(const HotPart& other) {
      if (other.ctas == 0) return;
      part.instruction = part.ctas == 0 ? other.instruction : std::min(part.instruction, other.instruction);
      part.turns += other.turns;
      part.ctas += other.ctas;
    }
  };
  struct Piece {
    std::array<Count, kPieceSectors> sectors;
    Count whole;
  };

  // Null: there are `most` pieces already, and it is none of them.
  Piece* find(uint64_t number, size_t most) {
    if (last_ != nullptr && number == last_number_) return last_;
    const auto at = pieces_.find(number);
    if (at == pieces_.end() && pieces_.size() >= most) return nullptr;
    auto& piece = at == pieces_.end() ? pieces_[number] : at->second;
    if (piece == nullptr) piece = std::make_unique<Piece>();
    last_ = piece.get();
    last_number_ = number;
    return last_;
  }

  std::unordered_map<uint64_t, std::unique_ptr<Piece>> pieces_;
  Piece* last_ = nullptr;
  uint64_t last_number_ = 0;
};

}  // namespace attnscope::emulator
