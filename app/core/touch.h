#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.h"

namespace attnscope {

// What the threads of an emulated run of all CTAs did with one buffer.
struct Touch {
  std::string buffer;
  // A CTA read an element that it had not stored itself. What an earlier CTA stored does not count, because only an
  // emulated run has such an order: a flag that CTAs wait for holds what the buffer began with.
  bool read_first = false;
  bool stored = false;         // an atomic counts as a read and a store
  int64_t begin = 0, end = 0;  // bytes: the first one that was accessed, and past the last one; both 0: none was
  int64_t stored_bytes = 0;    // bytes that were stored to, each counted once
  bool sparse = false;         // so few accesses that nearly none of the bytes up to the last one was accessed
  bool operator==(const Touch&) const = default;
};

struct Touches {
  std::vector<Touch> buffers;  // in the order of the launch's memory
  int64_t work = 0;            // of the run: warp instructions and accesses of lanes
  bool operator==(const Touches&) const = default;
};

template <>
struct FieldsOf<Touch> {
  static constexpr Limits kBytes{.low = 0, .high = 0x1p62};
  static constexpr auto list = std::tuple{Field{"buffer", &Touch::buffer, Limits{.line = true, .required = true}},
                                          Field{"read_first", &Touch::read_first},
                                          Field{"stored", &Touch::stored},
                                          Field{"begin", &Touch::begin, kBytes},
                                          Field{"end", &Touch::end, kBytes},
                                          Field{"stored_bytes", &Touch::stored_bytes, kBytes},
                                          Field{"sparse", &Touch::sparse}};
};

template <>
struct FieldsOf<Touches> {
  static constexpr auto list = std::tuple{Field{"buffers", &Touches::buffers, Limits{.required = true}},
                                          Field{"work", &Touches::work, Limits{.low = 0, .high = 0x1p62}}};
};

}  // namespace attnscope
