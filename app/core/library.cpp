#include "core/library.h"

namespace attnscope {

Library Library::named(std::string name) {
  Library library = parse_word<LibraryId>(name).value_or(LibraryId::other);
  library.name_ = std::move(name);
  return library;
}

}  // namespace attnscope
