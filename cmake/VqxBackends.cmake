# Backend modules: libvqx_cuda.so, libvqx_hip.so, libvqx_sycl.so, each built where its compiler is
# found.  A module is compiled by another compiler than the program, from the sources in
# src/backend/ (module.cpp and metrics/*.cpp), and shares plain data with it only.
#
# The floating-point flags are part of the exactness contract (docs/exactness.md); the self-test of
# every device asserts them.
set(VQX_CUDA_ARCHITECTURES "75;80;90" CACHE STRING
    "Compute capabilities of the CUDA module; the last one is also embedded as PTX")
set(VQX_HIP_ARCHITECTURES "gfx1030;gfx1036" CACHE STRING "AMD targets of the HIP module")
set(VQX_HIP_PLATFORM "amd" CACHE STRING "amd (hipcc), or nvidia (the HIP interface through nvcc)")
set(VQX_SYCL_FLAGS "" CACHE STRING "Further flags of the SYCL compiler, such as its targets")
option(VQX_WITH_CUDA "Build the CUDA module where nvcc is found" ON)
option(VQX_WITH_HIP "Build the HIP module where its compiler is found" ON)
option(VQX_WITH_SYCL "Build the SYCL module where acpp or icpx is found" ON)
set(VQX_MODULE_DIR "lib/vqx" CACHE STRING "Where modules are installed; the loader looks there")
option(VQX_MODULES_BY_DEFAULT "Build modules with everything else, not only as target vqx_modules" OFF)
option(VQX_BREAK_KERNEL "Break a kernel on purpose, to see verification fail" OFF)

# Program and modules exchange the metrics' own structs: both must come from the same sources.
file(GLOB_RECURSE VQX_DEVICE_SOURCES CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/backend/*.hpp" "${PROJECT_SOURCE_DIR}/src/backend/*.cpp"
  "${PROJECT_SOURCE_DIR}/src/kernel/*.hpp" "${PROJECT_SOURCE_DIR}/src/exact/*.hpp"
  "${PROJECT_SOURCE_DIR}/src/metric/*.hpp" "${PROJECT_SOURCE_DIR}/include/vqx/*.hpp")
set(vqx_hashes "${PROJECT_VERSION}")
foreach(source IN LISTS VQX_DEVICE_SOURCES)
  file(SHA256 "${source}" hash)
  string(APPEND vqx_hashes ${hash})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
endforeach()
string(SHA256 VQX_BUILD_HASH "${vqx_hashes}")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/backend/build_hash.hpp" @ONLY CONTENT
"// Generated: names the sources that the program and its backend modules come from.
#pragma once
#define VQX_BUILD_HASH \"@VQX_BUILD_HASH@\"
")

set(vqx_all)
if(VQX_MODULES_BY_DEFAULT)
  set(vqx_all ALL)
endif()
add_custom_target(vqx_modules ${vqx_all} COMMENT "Backend modules")

# vqx_add_backend_module(NAME <name> COMPILE <command...> LINK <command...>)
function(vqx_add_backend_module)
  cmake_parse_arguments(arg "" "NAME" "COMPILE;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/backend/module.cpp"
       "${PROJECT_SOURCE_DIR}/src/backend/metrics/*.cpp")
  set(directory "${PROJECT_BINARY_DIR}/modules/${arg_NAME}")
  file(MAKE_DIRECTORY "${directory}")
  set(common -std=c++20 -O3 -DNDEBUG "-I${PROJECT_SOURCE_DIR}/include"
      "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_BINARY_DIR}/generated")
  if(VQX_BREAK_KERNEL)
    list(APPEND common -DVQX_BREAK_KERNEL)
  endif()
  set(objects)
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    set(object "${directory}/${stem}.o")
    add_custom_command(OUTPUT "${object}"
      COMMAND ${arg_COMPILE} ${common} -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}" "${PROJECT_BINARY_DIR}/generated/backend/build_hash.hpp"
      DEPFILE "${object}.d"
      COMMENT "Building ${arg_NAME} object ${stem}" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(module "${PROJECT_BINARY_DIR}/bin/libvqx_${arg_NAME}.so")
  add_custom_command(OUTPUT "${module}"
    COMMAND ${arg_LINK} -shared ${objects} -o "${module}"
    DEPENDS ${objects} COMMENT "Linking ${module}" VERBATIM)
  add_custom_target(vqx_${arg_NAME} DEPENDS "${module}")
  add_dependencies(vqx_modules vqx_${arg_NAME})
  install(PROGRAMS "${module}" DESTINATION "${VQX_MODULE_DIR}" OPTIONAL)
endfunction()

set(vqx_nvcc_flags -x cu -fmad=false -prec-div=true -prec-sqrt=true -ftz=false
    --expt-relaxed-constexpr --diag-suppress=20012,2810
    -Xcompiler=-ffp-contract=off,-fPIC,-fvisibility=hidden,-fno-gnu-unique)
set(vqx_nvcc_targets)
foreach(architecture IN LISTS VQX_CUDA_ARCHITECTURES)
  list(APPEND vqx_nvcc_targets "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  set(vqx_last "-gencode=arch=compute_${architecture},code=compute_${architecture}")
endforeach()
list(APPEND vqx_nvcc_targets "${vqx_last}")

find_program(VQX_NVCC nvcc HINTS /usr/local/cuda/bin "$ENV{CUDA_HOME}/bin")
if(NOT VQX_WITH_CUDA)
  message(STATUS "CUDA not built: switched off")
elseif(NOT VQX_NVCC)
  message(STATUS "CUDA not built: no nvcc")
else()
  vqx_add_backend_module(NAME cuda
    COMPILE "${VQX_NVCC}" -DVQX_TARGET_CUDA ${vqx_nvcc_flags} ${vqx_nvcc_targets}
    LINK "${VQX_NVCC}" --cudart=static ${vqx_nvcc_targets})
endif()

find_program(VQX_HIPCC hipcc HINTS /opt/rocm/bin)
find_path(VQX_HIP_INCLUDE hip/hip_runtime.h HINTS /opt/rocm/include)
if(NOT VQX_WITH_HIP)
  message(STATUS "HIP not built: switched off")
elseif(VQX_HIP_PLATFORM STREQUAL "nvidia")
  if(VQX_NVCC AND VQX_HIP_INCLUDE)
    vqx_add_backend_module(NAME hip
      COMPILE "${VQX_NVCC}" -DVQX_TARGET_HIP -D__HIP_PLATFORM_NVIDIA__ -D__HIP_PLATFORM_NVCC__
              "-I${VQX_HIP_INCLUDE}" ${vqx_nvcc_flags} ${vqx_nvcc_targets}
      LINK "${VQX_NVCC}" --cudart=static ${vqx_nvcc_targets})
  else()
    message(STATUS "HIP not built: HIP on NVIDIA needs nvcc and the HIP headers")
  endif()
elseif(NOT VQX_HIPCC)
  message(STATUS "HIP not built: no hipcc")
else()
  # Always with named targets: without them hipcc asks the driver of the machine it runs on.
  list(TRANSFORM VQX_HIP_ARCHITECTURES PREPEND "--offload-arch=" OUTPUT_VARIABLE vqx_hip_targets)
  vqx_add_backend_module(NAME hip
    COMPILE "${CMAKE_COMMAND}" -E env HIP_PLATFORM=amd "${VQX_HIPCC}" -x hip -DVQX_TARGET_HIP -Wno-pass-failed
            -ffp-contract=off -fPIC -fvisibility=hidden ${vqx_hip_targets}
    LINK "${CMAKE_COMMAND}" -E env HIP_PLATFORM=amd "${VQX_HIPCC}" ${vqx_hip_targets})
endif()

find_program(VQX_SYCL_COMPILER NAMES acpp icpx)
if(NOT VQX_WITH_SYCL)
  message(STATUS "SYCL not built: switched off")
elseif(NOT VQX_SYCL_COMPILER)
  message(STATUS "SYCL not built: no acpp or icpx")
else()
  set(vqx_sycl_flags -DVQX_TARGET_SYCL -ffp-contract=off -fPIC -fvisibility=hidden -Wno-pass-failed)
  if(VQX_SYCL_COMPILER MATCHES "icpx")
    list(APPEND vqx_sycl_flags -fsycl -fp-model=precise -foffload-fp32-prec-div
         -foffload-fp32-prec-sqrt)
  else()
    # A kernel is a nest of lambdas.  One that clang leaves as a call keeps its captures in memory.
    list(APPEND vqx_sycl_flags -mllvm -inline-threshold=20000)
  endif()
  # acpp separates its targets by semicolons, CMake its list elements.
  string(REPLACE ";" "$<SEMICOLON>" vqx_sycl_more "${VQX_SYCL_FLAGS}")
  separate_arguments(vqx_sycl_more UNIX_COMMAND "${vqx_sycl_more}")
  vqx_add_backend_module(NAME sycl
    COMPILE "${VQX_SYCL_COMPILER}" ${vqx_sycl_flags} ${vqx_sycl_more}
    LINK "${VQX_SYCL_COMPILER}" ${vqx_sycl_flags} ${vqx_sycl_more})
endif()
