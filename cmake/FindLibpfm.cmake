# libpfm4 brings no CMake or pkg-config file. Defines Libpfm::Libpfm.
find_path(Libpfm_INCLUDE_DIR perfmon/pfmlib.h)
find_library(Libpfm_LIBRARY NAMES libpfm.a pfm)  # the static one: the shared one takes a millisecond to be relocated
mark_as_advanced(Libpfm_INCLUDE_DIR Libpfm_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libpfm REQUIRED_VARS Libpfm_LIBRARY Libpfm_INCLUDE_DIR)
if(Libpfm_FOUND AND NOT TARGET Libpfm::Libpfm)
  add_library(Libpfm::Libpfm UNKNOWN IMPORTED)
  set_target_properties(Libpfm::Libpfm PROPERTIES IMPORTED_LOCATION "${Libpfm_LIBRARY}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${Libpfm_INCLUDE_DIR}")
endif()
