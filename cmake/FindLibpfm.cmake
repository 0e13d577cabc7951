# libpfm4 has no CMake or pkg-config file. Defines Libpfm::Libpfm.
find_path(Libpfm_INCLUDE_DIR perfmon/pfmlib.h)
find_library(Libpfm_LIBRARY NAMES libpfm.a pfm)  # the static one: the shared one takes a millisecond to be relocated
# A shared library of ours needs the shared one: Debian's static one is not made for that.
find_library(Libpfm_SHARED_LIBRARY NAMES pfm)
mark_as_advanced(Libpfm_INCLUDE_DIR Libpfm_LIBRARY Libpfm_SHARED_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libpfm REQUIRED_VARS Libpfm_LIBRARY Libpfm_SHARED_LIBRARY Libpfm_INCLUDE_DIR)
if(Libpfm_FOUND AND NOT TARGET Libpfm::Libpfm)
  add_library(Libpfm::Libpfm INTERFACE IMPORTED)
  set_target_properties(
    Libpfm::Libpfm
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Libpfm_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES
               "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,${Libpfm_SHARED_LIBRARY},${Libpfm_LIBRARY}>")
endif()
