# The layer check is itself checked: trees with one known offence each must fail at the right file and line, and a tree
# without one must pass. cmake -DWORK=FOLDER -P tests/layers/self_test.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT WORK)
  message(FATAL_ERROR "-DWORK=FOLDER is missing: a folder that may be emptied")
endif()

# A tree of one offending file (and a harmless one), and what the check must say about it ("" means: it passes).
function(expect name file text said)
  set(root "${WORK}/${name}")
  file(REMOVE_RECURSE "${root}")
  file(WRITE "${root}/tally/base/harmless.hpp" "#include <string>\n")
  file(WRITE "${root}/tally/${file}" "${text}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" -P "${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "tally/${file}:${said}" place)
  if(said STREQUAL "" AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: was to pass, said\n${output}")
  elseif(NOT said STREQUAL "" AND (status EQUAL 0 OR place EQUAL -1))
    message(SEND_ERROR "${name}: was to fail with 'tally/${file}:${said}', ended with ${status} and said\n${output}")
  endif()
endfunction()

expect(upward base/a.hpp "// first\n\n#include \"tally/count/count.hpp\"\n"
       "3: includes tally/count/count.hpp: base is at layer 0, count at layer 1")
expect(sideways event/a.cpp "#include <tally/result/result.hpp>\n" "1: includes tally/result/result.hpp: event is at layer 2")
expect(one_file_asks event/pfm.cpp "#include <perfmon/pfmlib.h>\n#include \"tally/event/table.hpp\"\n" "")
expect(the_others_do_not event/parse.cpp "#include \"tally/event/pfm.hpp\"\n#include <perfmon/pfmlib.h>\n"
       "2: includes <perfmon/pfmlib.h>: the table names no library pfm for event")
expect(down measure/a.cpp "#include \"tally/base/a.hpp\"\n#include \"tally/backend/backend.hpp\"\n" "")
expect(report_measures report/a.cpp "#include \"tally/backend/backend.hpp\"\n"
       "1: includes tally/backend/backend.hpp: report may include base, count, event, phase, result")
expect(measure_reports measure/a.cpp "#include \"tally/report/table.hpp\"\n" "1: includes tally/report/table.hpp: measure is at")
expect(interface_knows_none backend/a.cpp "#include \"tally/backend/perf/perf.hpp\"\n"
       "1: includes tally/backend/perf/perf.hpp: backend is at layer 3")
expect(hidden cli/a.cpp "#include \"tally/backend/sim/sim.hpp\"\n"
       "1: includes tally/backend/sim/sim.hpp: only backend/choose may include")
expect(chosen backend/choose.cpp "#include \"tally/backend/sim/sim.hpp\"\n#include \"tally/backend/perf/perf.hpp\"\n" "")
expect(beside_itself backend/perf/a.cpp "#include \"../sim/sim.hpp\"\n" "1: includes tally/backend/sim/sim.hpp: backend/perf is at")
expect(alone channel/a.hpp "#include \"tally/base/result.hpp\"\n" "1: includes tally/base/result.hpp: channel may include no other")
expect(freestanding channel/a.hpp "#include <cstdint>\n#include <vector>\n" "2: includes <vector>: channel is freestanding")
expect(engine_below engine/translate/a.cpp "#include \"tally/channel/a.hpp\"\n#include <sys/mman.h>\n#include <Zydis/Zydis.h>\n" "")
expect(engine_base engine/a.cpp "#include \"tally/base/result.hpp\"\n" "1: includes tally/base/result.hpp: engine may include channel")
expect(floors_below engine/persist/a.cpp "#include \"tally/engine/base.hpp\"\n#include \"tally/engine/translate/cache.hpp\"\n" "")
expect(floor_above engine/translate/a.cpp "#include \"tally/engine/guest/a.hpp\"\n"
       "1: includes tally/engine/guest/a.hpp: engine/translate/ may include engine, channel")
expect(image_is_hosted engine/image/a.cpp "#include <vector>\n#include <elf.h>\n" "")
expect(image_the_file engine/a.cpp "#include \"tally/engine/image.hpp\"\n" "")
expect(into_the_engine linux/a.cpp "#include \"tally/engine/a.hpp\"\n" "1: includes tally/engine/a.hpp: engine is a program")
expect(kernel measure/a.cpp "#include <sys/wait.h>\n" "1: includes <sys/wait.h>: a header of the kernel interface")
expect(kernel_door linux/a.cpp "#include <sys/wait.h>\n#include <unistd.h>\n" "")
expect(library measure/a.cpp "#include <CLI/CLI.hpp>\n" "1: includes <CLI/CLI.hpp>: the table names no library cli")
expect(assembly count/a.cpp "/// asm(\"\") in a comment; \"asm(\"\nint f() {\n  __asm__ volatile (\"nop\");\n}\n"
       "3: inline assembly: the table allows none in count")
expect(assembly_allowed workload/a.cpp "void f() { asm volatile(\"nop; ret[x]\" :::); }\n" "")
expect(brackets count/a.cpp "int a[] = {1};  // [[\nint b = a[0]; \\\n\n#include <fcntl.h>\n" "4: includes <fcntl.h>")
expect(a_test count/a_test.cpp "#include <gtest/gtest.h>\n#include <unistd.h>\n#include \"tally/base/a.hpp\"\n" "")
expect(a_test_upward count/a_test.cpp "#include \"tally/measure/stat.hpp\"\n" "1: includes tally/measure/stat.hpp: count is at")
expect(gtest_in_product count/a.cpp "#include <gtest/gtest.h>\n" "1: includes <gtest/gtest.h>: the table names no library test")
expect(json_text_elsewhere report/a.cpp "int f() {\n  return json.dump(2);\n}\n" "2: calls .dump(: only base/json_text.hpp does")
expect(json_text_itself base/json_text.hpp "int f() { return json.dump(2); }\n" "")
expect(json_text_of_a_test report/a_test.cpp "int f() { return json.dump(2); }\n" "")
expect(unknown_room attic/a.cpp "int a;\n" "1: layers.txt names no room for it")
