// Reads two counters with PAPI. https://icl.utk.edu/papi/: low level and high level, version 7.
#include "bench/reads.hpp"

#if BENCH_HAS_PAPI
#include <papi.h>
#include <stdlib.h>

#include <filesystem>

namespace bench {
namespace {

constexpr const char* names[] = {"perf::INSTRUCTIONS:u", "perf::CYCLES:u", "perf::INSTRUCTIONS:k", "perf::CYCLES:k"};

std::string failed(const char* what, int code) { return std::string("PAPI: ") + what + ": " + PAPI_strerror(code); }

// The low-level interface: an event set.
class EventSet {
 public:
  // Returns the reason if it cannot be opened; otherwise an empty text.
  std::string open(int events) {
    if (const int version = PAPI_library_init(PAPI_VER_CURRENT); version != PAPI_VER_CURRENT)
      return failed("PAPI_library_init", version);
    if (const int code = PAPI_create_eventset(&set); code != PAPI_OK) return failed("PAPI_create_eventset", code);
    for (int i = 0; i < events; ++i) {
      if (const int code = PAPI_add_named_event(set, names[i]); code != PAPI_OK) return failed(names[i], code);
    }
    return {};
  }
  EventSet() = default;
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;
  ~EventSet() {
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
  }

  int set = PAPI_NULL;
  long long values[4] = {};
};

// A counter that counts nothing would be cheap to read.
std::string not_counted(const EventSet& events) {
  return events.values[0] > 0 && events.values[1] > 0 ? "" : "PAPI counted nothing";
}

std::string add_low_level(const Meter& meter, int events, Table& regions) {
  EventSet set;
  if (std::string why = set.open(events); !why.empty()) return why;
  regions.rows.push_back({"PAPI_start, PAPI_stop", "low level", cost(meter, [&] {
                            PAPI_start(set.set);
                            PAPI_stop(set.set, set.values);
                          })});
  if (const int code = PAPI_start(set.set); code != PAPI_OK) return failed("PAPI_start", code);
  regions.rows.push_back({"PAPI_read at both ends", "low level", cost(meter, [&] {
                            PAPI_read(set.set, set.values);
                            PAPI_read(set.set, set.values);
                          })});
  PAPI_stop(set.set, set.values);
  return not_counted(set);
}

// The high-level interface reads its events from the environment at the first region, and writes a file at exit.
std::string add_high_level(const Meter& meter, int events, Table& regions) {
  std::string folder = (std::filesystem::temp_directory_path() / "papi-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return "PAPI: cannot create a temporary directory for its high level";
  std::string list;
  for (int i = 0; i < events; ++i) list += (i == 0 ? "" : ",") + std::string(names[i]);
  setenv("PAPI_EVENTS", list.c_str(), 1);
  setenv("PAPI_OUTPUT_DIRECTORY", folder.c_str(), 1);
  if (const int code = PAPI_hl_region_begin("region"); code != PAPI_OK) return failed("PAPI_hl_region_begin", code);
  if (const int code = PAPI_hl_region_end("region"); code != PAPI_OK) return failed("PAPI_hl_region_end", code);
  regions.rows.push_back({"PAPI_hl_region_begin, _end", "high level", cost(meter, [] {
                            PAPI_hl_region_begin("region");
                            PAPI_hl_region_end("region");
                          })});
  PAPI_hl_stop();
  return {};
}

}  // namespace

std::string add_papi_readings(const Meter& meter, Table& readings) {
  EventSet set;
  if (std::string why = set.open(2); !why.empty()) return why;
  if (const int code = PAPI_start(set.set); code != PAPI_OK) return failed("PAPI_start", code);
  readings.rows.push_back({"PAPI_read", "low level, two events", cost(meter, [&] { PAPI_read(set.set, set.values); })});
  PAPI_stop(set.set, set.values);
  return not_counted(set);
}

std::string add_papi_regions(const Meter& meter, int events, Table& regions) {
  std::string why = add_low_level(meter, events, regions);
  return why.empty() ? add_high_level(meter, events, regions) : why;
}

}  // namespace bench
#else
namespace bench {
namespace {

constexpr const char* not_built = "PAPI: libpapi-dev was not installed at build time";

}  // namespace

std::string add_papi_readings(const Meter&, Table&) { return not_built; }
std::string add_papi_regions(const Meter&, int, Table&) { return not_built; }

}  // namespace bench
#endif
