#!/usr/bin/env bash
# The same bits on 64-bit ARM: cross-builds on Debian 12 (as root), runs the tests under qemu, and
# compares every score of the sample pair with a native build's, byte for byte.  Of each table of
# cases the tests take every 19th, or every VQX_CASE_STRIDE-th: the emulator is slow.
#   scripts/aarch64.sh                  everything; builds build/release to compare with
#   scripts/aarch64.sh NATIVE_BUILD     compares with that build folder
# The ARM libraries are unpacked into build/aarch64-sysroot; the machine's own packages stay as they
# are, but for the cross compiler and qemu.
set -euo pipefail
cd "$(dirname "$0")/.."
native=${1:-build/release}
build=build/aarch64
sysroot=build/aarch64-sysroot
jobs=$(nproc)

install_tools() {
  scripts/setup.sh
  local tools=(g++-aarch64-linux-gnu qemu-user python3)
  dpkg-query -W "${tools[@]}" >/dev/null 2>&1 && return
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${tools[@]}" >/dev/null
}

# apt with a state of its own, in which the machine is an ARM one without any package.
make_sysroot() {
  [[ -f $sysroot/complete ]] && return
  local state="$PWD/build/aarch64-apt"
  mkdir -p "$state"/{lists,archives}/partial "$sysroot"
  : >"$state/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User=root -o Dir::State::Lists="$state/lists"
    -o Dir::State::Status="$state/status" -o Dir::Cache="$state"
    -o Dir::Cache::Archives="$state/archives")
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends --download-only libc6-dev libstdc++6 libhwy-dev \
    libtbb-dev libfmt-dev libcli11-dev nlohmann-json3-dev libmpfr-dev libgtest-dev >/dev/null
  local package
  for package in "$state"/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  rm -r "$state"
  touch "$sysroot/complete"
}

build_native() {
  [[ -x $native/bin/vmaf ]] && return
  cmake --preset release -B "$native" >/dev/null
  cmake --build "$native" -j "$jobs" --target vmaf vqx_program
}

build_cross() {
  cmake --preset aarch64 >/dev/null
  cmake --build --preset aarch64 -j "$jobs"
}

# Every metric and every built-in model, all digits; the one line that tells the speed is left out.
score() {
  local bin=$1 samples=$2 level=$3 name arguments=()
  for name in $("$native/bin/vqx" metrics | grep '^[a-z]'); do arguments+=(--feature "$name"); done
  for name in $("$native/bin/vqx" models | cut -d' ' -f1); do
    arguments+=(--model "version=$name:name=$name")
  done
  VQX_SIMD=$level "$bin/vmaf" -q -r "$samples/reference.y4m" -d "$samples/distorted.y4m" --threads "$jobs" \
    --precision max --json -o "$samples/report.json" "${arguments[@]}"
  grep -v '"fps"' "$samples/report.json"
}

compare_with_native() {
  local samples level
  samples=$(mktemp -d)
  trap 'rm -rf "$samples"' RETURN
  mkdir "$samples"/{native,arm}
  "$native/bin/vqx" sample "$samples/native" >/dev/null
  "$build/emulated/vqx" sample "$samples/arm" >/dev/null
  cmp "$samples"/{native,arm}/reference.y4m
  cmp "$samples"/{native,arm}/distorted.y4m
  score "$native/bin" "$samples/native" scalar >"$samples/native.json"
  for level in neon scalar; do
    score "$build/emulated" "$samples/arm" "$level" >"$samples/$level.json"
    cmp "$samples/native.json" "$samples/$level.json"
    echo "$level: $(grep -c '": [-0-9n]' "$samples/$level.json") numbers equal to the native report's"
  done
}

install_tools
make_sysroot
build_native
build_cross
compare_with_native
VQX_CASE_STRIDE=${VQX_CASE_STRIDE:-19} ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error
