// SIGINT and SIGTERM as a flag that the frame loop looks at.
#pragma once

namespace vqx::cli {

// Installs handlers; a second signal ends the process at once.
void catch_interrupts();
// The signal that arrived, or 0.
int interrupted_by();

}  // namespace vqx::cli
