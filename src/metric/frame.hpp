// One pair of pictures on its way through the metrics, with what they derive from it and share.
#pragma once

#include <any>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "vqx/picture.hpp"

namespace vqx {

enum class Side { kReference, kDistorted };

class Frame {
 public:
  Frame(int index, Picture reference, Picture distorted)
      : index_(index), reference_(std::move(reference)), distorted_(std::move(distorted)) {}

  int index() const { return index_; }  // position in the uncut sequence, from 0
  const Picture& reference() const { return reference_; }
  const Picture& distorted() const { return distorted_; }
  const Picture& picture(Side side) const {
    return side == Side::kReference ? reference_ : distorted_;
  }

  // Data that several metrics, or the same metric at the next frame, need of this frame: made by
  // the first who asks, kept as long as the frame.  `key` must name all that `make` depends on.
  template <class T>
  std::shared_ptr<const T> derived(const std::string& key,
                                   const std::function<std::shared_ptr<const T>()>& make) const {
    Slot* slot;
    {
      const std::lock_guard lock(mutex_);
      std::unique_ptr<Slot>& entry = slots_[key];
      if (!entry) entry = std::make_unique<Slot>();
      slot = entry.get();
    }
    std::call_once(slot->once, [&] { slot->value = make(); });
    return std::static_pointer_cast<const T>(slot->value);
  }

 private:
  struct Slot {
    std::once_flag once;
    std::shared_ptr<const void> value;
  };
  int index_;
  Picture reference_;
  Picture distorted_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Slot>> slots_;
};

// Samples on the 8-bit scale as fp32: v / 2^(bits-8) + offset, exact.  Rows are padded to a
// multiple of 32 samples (padding undefined); stride in samples.
struct FloatPlane {
  std::vector<float> samples;
  std::ptrdiff_t stride = 0;
  int width = 0;
  int height = 0;
  const float* row(int y) const { return samples.data() + y * stride; }
};

// The plane as fp32, converted once per frame however many metrics ask.
std::shared_ptr<const FloatPlane> float_plane(const Frame& frame, Side side, int plane,
                                              float offset);

}  // namespace vqx
