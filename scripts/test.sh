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

build() { cmake --preset "$1" "${@:2}" >/dev/null && cmake --build --preset "$1" -j "$jobs"; }

unit_tests() { ctest --test-dir build/release -j "$jobs" --output-on-failure --no-tests=error | tail -n 40; }

golden() {
  local shared=../shared
  if [[ ! -d $shared/golden ]]; then
    echo "golden results not run: there is no folder $shared"
    return 0
  fi
  python3 "$shared/tools/check_golden.py" build/release/bin/vmaf "$shared/clips" "$shared/golden" \
    "$shared/golden/cases.tsv"
}

sanitized_tests() {
  build "$1" && ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp" \
    build/"$1"/tests/vqx_tests --gtest_brief=1 --gtest_filter="${2:-*}"
}

format() { git ls-files '*.cpp' '*.hpp' '*.h' '*.cu' | xargs clang-format --dry-run -Werror; }

step "release build" build release
step "unit tests" unit_tests
step "golden results" golden
if [[ ${1:-} != quick ]]; then
  step "formatting" format
  step "address and undefined-behaviour sanitizers" sanitized_tests asan
  step "thread sanitizer" sanitized_tests tsan "Engine*:*Threads*:*Parallel*"
  [[ -x scripts/fuzz.sh ]] && step "fuzzing, short" scripts/fuzz.sh
fi

for name in "${failed[@]}"; do echo "failed: $name"; done
echo "$passed passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 ]]
