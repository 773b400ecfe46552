#include <filesystem>

#include "support/test_pictures.hpp"

namespace vqx::test {

std::string shared_dir() {
  return std::filesystem::is_directory(VQX_SHARED_DIR) ? VQX_SHARED_DIR : std::string();
}

}  // namespace vqx::test
