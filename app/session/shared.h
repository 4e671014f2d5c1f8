#pragma once
#include <memory>
#include <utility>

namespace attnscope::session {

// A value that does not change any more: snapshots, lanes and history share it.
template <class T>
using Shared = std::shared_ptr<const T>;

template <class T>
Shared<T> share(T value = {}) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace attnscope::session
