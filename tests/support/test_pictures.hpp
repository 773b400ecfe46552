// What tests use of the case table, and the shared folder.
#pragma once

#include <string>

#include "verify/cases.hpp"

namespace vqx::test {

using namespace vqx::verify;  // NOLINT(google-build-using-namespace): the table is the tests' own

// The shared folder with golden results and clips, or empty when it is missing.
std::string shared_dir();

}  // namespace vqx::test
