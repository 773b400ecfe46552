# What `cmake --install` puts in place, for find_package(vqx) and pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS vqx EXPORT vqxTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS vmaf vqx_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/vqx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE src/model/LICENSE.netflix DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/vqx")
install(EXPORT vqxTargets NAMESPACE vqx:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/vqxConfig.cmake.in "${PROJECT_BINARY_DIR}/vqxConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/vqxConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/vqxConfig.cmake" "${PROJECT_BINARY_DIR}/vqxConfigVersion.cmake"
  DESTINATION "${package_dir}")
configure_file(cmake/vqx.pc.in "${PROJECT_BINARY_DIR}/vqx.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/vqx.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
