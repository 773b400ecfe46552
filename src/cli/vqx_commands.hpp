// The commands of vqx beside scoring: what there is, and whether it works here.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace vqx::cli {

// Version, SIMD levels, compiled backends and libraries, for --version.
std::string version_text();

class CommandSet {
 public:
  // Adds the commands to the program; it must outlive this object.
  explicit CommandSet(CLI::App& app);
  ~CommandSet();
  bool chosen() const;
  int run() const;  // exit status

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vqx::cli
