#pragma once
#include <memory>
#include <utility>

namespace attnscope::session {

// An immutable value that snapshots, lanes and history share.
template <class T>
using Shared = std::shared_ptr<const T>;

template <class T>
Shared<T> share(T value = {}) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace attnscope::session
