#!/usr/bin/env bash
# Fuzzes what reads files and arguments: scripts/fuzz.sh [SECONDS PER TARGET, default 30].
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
targets=(y4m raw model options)
build=build/asan
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$(nproc)" --target "${targets[@]/%/_fuzz}"

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
mkdir "${targets[@]/#/$seeds/}"
for tag in 420 420p10 420paldv 422 411 444 444alpha mono mono10 422p12; do
  printf 'YUV4MPEG2 W5 H3 F25:1 Ip A1:1 C%s\nFRAME\n%90s' "$tag" '' > "$seeds/y4m/$tag"
done
printf '\4\0\2\0\1\0%24s' '' > "$seeds/raw/420"
cp tests/fuzz/seeds/*.json "$seeds/model"
cp tests/fuzz/seeds/*.args "$seeds/options"

for target in "${targets[@]}"; do
  dictionary=()
  [ -f "tests/fuzz/$target.dict" ] && dictionary=("-dict=tests/fuzz/$target.dict")
  # What the code under test prints is closed; findings still show.
  "$build/tests/fuzz/${target}_fuzz" "${dictionary[@]}" -max_total_time="$seconds" -max_len=4096 \
    -rss_limit_mb=2048 -timeout=10 -close_fd_mask=3 -artifact_prefix="$build/" \
    -print_final_stats=1 "$seeds/$target" 2>&1 |
    grep -E 'ERROR|SUMMARY|DONE|runtime error|number_of_executed|Test unit|^    #[0-9]' |
    sed "s/^/$target: /" | tail -30
done
echo "fuzzing found nothing"
