# Compile settings every vqx target shares, as the interface target vqx_compile.
# The floating-point flags are part of the exactness contract: see docs/exactness.md.
add_library(vqx_compile INTERFACE)
target_compile_options(vqx_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror
  -ffp-contract=off -fno-fast-math -fvisibility=hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string concatenation (GCC bug 105651) and std::optional (80635).
  target_compile_options(vqx_compile INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Loops of kernels are marked as independent, which is no promise that they vectorise.
  target_compile_options(vqx_compile INTERFACE -Wno-pass-failed)
endif()
# SSE4 is the lowest SIMD level; older machines run Highway's portable baseline.
set(vqx_disabled_targets HWY_SSSE3)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # On ARM it is NEON: vectors whose size is unknown at compile time do not fit in structs.
  set(vqx_disabled_targets "HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128")
  # Lanes wrap by intent, and GCC's NEON intrinsics are plain signed operators.
  target_compile_options(vqx_compile INTERFACE -fwrapv)
endif()
target_compile_definitions(vqx_compile INTERFACE "HWY_DISABLED_TARGETS=${vqx_disabled_targets}")
set(VQX_SANITIZE "" CACHE STRING "Sanitizers to build with: address, thread, undefined")
if(VQX_SANITIZE)
  target_compile_options(vqx_compile INTERFACE
    -fsanitize=${VQX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # False alarms of GCC on instrumented code.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
  target_link_options(vqx_compile INTERFACE -fsanitize=${VQX_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND VQX_SANITIZE MATCHES "thread")
    target_compile_options(vqx_compile INTERFACE
      "-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/tests/tsan.ignore")
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND VQX_SANITIZE MATCHES "address")
    # Kernels compile four times as fast without the checks that the processor makes anyway or that
    # never fire in them, and with the others as calls.
    target_compile_options(vqx_compile INTERFACE
      -fno-sanitize=null,object-size,pointer-overflow,vptr
      "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
  endif()
endif()
target_include_directories(vqx_compile INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
  "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>")
