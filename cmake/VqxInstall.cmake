# What `cmake --install` puts where: the programs, and the library for find_package(vqx) and
# pkg-config.  The preset `portable` makes a folder that runs on any x86-64
# Linux with glibc 2.36 or newer: programs in bin/, backend modules in lib/vqx/, and in lib/ the
# shared libraries that are not part of every system, found through $ORIGIN.
option(VQX_PORTABLE "Install the non-system libraries as well" OFF)

set(vqx_programs vqx_program vmaf)
if(NOT VQX_PORTABLE)
  include(CMakePackageConfigHelpers)
  install(TARGETS ${vqx_programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(TARGETS vqx EXPORT vqxTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY include/vqx DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(FILES LICENSE src/model/LICENSE.netflix DESTINATION "${CMAKE_INSTALL_DOCDIR}")

  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/vqx")
  install(EXPORT vqxTargets NAMESPACE vqx:: DESTINATION "${package_dir}")
  configure_package_config_file(cmake/vqxConfig.cmake.in "${PROJECT_BINARY_DIR}/vqxConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/vqxConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/vqxConfig.cmake"
    "${PROJECT_BINARY_DIR}/vqxConfigVersion.cmake" DESTINATION "${package_dir}")

  # Relative, so that `cmake --install --prefix` may choose any folder.
  set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH VQX_PREFIX_FROM_PC "/${pkgconfig_dir}" "/")
  configure_file(cmake/vqx.pc.in "${PROJECT_BINARY_DIR}/vqx.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/vqx.pc" DESTINATION "${pkgconfig_dir}")
  return()
endif()

set_target_properties(${vqx_programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
# The old kind of run path also serves the libraries that the bundled libraries need.
target_link_options(vqx_program PRIVATE -Wl,--disable-new-dtags)
target_link_options(vmaf PRIVATE -Wl,--disable-new-dtags)
install(TARGETS ${vqx_programs} RUNTIME_DEPENDENCY_SET vqx_libraries RUNTIME DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET vqx_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libdl\\.so" "^libpthread\\.so"
                      "^librt\\.so"
  DESTINATION lib)

# The SYCL module brings its runtime along, and finds it in lib/ like the programs do.
if(TARGET vqx_sycl)
  set(vqx_sycl_file "${VQX_MODULE_DIR}/libvqx_sycl.so")
  add_library(vqx_sycl_module MODULE IMPORTED)
  set_target_properties(vqx_sycl_module PROPERTIES
    IMPORTED_LOCATION "${PROJECT_BINARY_DIR}/bin/libvqx_sycl.so")
  install(IMPORTED_RUNTIME_ARTIFACTS vqx_sycl_module RUNTIME_DEPENDENCY_SET vqx_libraries
    LIBRARY DESTINATION "${VQX_MODULE_DIR}")
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${vqx_sycl_file}\"
    NEW_RPATH [[$ORIGIN/..]])")
  # AdaptiveCpp loads its device layers from the folder hipSYCL beside its runtime library.
  get_filename_component(vqx_sycl_bin "${VQX_SYCL_COMPILER}" REALPATH)
  cmake_path(GET vqx_sycl_bin PARENT_PATH vqx_sycl_bin)
  cmake_path(GET vqx_sycl_bin PARENT_PATH vqx_sycl_prefix)
  if(EXISTS "${vqx_sycl_prefix}/lib/hipSYCL")
    install(DIRECTORY "${vqx_sycl_prefix}/lib/hipSYCL" DESTINATION lib
      FILES_MATCHING PATTERN "librt-backend-*.so")
  endif()
endif()
