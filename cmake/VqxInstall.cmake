# What `cmake --install` puts where.  The preset `portable` makes a folder that runs on any x86-64
# Linux with glibc 2.36 or newer: programs in bin/, backend modules in lib/vqx/, and in lib/ the
# shared libraries that are not part of every system, found through $ORIGIN.
option(VQX_PORTABLE "Install the non-system libraries as well" OFF)

set(vqx_programs vqx_program vmaf)
if(NOT VQX_PORTABLE)
  install(TARGETS ${vqx_programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
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
