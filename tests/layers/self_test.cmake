# Tests the layer check: trees with one known offence each must fail at the right file and line, and a tree without one
# must pass. cmake -DWORK=FOLDER -P tests/layers/self_test.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT WORK)
  message(FATAL_ERROR "-DWORK=FOLDER is missing: a folder that may be emptied")
endif()

# A tree of one offending file (and a harmless one), and the message that the check must print ("" means: it passes).
function(expect name file text said)
  set(root "${WORK}/${name}")
  file(REMOVE_RECURSE "${root}")
  file(WRITE "${root}/tally/core/base/harmless.hpp" "#include <string>\n")
  file(WRITE "${root}/tally/${file}" "${text}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" -P "${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "tally/${file}:${said}" place)
  if(said STREQUAL "" AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: should have passed, printed\n${output}")
  elseif(NOT said STREQUAL "" AND (status EQUAL 0 OR place EQUAL -1))
    message(SEND_ERROR "${name}: should have failed with 'tally/${file}:${said}', ended with ${status} and printed\n${output}")
  endif()
endfunction()

expect(upward core/base/a.hpp "// first\n\n#include \"tally/core/count/count.hpp\"\n"
       "3: includes tally/core/count/count.hpp: core/base is at layer 0, core/count at layer 1")
expect(sideways hardware/event/a.cpp "#include <tally/output/result/result.hpp>\n" "1: includes tally/output/result/result.hpp: hardware/event is at layer 2")
expect(one_file_asks hardware/event/pfm.cpp "#include <perfmon/pfmlib.h>\n#include \"tally/hardware/event/table.hpp\"\n" "")
expect(the_others_do_not hardware/event/parse.cpp "#include \"tally/hardware/event/pfm.hpp\"\n#include <perfmon/pfmlib.h>\n"
       "2: includes <perfmon/pfmlib.h>: the table names no library pfm for hardware/event")
expect(down counting/measure/a.cpp "#include \"tally/core/base/a.hpp\"\n#include \"tally/counting/backend/backend.hpp\"\n" "")
expect(report_measures output/formats/a.cpp "#include \"tally/counting/backend/backend.hpp\"\n"
       "1: includes tally/counting/backend/backend.hpp: output may include core/base, core/count, hardware/event, core/stats, hardware/pmu, output/result")
expect(measure_reports counting/measure/a.cpp "#include \"tally/output/text/table.hpp\"\n" "1: includes tally/output/text/table.hpp: counting/measure is at")
expect(interface_knows_none counting/backend/a.cpp "#include \"tally/counting/backend/perf/perf.hpp\"\n"
       "1: includes tally/counting/backend/perf/perf.hpp: counting/backend is at layer 3")
expect(hidden cli/a.cpp "#include \"tally/counting/backend/engine/engine.hpp\"\n"
       "1: includes tally/counting/backend/engine/engine.hpp: only counting/backend/choose may include")
expect(chosen counting/backend/choose.cpp "#include \"tally/counting/backend/engine/engine.hpp\"\n#include \"tally/counting/backend/perf/perf.hpp\"\n" "")
expect(beside_itself counting/backend/perf/a.cpp "#include \"../engine/engine.hpp\"\n" "1: includes tally/counting/backend/engine/engine.hpp: counting/backend/perf is at")
expect(alone engine/channel/a.hpp "#include \"tally/core/base/result.hpp\"\n" "1: includes tally/core/base/result.hpp: engine/channel may include no other")
expect(freestanding engine/channel/a.hpp "#include <cstdint>\n#include <vector>\n" "2: includes <vector>: engine/channel is freestanding")
expect(engine_below engine/translate/a.cpp "#include \"tally/engine/channel/a.hpp\"\n#include <sys/mman.h>\n#include <Zydis/Zydis.h>\n" "")
expect(engine_base engine/a.cpp "#include \"tally/core/base/result.hpp\"\n" "1: includes tally/core/base/result.hpp: engine may include engine/channel")
expect(floors_below engine/persist/a.cpp "#include \"tally/engine/base.hpp\"\n#include \"tally/engine/translate/cache.hpp\"\n" "")
expect(floor_above engine/translate/a.cpp "#include \"tally/engine/guest/a.hpp\"\n"
       "1: includes tally/engine/guest/a.hpp: engine/translate/ may include engine, engine/channel")
expect(image_is_hosted engine/image/a.cpp "#include <vector>\n#include <elf.h>\n" "")
expect(image_the_file engine/a.cpp "#include \"tally/engine/image.hpp\"\n" "")
expect(into_the_engine linux/a.cpp "#include \"tally/engine/a.hpp\"\n" "1: includes tally/engine/a.hpp: engine is a program")
expect(kernel counting/measure/a.cpp "#include <sys/wait.h>\n" "1: includes <sys/wait.h>: a header of the kernel interface")
expect(kernel_door linux/a.cpp "#include <sys/wait.h>\n#include <unistd.h>\n" "")
expect(library counting/measure/a.cpp "#include <CLI/CLI.hpp>\n" "1: includes <CLI/CLI.hpp>: the table names no library cli")
expect(assembly core/count/a.cpp "/// asm(\"\") in a comment; \"asm(\"\nint f() {\n  __asm__ volatile (\"nop\");\n}\n"
       "3: inline assembly: the table allows none in core/count")
expect(assembly_allowed hardware/workload/a.cpp "void f() { asm volatile(\"nop; ret[x]\" :::); }\n" "")
expect(brackets core/count/a.cpp "int a[] = {1};  // [[\nint b = a[0]; \\\n\n#include <fcntl.h>\n" "4: includes <fcntl.h>")
expect(a_test core/count/a_test.cpp "#include <gtest/gtest.h>\n#include <unistd.h>\n#include \"tally/core/base/a.hpp\"\n" "")
expect(a_test_upward core/count/a_test.cpp "#include \"tally/counting/measure/stat.hpp\"\n" "1: includes tally/counting/measure/stat.hpp: core/count is at")
expect(gtest_in_product core/count/a.cpp "#include <gtest/gtest.h>\n" "1: includes <gtest/gtest.h>: the table names no library test")
expect(json_text_elsewhere output/formats/a.cpp "int f() {\n  return json.dump(2);\n}\n" "2: calls .dump(: only core/base/json_text.hpp does")
expect(json_text_itself core/base/json_text.hpp "int f() { return json.dump(2); }\n" "")
expect(json_text_of_a_test output/formats/a_test.cpp "int f() { return json.dump(2); }\n" "")
expect(opens_by_itself output/formats/a.cpp "// O_RDONLY\nint f = open(path, O_RDONLY);\n" "2: opens files by itself (O_RDONLY)")
expect(streams cli/a.cpp "#include <fstream>\n" "1: opens files by itself (fstream)")
expect(writes_by_itself linux/machine/a.cpp "std::ofstream file(path);\n" "1: opens files by itself (ofstream)")
expect(may_open linux/files/output.cpp "int f = open(path, O_WRONLY);\n" "")
expect(a_test_opens output/formats/a_test.cpp "std::ofstream file(path);\n" "")
expect(environment linux/files/output.cpp "auto a = std::getenv(\"HOME\");\n" "1: getenv: use secure_getenv")
expect(secure_environment linux/files/output.cpp "auto a = secure_getenv(\"HOME\");\n" "")
expect(unknown_directory attic/a.cpp "int a;\n" "1: layers.txt names no directory for it")
expect(against_the_order engine/machines/a.cpp "#include \"tally/hardware/pmu/a.hpp\"\n"
       "1: includes tally/hardware/pmu/a.hpp: engine comes before hardware, and an include points back")
