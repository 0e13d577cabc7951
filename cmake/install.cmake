# What `cmake --install` installs of the command: it, its engine, documents. Included where the command is made.
#
# The command finds its engine relative to its own path, so that the installed tree can be moved as a whole.
include(GNUInstallDirs)
install(TARGETS tally RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET tally_backend_engine)
  install(PROGRAMS "${CMAKE_BINARY_DIR}/tally-engine" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tally")
endif()
install(FILES "${CMAKE_BINARY_DIR}/python_script.py" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tally")
# The documents with all files that they link to, in the folders of the source tree: their links are relative. Most
# licences of linked libraries ask that their notices (licences/) go with the programs.
foreach(file IN ITEMS README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE)
  install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documents)
endforeach()
foreach(folder IN ITEMS docs examples bindings licences tests/consumer)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT documents
          REGEX "/bindings/compat$" EXCLUDE)
endforeach()
