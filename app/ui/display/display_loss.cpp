#include "ui/display/display_loss.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "cuda_api/shared_library.h"
// Included last, because it defines words such as None and Success.
#include <X11/Xlib.h>

namespace attnscope::ui {
namespace {

std::function<void(const std::string&)> when_ended;

int on_connection_lost(Display*) {
  when_ended("the display went away");
  return 0;
}

int on_refused_request(Display*, XErrorEvent* event) {
  when_ended("the display refused a request: X error " + std::to_string(event->error_code) + " of request " +
             std::to_string(event->request_code) + "." + std::to_string(event->minor_code));
  return 0;
}

}  // namespace

void on_display_loss(std::function<void(const std::string&)> ended) {
  when_ended = std::move(ended);
  if (glfwGetPlatform() != GLFW_PLATFORM_X11) return;
  auto xlib = cuda_api::SharedLibrary::open("libX11.so.6");  // GLFW has already opened it
  decltype(XSetIOErrorHandler)* set_lost = nullptr;
  decltype(XSetErrorHandler)* set_refused = nullptr;
  if (!xlib || !xlib->load("XSetIOErrorHandler", set_lost) || !xlib->load("XSetErrorHandler", set_refused)) return;
  set_lost(on_connection_lost);
  set_refused(on_refused_request);
}

}  // namespace attnscope::ui
