# tally_program(NAME SOURCE… [STATIC]): tally-NAME, which `tally NAME` becomes; it is linked with the directory tally_NAME and
# installed in libexec. STATIC: linked statically where the command is. The global property tally_programs lists those that are
# built.
include(GNUInstallDirs)
function(tally_program name)
  cmake_parse_arguments(program "STATIC" "" "" ${ARGN})
  add_executable(tally-${name} ${program_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY tally_programs tally-${name})
  target_link_libraries(tally-${name} PRIVATE tally_${name} tally_command tally_warnings tally_checks tally_fmt)
  target_compile_options(tally-${name} PRIVATE -O1)
  if(program_STATIC AND TALLY_STATIC)
    tally_hardened(tally-${name} STATIC)
  else()
    tally_hardened(tally-${name})
  endif()
  install(TARGETS tally-${name} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tally")
endfunction()
