#include "platform/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace attnscope::platform {

Result<std::shared_ptr<const TemporaryFolder>> TemporaryFolder::make() {
  std::error_code error;
  const std::filesystem::path below = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::filesystem::path("/tmp") : below) / "attnscope-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return fail(Stage::store, path + " could not be made: " + std::generic_category().message(errno),
                "Set TMPDIR to a folder that you may write in.");
  return std::shared_ptr<const TemporaryFolder>(new TemporaryFolder(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace attnscope::platform
