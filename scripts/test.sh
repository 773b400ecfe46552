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

build() { cmake --preset "$1" >/dev/null && cmake --build --preset "$1" -j "$jobs" "${@:2}"; }

unit_tests() { ctest --test-dir build/release -j "$jobs" --output-on-failure --no-tests=error | tail -n 40; }

modules() {
  cmake --build build/release --target vqx_modules -j "$jobs" &&
    { [[ -f build/release/bin/libvqx_cuda.so ]] || echo "CUDA not built: no nvcc"; } &&
    { [[ -f build/release/bin/libvqx_hip.so ]] || { echo "HIP not built: no hipcc"; return 1; }; }
}

# sanitized PRESET CASE_STRIDE FILTER: unit tests, a process per core; every N-th case of the tables.
sanitized() {
  build "$1" --target vqx_tests || return 1
  local shard pids=() status=0
  for ((shard = 0; shard < jobs; ++shard)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard VQX_CASE_STRIDE=$2 \
      TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp" \
      "build/$1/tests/vqx_tests" --gtest_brief=1 --gtest_filter="$3" 2>&1 | tail -n 60 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  return $status
}

format() { git ls-files '*.cpp' '*.hpp' '*.h' '*.cu' | xargs clang-format --dry-run -Werror; }

step "release build" build release
step "unit tests" unit_tests
step "backend modules" modules
if [[ ${1:-} != quick ]]; then
  step "formatting" format
  step "fuzzing, short" scripts/fuzz.sh 15
  step "address and undefined behaviour sanitizers" sanitized asan 19 '*'
  step "thread sanitizer" sanitized tsan 97 'Engine*:Session*:DeviceRun*:Table/*:Models/*'
fi

for name in "${failed[@]}"; do echo "failed: $name"; done
echo "$passed passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 ]]
