// Parallel loops and tasks on oneTBB.
//
// oneTBB's libraries are not built with the thread sanitizer, so it does not see that a task comes
// after what its giver did, nor that the end of a loop comes after all its parts.  Both are told to
// it here; nothing else in the tree starts tasks.  (tests/tsan.ignore leaves oneTBB's own headers
// out.)
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define VQX_THREAD_SANITIZER 1
#endif
#endif

namespace vqx {

namespace detail {

// What a thread did before happens_before(point) is seen after another's happens_after(point).
inline void happens_before([[maybe_unused]] void* point) {
#if defined(VQX_THREAD_SANITIZER)
  __tsan_release(point);
#endif
}
inline void happens_after([[maybe_unused]] void* point) {
#if defined(VQX_THREAD_SANITIZER)
  __tsan_acquire(point);
#endif
}

}  // namespace detail

// Calls f(begin, end) for ranges of at most `grain` that make up [0, count), in the arena of the
// calling thread; returns when all are done.  Isolated: a thread that waits for the others does not
// take up work of another loop or task meanwhile.
template <class F>
void parallel_ranges(std::int64_t count, std::int64_t grain, const F& f) {
  char start = 0;
  char end = 0;
  detail::happens_before(&start);
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          detail::happens_after(&start);
          f(range.begin(), range.end());
          detail::happens_before(&end);
        },
        tbb::simple_partitioner());
  });
  detail::happens_after(&end);
}

// Calls f(i) for 0 <= i < count, each as a task of its own.
template <class F>
void parallel_for(int count, const F& f) {
  parallel_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(static_cast<int>(i));
  });
}

// Hands a task to the arena's workers; returns at once.
inline void enqueue(tbb::task_arena& arena, std::function<void()> task) {
  auto held = std::make_unique<std::function<void()>>(std::move(task));
  detail::happens_before(held.get());
  arena.enqueue([given = held.get()] {
    const std::unique_ptr<std::function<void()>> owned(given);
    detail::happens_after(given);
    (*owned)();
  });
  (void)held.release();
}

}  // namespace vqx
