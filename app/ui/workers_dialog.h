#pragma once
#include <functional>
#include <string>
#include <utility>

#include "store/workers.h"
#include "ui/context.h"

namespace attnscope::ui {

// The workers: their devices, what those report, the way to them, and what helps when one is lost. Adds workers by host
// or command, and removes them.
class WorkersDialog {
 public:
  struct Changes {
    std::function<void(const session::WorkerCommand&)> added;
    std::function<void(const std::string& name)> removed;
  };
  // `changes` are told after the session.
  explicit WorkersDialog(Changes changes) : changes_(std::move(changes)) {}
  void open() { opens_ = true; }
  void draw(Context& context);

 private:
  void draw_worker(Context& context, const session::WorkerStatus& worker);
  void draw_devices(Context& context, const session::WorkerStatus& worker, const std::string& prefix) const;
  void draw_new(Context& context);
  void add(Context& context, const store::NamedWorker& worker);
  void remove(Context& context, const std::string& name) const;

  Changes changes_;
  bool opens_ = false;
  std::string where_, name_;
  bool keeps_ = true;
};

}  // namespace attnscope::ui
