// Finds and loads the program's own loadable modules (FFmpeg input, GPU backends).
#pragma once

#include <string>
#include <vector>

#include "vqx/status.hpp"

namespace vqx::base {

// Folders where modules may lie, in the order in which they are tried: those of the environment
// variable VQX_MODULE_PATH (separated by colons; nothing else is tried where it is set), the one of
// the program or of the shared library that this code is part of, and the installed one next to it.
std::vector<std::string> module_folders();

// The address of `entry` in lib<name>.so, which stays loaded until the process ends.  kBackend
// where there is no such module (the message lists the folders), or it does not load.
Result<void*> load_module_entry(const std::string& name, const char* entry);

}  // namespace vqx::base
