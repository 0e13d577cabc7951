// PAPI's ways to read two counters. https://icl.utk.edu/papi/: low level and high level, version 7.
#include "bench/reads.hpp"

#if BENCH_HAS_PAPI
#include <papi.h>
#include <stdlib.h>

#include <filesystem>

namespace bench {
namespace {

constexpr const char* events[] = {"perf::INSTRUCTIONS", "perf::CYCLES"};

std::string failed(const char* what, int code) { return std::string("PAPI: ") + what + ": " + PAPI_strerror(code); }

// The low level: an event set of one's own.
std::string add_low_level(const Meter& meter, Table& readings, Table& regions) {
  if (const int version = PAPI_library_init(PAPI_VER_CURRENT); version != PAPI_VER_CURRENT) {
    return failed("PAPI_library_init", version);
  }
  int set = PAPI_NULL;
  if (const int code = PAPI_create_eventset(&set); code != PAPI_OK) return failed("PAPI_create_eventset", code);
  for (const char* event : events) {
    if (const int code = PAPI_add_named_event(set, event); code != PAPI_OK) return failed(event, code);
  }
  long long values[2] = {};
  regions.rows.push_back({"PAPI_start, PAPI_stop", "low level, two events", cost(meter, [&] {
                            PAPI_start(set);
                            PAPI_stop(set, values);
                          })});
  if (const int code = PAPI_start(set); code != PAPI_OK) return failed("PAPI_start", code);
  readings.rows.push_back({"PAPI_read", "low level, two events", cost(meter, [&] { PAPI_read(set, values); })});
  regions.rows.push_back({"PAPI_read at both ends", "low level, two events", cost(meter, [&] {
                            PAPI_read(set, values);
                            PAPI_read(set, values);
                          })});
  PAPI_stop(set, values);
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
  // A counter that reads nothing would be cheap.
  return values[0] > 0 && values[1] > 0 ? "" : "PAPI: it counted nothing";
}

// The high level takes its events from the environment, and writes a file when the program ends.
std::string add_high_level(const Meter& meter, Table& regions) {
  std::string folder = (std::filesystem::temp_directory_path() / "papi-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return "PAPI: no temporary folder for its high level";
  setenv("PAPI_EVENTS", (std::string(events[0]) + "," + events[1]).c_str(), 1);
  setenv("PAPI_OUTPUT_DIRECTORY", folder.c_str(), 1);
  if (const int code = PAPI_hl_region_begin("region"); code != PAPI_OK) return failed("PAPI_hl_region_begin", code);
  if (const int code = PAPI_hl_region_end("region"); code != PAPI_OK) return failed("PAPI_hl_region_end", code);
  regions.rows.push_back({"PAPI_hl_region_begin, _end", "high level, two events", cost(meter, [] {
                            PAPI_hl_region_begin("region");
                            PAPI_hl_region_end("region");
                          })});
  return {};
}

}  // namespace

std::string add_papi(const Meter& meter, Table& readings, Table& regions) {
  std::string why = add_low_level(meter, readings, regions);
  return why.empty() ? add_high_level(meter, regions) : why;
}

}  // namespace bench
#else
namespace bench {

std::string add_papi(const Meter&, Table&, Table&) { return "PAPI: libpapi-dev was not there when this was built"; }

}  // namespace bench
#endif
