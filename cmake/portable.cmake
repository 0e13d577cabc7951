# Installed programs that run on other releases and distributions than the one they are built on.
#
# TALLY_PRIVATE_ZYDIS: tally-stepper and tally-lab use a copy of libZydis that is installed next to them, because each
# Debian release has another version of it.
# TALLY_PORTABLE: also, libtally.so uses a copy of libpfm next to it. It and tally-stepper contain libstdc++.
option(TALLY_PRIVATE_ZYDIS "Install a copy of libZydis next to the programs that use it" OFF)
option(TALLY_PORTABLE "Install what runs on other distributions: copies of libZydis and libpfm, libstdc++ linked statically" OFF)

# tally_private_library(LIBRARY FOLDER TARGET...): installs a copy of a shared library in FOLDER under the name that the
# targets, which are installed there too, are linked with.
function(tally_private_library library folder)
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "$ORIGIN")
  file(REAL_PATH "${library}" file)
  execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${file}" OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^\n]+)")
    message(FATAL_ERROR "${file} has no SONAME: it is not a shared library that can be copied")
  endif()
  install(FILES "${file}" DESTINATION "${folder}" RENAME "${CMAKE_MATCH_1}")
endfunction()

# tally_private_zydis(TARGET): a program in libexec that is linked with libZydis.
function(tally_private_zydis target)
  if(TALLY_PRIVATE_ZYDIS OR TALLY_PORTABLE)
    find_library(ZYDIS_LIBRARY NAMES libZydis.so)
    tally_private_library("${ZYDIS_LIBRARY}" "${CMAKE_INSTALL_LIBEXECDIR}/tally" ${target})
  endif()
  if(TALLY_PORTABLE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# tally_portable_library(TARGET): a shared library that is linked with libpfm.
function(tally_portable_library target)
  if(TALLY_PORTABLE)
    tally_private_library("${Libpfm_SHARED_LIBRARY}" "${CMAKE_INSTALL_LIBDIR}" ${target})
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
