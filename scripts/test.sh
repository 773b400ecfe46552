#!/usr/bin/env bash
# From a fresh Debian 12 machine to all tests passed: installs, builds, and runs every check.
#   scripts/test.sh           everything
#   scripts/test.sh quick     the release build's tests only
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
jobs=$(nproc)
passed=0
failed=()

step() {
  local name=$1 begin=$SECONDS
  shift
  echo "=== $name"
  if "$@"; then
    passed=$((passed + 1))
    echo "=== $name: passed in $((SECONDS - begin)) s"
  else
    failed+=("$name")
    echo "=== $name: FAILED after $((SECONDS - begin)) s"
  fi
}

build() { cmake --preset release >/dev/null && cmake --build --preset release -j "$jobs"; }

unit_tests() { ctest --test-dir build/release -j "$jobs" --output-on-failure --no-tests=error | tail -n 40; }

modules() {
  cmake --build build/release --target vqx_modules -j "$jobs" &&
    { [[ -f build/release/bin/libvqx_cuda.so ]] || echo "CUDA not built: no nvcc"; } &&
    { [[ -f build/release/bin/libvqx_hip.so ]] || { echo "HIP not built: no hipcc"; return 1; }; }
}

format() { git ls-files '*.cpp' '*.hpp' '*.h' '*.cu' | xargs clang-format --dry-run -Werror; }

step "release build" build
step "unit tests" unit_tests
step "backend modules" modules
if [[ ${1:-} != quick ]]; then
  step "formatting" format
  step "fuzzing, short" scripts/fuzz.sh 15
  step "unit tests, address and undefined behaviour sanitizers" scripts/sanitize.sh asan
  step "unit tests, thread sanitizer" scripts/sanitize.sh tsan
fi

for name in "${failed[@]}"; do echo "failed: $name"; done
echo "$passed passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 ]]
