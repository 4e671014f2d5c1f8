// Which display the window takes, and its size there.
#include "ui/onscreen.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/temp_dir.h"
#include "support/variable.h"
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace attnscope::ui {
namespace {

// WSLg sets the variables of both.
TEST(DisplayChoice, XComesFirstUnlessTheSessionIsAWaylandOne) {
  if (std::getenv("DISPLAY") == nullptr) GTEST_SKIP() << "not an X display";
  const testing_support::TempDir dir;
  // A compositor that hangs up on everyone.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = dir / "wayland";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening, 8), 0);
  std::atomic<int> visitors = 0;
  std::jthread compositor([&] {
    for (int one = -1; (one = ::accept(listening, nullptr, nullptr)) >= 0; ::close(one)) ++visitors;
  });
  const testing_support::Variable wayland("WAYLAND_DISPLAY", path);
  {
    const testing_support::Variable session("XDG_SESSION_TYPE", nullptr);
    EXPECT_TRUE(connect_display());
    EXPECT_EQ(glfwGetPlatform(), GLFW_PLATFORM_X11);
    EXPECT_EQ(visitors, 0);
    glfwTerminate();
  }
  {
    const testing_support::Variable session("XDG_SESSION_TYPE", "wayland");
    EXPECT_FALSE(connect_display());
    EXPECT_GT(visitors, 0);
  }
  ::shutdown(listening, SHUT_RDWR);
  compositor.join();
  ::close(listening);
}

TEST(Screens, AWindowThatNoneHoldsGetsTheRoomOfTheLargest) {
  const std::vector<ShotSize> screens{{1280, 1024}, {2560, 1400}, {1080, 1920}};
  const auto size = [&](int width, int height, const std::vector<ShotSize>& on) {
    const ShotSize fits = fitting({width, height}, on);
    return std::pair(fits.width, fits.height);
  };
  EXPECT_EQ(size(2500, 1300, screens), std::pair(2500, 1300)) << "the second holds it";
  EXPECT_EQ(size(1000, 1900, screens), std::pair(1000, 1900)) << "the third holds it";
  EXPECT_EQ(size(3000, 1300, screens), std::pair(2560, 1300));
  EXPECT_EQ(size(1200, 2000, screens), std::pair(1200, 1400));
  EXPECT_EQ(size(3000, 1300, {}), std::pair(3000, 1300)) << "nothing is known of the screens";
}

}  // namespace
}  // namespace attnscope::ui
