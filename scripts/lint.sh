#!/usr/bin/env bash
# clang-tidy over all sources and the headers they include, or over the files given.
set -euo pipefail
cd "$(dirname "$0")/.."
# The build by clang: it has no options that only GCC knows.
[[ -f build/asan/compile_commands.json ]] || cmake --preset asan >/dev/null
if [[ $# -gt 0 ]]; then files=("$@"); else mapfile -t files < <(git ls-files 'src/*.cpp' 'tests/*.cpp' 'examples/*.cpp'); fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -quiet -p build/asan 2>/dev/null
