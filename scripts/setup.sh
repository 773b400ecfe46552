#!/usr/bin/env bash
# Installs what building and testing vqx needs on Debian 12 (as root).  Safe to run again.
#   scripts/setup.sh        compiler, libraries, FFmpeg
#   scripts/setup.sh test   also what the tests and checks need
set -euo pipefail

packages=(
  build-essential ccache cmake git ninja-build pkg-config
  libhwy-dev libtbb-dev libfmt-dev libcli11-dev nlohmann-json3-dev libmpfr-dev
  libavformat-dev libavcodec-dev libswscale-dev libavutil-dev
)
if [[ ${1:-} == test ]]; then
  packages+=(libgtest-dev libbenchmark-dev locales python3 python3-numpy ffmpeg
    clang clang-format clang-tidy libclang-rt-14-dev hipcc)
fi

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
