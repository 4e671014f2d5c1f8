#pragma once
#include <string>

#include "core/words.h"

namespace attnscope {

// What a kernel's code is: its own source, or a routine of a library. Manifests and workers may name any library.
enum class LibraryId { other, source, torch, cublas };
template <>
struct Words<LibraryId> : NamesAsWords<LibraryId> {};

class Library {
 public:
  Library(LibraryId id = LibraryId::source) : id_(id), name_(word_of(id)) {}
  static Library named(std::string name);

  LibraryId id() const { return id_; }
  bool is_source() const { return id_ == LibraryId::source; }
  const std::string& name() const { return name_; }
  bool operator==(const Library&) const = default;

 private:
  LibraryId id_;
  std::string name_;
};

}  // namespace attnscope
