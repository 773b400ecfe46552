#!/usr/bin/env bash
# clang-tidy over the sources, or over the files given; needs a configured release build.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -f build/release/compile_commands.json ]] || cmake --preset release >/dev/null
if [[ $# -gt 0 ]]; then files=("$@"); else mapfile -t files < <(git ls-files 'src/*.cpp'); fi
# GCC's own options are unknown to clang.
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -quiet -p build/release \
  --extra-arg=-Wno-unknown-warning-option 2>/dev/null
