# Options that make a mistake harder to exploit, for every program and library of tally except the engine. The engine runs
# without a C library in the measured program: it has no canary and no fortified functions, is bound at once, and its code
# is never writable.
#
# tally_hardened(TARGET [STATIC]): an executable that the kernel loads at a random address, whose relocations are read-only
# before main() (libpfm4's once they are made: deferred.cmake), whose stack is not executable, and whose functions check the stack and the sizes of copies. Sanitizers
# check more.
add_library(tally_hardening INTERFACE)
if(NOT TALLY_SANITIZE AND NOT TALLY_FUZZERS)
  target_compile_options(tally_hardening INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
                                                   $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
  target_link_options(tally_hardening INTERFACE LINKER:-z,now LINKER:-z,relro LINKER:-z,noexecstack)
endif()
function(tally_hardened target)
  cmake_parse_arguments(hardened "STATIC" "" "" ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE tally_hardening)
  target_link_options(${target} PRIVATE $<IF:$<BOOL:${hardened_STATIC}>,-static-pie,-pie>)
  tally_deferred(${target})
endfunction()
