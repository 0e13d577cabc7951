# Installs the command, its engine, man pages and completion. tally/cli includes this.
#
# The command finds its engine relative to its own path, so that the installed tree can be moved as a whole.
include(GNUInstallDirs)
install(TARGETS tally RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET tally_backend_engine)
  install(PROGRAMS "${CMAKE_BINARY_DIR}/tally-engine" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tally")
  # The command under the name of valgrind, for programs that start valgrind. A directory of commands must not have it.
  file(RELATIVE_PATH command "${CMAKE_INSTALL_FULL_LIBEXECDIR}/tally" "${CMAKE_INSTALL_FULL_BINDIR}/tally")
  set(front "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBEXECDIR}/tally")
  install(CODE "file(MAKE_DIRECTORY \"${front}\")
file(CREATE_LINK \"${command}\" \"${front}/valgrind\" SYMBOLIC)
message(STATUS \"Installing: ${front}/valgrind\")")
endif()
install(FILES "${CMAKE_BINARY_DIR}/python_script.py" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tally")
# The documents with all files that they link to, in the folders of the source tree: their links are relative. Most
# licences of linked libraries ask that their notices (licences/) go with the programs.
foreach(file IN ITEMS README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE)
  install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documents)
endforeach()
foreach(folder IN ITEMS docs examples bindings licences tests/consumer)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT documents)
endforeach()

# The built command prints them: one page for each NAME_command.cpp, and one of tally itself.
set(TALLY_PAGES "" CACHE PATH "share/ of a build tree whose man pages and completion are installed, for a cross build")
if(CMAKE_CROSSCOMPILING AND TALLY_PAGES)
  install(DIRECTORY "${TALLY_PAGES}/" DESTINATION "${CMAKE_INSTALL_DATADIR}")
  return()
endif()
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Man pages and completion are not installed: the command that prints them does not run here")
  return()
endif()
set(man "${CMAKE_BINARY_DIR}/share/man/man1")
file(MAKE_DIRECTORY "${man}")
set(pages "")
get_target_property(sources tally_cli SOURCES)
list(FILTER sources INCLUDE REGEX "_command\\.cpp$")
list(TRANSFORM sources REPLACE "_command\\.cpp$" "")
foreach(name IN LISTS sources ITEMS "")
  string(JOIN "-" page tally ${name})
  add_custom_command(
    OUTPUT "${man}/${page}.1"
    COMMAND tally --print-man ${name} > "${man}/${page}.1"
    DEPENDS tally VERBATIM)
  list(APPEND pages "${man}/${page}.1")
endforeach()
# The directory below share from which each shell reads completion.
set(bash "bash-completion/completions/tally")
set(zsh "zsh/site-functions/_tally")
set(fish "fish/vendor_completions.d/tally.fish")
set(completions "")
foreach(shell IN ITEMS bash zsh fish)
  set(script "${CMAKE_BINARY_DIR}/share/${${shell}}")
  cmake_path(GET script PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${script}" COMMAND tally --print-${shell}-completion > "${script}" DEPENDS tally VERBATIM)
  list(APPEND completions "${script}")
  cmake_path(GET ${shell} PARENT_PATH folder)
  install(FILES "${script}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
endforeach()
add_custom_target(tally_pages ALL DEPENDS ${pages} ${completions} COMMENT "Man pages and completion")
install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
