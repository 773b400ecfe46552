// The kernel language: what the body of a kernel sees.  One source runs on the host, CUDA, HIP and
// SYCL with the same bits; docs/kernels.md is the guide.
//
// A kernel is a trivially copyable functor over a whole work-group:
//
//   struct Halve {
//     static constexpr int kItems = 256;          // work-items of a group, a multiple of 64
//     struct Shared { float tile[32 * 32]; };     // work-group memory, of any size, uninitialised
//     const float* source; float* target; int width, height;
//     template <class Group>
//     VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
//       each<32, 32>(group, [&](int x, int y) { shared.tile[y * 32 + x] = ...; });
//       group.sync();
//       ...
//     }
//   };
//
// The body says what the *group* does.  each<W, H> spreads an index space over the items of a GPU
// and is a plain, vectorised loop on the host.  The calls of one each() are independent of each
// other; what one writes another reads only after group.sync().  Control flow around each(), sync()
// and the reductions must be the same for all items: it may depend on the kernel's members, the
// group's index and values read after a sync(), not on values an item computed for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernel/scalar.hpp"
#include "kernel/target.hpp"

namespace vqx::kernel {

// Number of groups in each direction; group.x(), y(), z() run over it.
struct Grid {
  int x = 1;
  int y = 1;
  int z = 1;
};

VQX_FN constexpr int ceil_div(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}

// ---- index spaces ----------------------------------------------------------------------------

namespace detail {

template <class F>
VQX_KERNEL_FN void call(F& f, int x, int y) {
  if constexpr (std::is_invocable_v<F&, int>) {
    f(x);
  } else {
    f(x, y);
  }
}

}  // namespace detail

// Calls f(x, y), or f(x), for 0 <= x < W, 0 <= y < H.
template <int W, int H = 1, class Group, class F>
VQX_KERNEL_FN void each(Group& group, F&& f) {
  if constexpr (Group::kOnDevice) {
    for (int i = group.item(); i < W * H; i += Group::kItems) detail::call(f, i % W, i / W);
  } else {
    for (int y = 0; y < H; ++y) {
      VQX_SIMD_LOOP
      for (int x = 0; x < W; ++x) detail::call(f, x, y);
    }
  }
}

// Calls f(i) for 0 <= i < count, a count known only at run time.
template <class Group, class F>
VQX_KERNEL_FN void each(Group& group, int count, F&& f) {
  if constexpr (Group::kOnDevice) {
    for (int i = group.item(); i < count; i += Group::kItems) f(i);
  } else {
    VQX_SIMD_LOOP
    for (int i = 0; i < count; ++i) f(i);
  }
}

// One T for each index of a W x H space that lives across sync(): registers on a GPU (so keep it
// small), an array on the host.  Reached through each() only.
template <class T, int W, int H, class Group>
struct State {
  static constexpr int kCount =
      Group::kOnDevice ? (W * H + Group::kItems - 1) / Group::kItems : W * H;
  T value[kCount];
};

// auto state = make_state<float, 32, 8>(group);   // value-initialised
template <class T, int W, int H = 1, class Group>
VQX_KERNEL_FN State<T, W, H, Group> make_state(const Group&) {
  return State<T, W, H, Group>{};
}

// Calls f(x, y, state_of_this_index).
template <class T, int W, int H, class Group, class F>
VQX_KERNEL_FN void each(Group& group, State<T, W, H, Group>& state, F&& f) {
  if constexpr (Group::kOnDevice) {
    VQX_UNROLL
    for (int n = 0; n < State<T, W, H, Group>::kCount; ++n) {
      const int i = group.item() + n * Group::kItems;
      if (i < W * H) f(i % W, i / W, state.value[n]);
    }
  } else {
    for (int y = 0; y < H; ++y) {
      VQX_SIMD_LOOP
      for (int x = 0; x < W; ++x) f(x, y, state.value[y * W + x]);
    }
  }
}

// ---- sums ------------------------------------------------------------------------------------

// N running sums.  Integers only: the order of additions never shows.
template <int N>
struct Sums {
  int64_t value[N];

  VQX_FN int64_t& operator[](int i) { return value[i]; }
  VQX_FN const int64_t& operator[](int i) const { return value[i]; }

  // Adds a term to the wide sum kept in value[i] (low 32 bits of the terms) and value[i + 1] (the
  // rest): exact for 2^31 terms of any int64 value.  The total is value[i + 1] * 2^32 + value[i].
  VQX_FN void add_wide(int i, int64_t term) {
    value[i] += static_cast<int64_t>(static_cast<uint32_t>(term));
    value[i + 1] += term >> 32;
  }
};

// Calls f(x, y, sums) for each index of the space, where f adds to sums; returns the totals of the
// group to every item.  Synchronises the group.
template <int N, int W, int H = 1, class Group, class F>
VQX_KERNEL_FN Sums<N> sum_each(Group& group, F&& f) {
  Sums<N> sums{};
  if constexpr (Group::kOnDevice) {
    for (int i = group.item(); i < W * H; i += Group::kItems) f(i % W, i / W, sums);
    group.reduce(sums);
  } else {
    for (int y = 0; y < H; ++y) {
      for (int x = 0; x < W; ++x) f(x, y, sums);
    }
  }
  return sums;
}

// Likewise for i in [0, count): f(i, sums).
template <int N, class Group, class F>
VQX_KERNEL_FN Sums<N> sum_each(Group& group, int count, F&& f) {
  Sums<N> sums{};
  if constexpr (Group::kOnDevice) {
    for (int i = group.item(); i < count; i += Group::kItems) f(i, sums);
    group.reduce(sums);
  } else {
    for (int i = 0; i < count; ++i) f(i, sums);
  }
  return sums;
}

// Likewise over an index space with state: f(x, y, state_of_this_index, sums).
template <int N, class T, int W, int H, class Group, class F>
VQX_KERNEL_FN Sums<N> sum_each(Group& group, State<T, W, H, Group>& state, F&& f) {
  Sums<N> sums{};
  if constexpr (Group::kOnDevice) {
    VQX_UNROLL
    for (int n = 0; n < State<T, W, H, Group>::kCount; ++n) {
      const int i = group.item() + n * Group::kItems;
      if (i < W * H) f(i % W, i / W, state.value[n], sums);
    }
    group.reduce(sums);
  } else {
    for (int y = 0; y < H; ++y) {
      for (int x = 0; x < W; ++x) f(x, y, state.value[y * W + x], sums);
    }
  }
  return sums;
}

// ---- atomics ---------------------------------------------------------------------------------
//
// On int32_t, uint32_t, int64_t (add only) and uint64_t; the value before is returned.  The order
// in which items arrive is not defined: only results that do not depend on it (integer sums,
// minima, maxima) may be kept.  `shared_` for work-group memory, `global_` for device memory.

namespace detail {

#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
// The GPU languages spell 64-bit atomics with long long.
template <class T>
VQX_KERNEL_FN T gpu_add(T* target, T value) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long*>(target),
                                    static_cast<unsigned long long>(value)));
  } else {
    return atomicAdd(target, value);
  }
}
template <class T>
VQX_KERNEL_FN T gpu_max(T* target, T value) {
  if constexpr (sizeof(T) == 8) {
    static_assert(std::is_unsigned_v<T>);
    return static_cast<T>(atomicMax(reinterpret_cast<unsigned long long*>(target),
                                    static_cast<unsigned long long>(value)));
  } else {
    return atomicMax(target, value);
  }
}
template <class T>
VQX_KERNEL_FN T gpu_min(T* target, T value) {
  if constexpr (sizeof(T) == 8) {
    static_assert(std::is_unsigned_v<T>);
    return static_cast<T>(atomicMin(reinterpret_cast<unsigned long long*>(target),
                                    static_cast<unsigned long long>(value)));
  } else {
    return atomicMin(target, value);
  }
}
#elif defined(VQX_TARGET_SYCL)
template <class T>
using SharedAtomic =
    sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::work_group,
                     sycl::access::address_space::local_space>;
template <class T>
using GlobalAtomic = sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device,
                                      sycl::access::address_space::global_space>;
#else
// One thread runs a whole group on the host, so work-group memory needs no atomics; but the loop
// around must stay scalar, as two of its iterations may meet in one counter.
template <class T>
inline void keep_scalar(T* target) {
  asm volatile("" : "+m"(*target));
}
// Replaces *target by chosen(*target, value).
template <class T, class Choose>
inline T exchange_chosen(T* target, T value, Choose chosen) {
  T before = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(target, &before, chosen(before, value), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return before;
}
#endif

template <class T>
VQX_FN T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
VQX_FN T smaller(T a, T b) {
  return b < a ? b : a;
}

}  // namespace detail

template <class T>
VQX_KERNEL_FN T shared_add(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_add(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::SharedAtomic<T>(*target).fetch_add(value);
#else
  const T before = *target;
  *target = before + value;
  detail::keep_scalar(target);
  return before;
#endif
}

template <class T>
VQX_KERNEL_FN T shared_max(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_max(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::SharedAtomic<T>(*target).fetch_max(value);
#else
  const T before = *target;
  *target = detail::larger(before, value);
  detail::keep_scalar(target);
  return before;
#endif
}

template <class T>
VQX_KERNEL_FN T shared_min(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_min(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::SharedAtomic<T>(*target).fetch_min(value);
#else
  const T before = *target;
  *target = detail::smaller(before, value);
  detail::keep_scalar(target);
  return before;
#endif
}

template <class T>
VQX_KERNEL_FN T global_add(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_add(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::GlobalAtomic<T>(*target).fetch_add(value);
#else
  return __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
#endif
}

template <class T>
VQX_KERNEL_FN T global_max(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_max(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::GlobalAtomic<T>(*target).fetch_max(value);
#else
  return detail::exchange_chosen(target, value, detail::larger<T>);
#endif
}

template <class T>
VQX_KERNEL_FN T global_min(T* target, std::type_identity_t<T> value) {
#if defined(VQX_TARGET_CUDA) || defined(VQX_TARGET_HIP)
  return detail::gpu_min(target, value);
#elif defined(VQX_TARGET_SYCL)
  return detail::GlobalAtomic<T>(*target).fetch_min(value);
#else
  return detail::exchange_chosen(target, value, detail::smaller<T>);
#endif
}

// Adds the group's totals to N int64 words in device memory, once per group.
template <int N, class Group>
VQX_KERNEL_FN void add_to_global(Group& group, int64_t* target, const Sums<N>& totals) {
  if (group.item() != 0) return;
  VQX_UNROLL
  for (int i = 0; i < N; ++i) {
    if (totals[i] != 0) global_add(target + i, totals[i]);
  }
}

// ---- scan ------------------------------------------------------------------------------------

// Exclusive prefix sums of N integers in work-group memory, in place: values[i] becomes
// values[0] + ... + values[i - 1].  Returns the sum of all.  Synchronises before and after.
template <int N, class T, class Group>
VQX_KERNEL_FN T exclusive_scan(Group& group, T* values) {
  static_assert(std::is_integral_v<T>);
  if constexpr (Group::kOnDevice) {
    constexpr int kEach = (N + Group::kItems - 1) / Group::kItems;
    const int first = group.item() * kEach;
    group.sync();
    int64_t own = 0;
    for (int i = first; i < first + kEach && i < N; ++i) own += static_cast<int64_t>(values[i]);
    int64_t total = 0;
    int64_t before = group.scan(own, total);
    for (int i = first; i < first + kEach && i < N; ++i) {
      const auto value = static_cast<int64_t>(values[i]);
      values[i] = static_cast<T>(before);
      before += value;
    }
    group.sync();
    return static_cast<T>(total);
  } else {
    T before = 0;
    for (int i = 0; i < N; ++i) {
      const T value = values[i];
      values[i] = before;
      before += value;
    }
    return before;
  }
}

// ---- packed bytes ----------------------------------------------------------------------------

// Sixteen bytes that a GPU moves in one transaction.
struct alignas(16) Bytes16 {
  uint32_t word[4];
};

VQX_FN Bytes16 load16(const void* aligned) {
#if defined(VQX_NVIDIA_DEVICE)
  const uint4 v = *static_cast<const uint4*>(aligned);
  return {{v.x, v.y, v.z, v.w}};
#else
  Bytes16 bytes;
  __builtin_memcpy(&bytes, __builtin_assume_aligned(aligned, 16), sizeof(bytes));
  return bytes;
#endif
}

VQX_FN uint32_t load4(const void* aligned) {
  uint32_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(aligned, 4), sizeof(word));
  return word;
}

// sum + the products of the four pairs of bytes: one instruction on an NVIDIA GPU.
VQX_FN uint32_t dot4(uint32_t a, uint32_t b, uint32_t sum) {
#if defined(VQX_NVIDIA_DEVICE)
  return __dp4a(a, b, sum);
#elif defined(VQX_SYCL_ON_NVIDIA)
  asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  VQX_UNROLL
  for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xff) * (b >> shift & 0xff);
  return sum;
#endif
}

}  // namespace vqx::kernel
