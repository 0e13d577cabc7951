# Installs what other projects need to use the library: headers, find_package(tally), pkg-config. tally/library includes this.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set_target_properties(tally_shared PROPERTIES EXPORT_NAME tally)
target_include_directories(tally_shared INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
tally_portable_library(tally_shared)
install(TARGETS tally_shared EXPORT tally LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# The public headers, and what they include. Users know them by paths without the top-level directory: tally/tally.hpp,
# tally/base/error.hpp. So what is installed, and what programs of the build tree use, are copies that include each other
# by these paths.
foreach(header library/tally.h library/tally.hpp library/testing.hpp library/gtest.hpp library/catch2.hpp library/benchmark.hpp core/base/api.hpp core/base/error.hpp core/base/expected.hpp core/base/units.hpp core/count/count.hpp core/count/event_name.hpp core/count/region.hpp core/count/source.hpp core/count/trust.hpp)
  string(REGEX REPLACE "^(core|library)/" "" public "${header}")
  cmake_path(GET public PARENT_PATH folder)
  set(source "${PROJECT_SOURCE_DIR}/tally/${header}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(REGEX REPLACE "#include \"tally/(core|library)/" "#include \"tally/" text "${text}")
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/include/tally/${public}" CONTENT "${text}")
  install(FILES "${CMAKE_BINARY_DIR}/include/tally/${public}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tally/${folder}")
endforeach()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tally")
install(EXPORT tally FILE tallyConfig.cmake NAMESPACE tally:: DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tallyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tallyConfigVersion.cmake" DESTINATION "${package}")

cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE up)
# Relative to the file itself, so that the installed tree can be moved as a whole. /usr stays absolute, because pkg-config
# prints no options for it then.
set(pc_prefix "\${pcfiledir}/${up}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(pc_prefix /usr)
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/tally.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/tally.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tally.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
