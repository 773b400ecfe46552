#!/usr/bin/env bash
# From a fresh Debian 12 machine to a score: installs, builds, and scores a sample pair that vqx
# makes itself.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset release -DVQX_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release
bin=build/release/bin
samples=$(mktemp -d)
trap 'rm -rf "$samples"' EXIT
"$bin/vqx" sample "$samples"
"$bin/vqx" "$samples/reference.y4m" "$samples/distorted.y4m"
