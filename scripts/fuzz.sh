#!/usr/bin/env bash
# Fuzzes the file readers for a while: scripts/fuzz.sh [SECONDS PER TARGET, default 30].
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
build=build/fuzz
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None \
  -DVQX_BUILD_FUZZ=ON -DVQX_BUILD_TESTS=OFF -DVQX_WITH_FFMPEG=OFF > /dev/null
cmake --build "$build" --target y4m_fuzz raw_fuzz -j2

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
mkdir "$seeds/y4m" "$seeds/raw"
for tag in 420 420p10 420paldv 422 411 444 444alpha mono mono10 422p12; do
  printf 'YUV4MPEG2 W5 H3 F25:1 Ip A1:1 C%s\nFRAME\n%90s' "$tag" '' > "$seeds/y4m/$tag"
done
printf '\4\0\2\0\1\0%24s' '' > "$seeds/raw/420"

for target in y4m raw; do
  dictionary=()
  [ "$target" = y4m ] && dictionary=(-dict=tests/fuzz/y4m.dict)
  "$build/tests/fuzz/${target}_fuzz" "${dictionary[@]}" -max_total_time="$seconds" -max_len=4096 \
    -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$build/" -print_final_stats=1 \
    "$seeds/$target" 2>&1 | grep -E 'ERROR|SUMMARY|DONE|number_of_executed|Test unit|cov:' | tail -4
done
echo "fuzzing found nothing"
