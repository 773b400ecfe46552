// Samples above the declared bit depth: files of 10 or 12 bits store 16, and what lies above would
// index tables and overflow sums that are proved for the declared depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "vqx/picture.hpp"

namespace vqx::input {

struct SampleAboveDepth {
  int plane = 0;  // 0 Y, 1 Cb, 2 Cr
  int x = 0;
  int y = 0;
  int value = 0;
};

// The first sample (plane by plane, row by row) above 2^bit_depth - 1, if there is one.  Always
// nothing at 8 and 16 bits.
std::optional<SampleAboveDepth> find_sample_above_depth(const Picture& picture);

// "sample 1024 at plane Y, column 5, row 0 is above 1023, the largest of 10 bits"
std::string describe(const SampleAboveDepth& found, int bit_depth);

// The bits that are set in any of the samples.
std::uint16_t union_of_bits(const std::uint16_t* samples, std::size_t count);

}  // namespace vqx::input
