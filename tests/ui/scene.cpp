#include "ui/scene.h"

#include <stb_image_write.h>

#include <cstdlib>

namespace attnscope::ui {

void Scene::SetUp() {
  if (std::getenv("ATTNSCOPE_SCENES") == nullptr) GTEST_SKIP() << "set ATTNSCOPE_SCENES to a folder";
}

void Scene::picture(const std::string& name) {
  for (int at = 0; at < 4; ++at) {
    bench_->before_frame();
    screen_->begin_frame();
    bench_->draw();
    screen_->end_frame(true);
    ImGuiTestEngine_PostSwap(engine_);
  }
  const std::vector<uint8_t> rgb = screen_->pixels();
  const ShotSize size = screen_->size();
  const std::string file = std::string(std::getenv("ATTNSCOPE_SCENES")) + "/" + name + ".png";
  EXPECT_NE(stbi_write_png(file.c_str(), size.width, size.height, 3, rgb.data(), size.width * 3), 0) << file;
}

}  // namespace attnscope::ui
