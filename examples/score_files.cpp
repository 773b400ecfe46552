// Scores two files:  score_files REFERENCE DISTORTED
#include <cstdio>

#include "vqx/session.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: score_files REFERENCE DISTORTED\n");
    return 2;
  }
  vqx::SessionOptions options;
  options.models.push_back({.version = "vmaf_v0.6.1"});
  options.features.push_back({.name = "psnr", .options = {{"enable_chroma", "false"}}});
  options.threads = 2;

  const vqx::Result<vqx::Scores> scores = vqx::score_files(argv[1], argv[2], options);
  if (!scores.ok()) {
    std::fprintf(stderr, "%s\n", scores.status().message().c_str());
    return 1;
  }
  for (const char* key : {"vmaf", "psnr_y"}) {
    const vqx::Series* series = scores->find(key);
    if (const auto pooled = scores->pooled(*series))
      std::printf("%s: mean %f, min %f\n", key, pooled->mean, pooled->min);
  }
  return 0;
}
