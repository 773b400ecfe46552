#!/usr/bin/env bash
# The unit tests in a build with sanitizers (clang), one process a core.
#   scripts/sanitize.sh asan [STRIDE]   addresses, leaks and undefined behaviour
#   scripts/sanitize.sh tsan [STRIDE]   data races
# Of each table of cases every STRIDE-th is run.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?"say asan or tsan"}
case $preset in
  asan) stride=${2:-31} ;;
  tsan) stride=${2:-97} ;;
  *) echo "no such sanitizer: $preset (asan, tsan)" >&2; exit 2 ;;
esac
processes=$(nproc)
build=build/$preset
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$processes" --target vqx_tests

export VQX_CASE_STRIDE=$stride GTEST_TOTAL_SHARDS=$processes
export LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=suppressions=tests/tsan.supp
export UBSAN_OPTIONS=print_stacktrace=1
running=()
for ((shard = 0; shard < processes; ++shard)); do
  GTEST_SHARD_INDEX=$shard "$build/tests/vqx_tests" >"$build/tests-$shard.log" 2>&1 &
  running+=($!)
done
failed=0
for ((shard = 0; shard < processes; ++shard)); do
  log=$build/tests-$shard.log
  if wait "${running[$shard]}"; then
    grep -E '^\[  PASSED  \]' "$log"
  else
    failed=1
    grep -E -A40 'Failure|ERROR: |WARNING: |runtime error|SUMMARY' "$log" | head -n 200 || tail -n 40 "$log"
  fi
done
exit "$failed"
