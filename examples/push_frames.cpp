// Pushes pictures from memory and prints each frame's score as soon as it is certain: VMAF looks
// one frame ahead, so the score of frame n - 1 is there after frame n.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "vqx/session.hpp"

namespace {

constexpr vqx::VideoFormat kFormat{640, 360, vqx::ChromaFormat::k400, 8};

// A moving ramp; vqx uses the caller's memory in place and lets go of it when it is done.
vqx::Picture make_picture(int index, int coarseness) {
  auto samples = std::make_shared<std::vector<std::uint8_t>>(kFormat.width * kFormat.height);
  for (int y = 0; y < kFormat.height; ++y)
    for (int x = 0; x < kFormat.width; ++x)
      (*samples)[y * kFormat.width + x] =
          static_cast<std::uint8_t>((x + y + 3 * index) % 256 / coarseness * coarseness);
  const vqx::Plane luma{samples->data(), kFormat.width, kFormat.width, kFormat.height};
  return vqx::Picture::borrow(kFormat, &luma, [samples] {});
}

int fail(const vqx::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main() {
  vqx::SessionOptions options;
  options.models.push_back({.version = "vmaf_v0.6.1"});
  const auto session = vqx::Session::create(kFormat, options);
  if (!session.ok()) return fail(session.status());

  constexpr int kFrames = 5;
  for (int i = 0; i < kFrames; ++i) {
    const vqx::Status status = session.value()->push(make_picture(i, 1), make_picture(i, 8));
    if (!status.ok()) return fail(status);
    if (i == 0) continue;
    const vqx::Result<double> score = session.value()->score("vmaf", i - 1);
    if (!score.ok()) return fail(score.status());
    std::printf("frame %d: %f\n", i - 1, *score);
  }
  const vqx::Status status = session.value()->finish();
  if (!status.ok()) return fail(status);
  std::printf("frame %d: %f\n", kFrames - 1, *session.value()->score("vmaf", kFrames - 1));
  return 0;
}
