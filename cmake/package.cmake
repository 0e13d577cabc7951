# What other projects need to use the library: headers, find_package(tally), pkg-config. Included where it is made.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set_target_properties(tally_library PROPERTIES EXPORT_NAME tally)
target_include_directories(tally_library INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS tally_library EXPORT tally LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# The front doors, and what they include.
foreach(header tally.h tally.hpp base/api.hpp base/error.hpp base/expected.hpp base/units.hpp count/count.hpp count/event_name.hpp count/region.hpp count/source.hpp count/trust.hpp)
  cmake_path(GET header PARENT_PATH room)
  install(FILES "${PROJECT_SOURCE_DIR}/tally/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tally/${room}")
endforeach()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tally")
install(EXPORT tally FILE tallyConfig.cmake NAMESPACE tally:: DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tallyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tallyConfigVersion.cmake" DESTINATION "${package}")

# From where the file lies itself, so that the installed tree can be moved as a whole.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE up)
configure_file("${PROJECT_SOURCE_DIR}/cmake/tally.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/tally.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tally.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
