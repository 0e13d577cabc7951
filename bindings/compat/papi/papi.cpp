// PAPI's high-level functions over tally's regions, for C and Fortran.
#include "bindings/compat/papi/papi.h"

#include <string>
#include <vector>

#include "bindings/compat/fortran_name.hpp"
#include "tally/library/tally.h"

namespace {

// The reads of an open region of this thread.
struct Reads {
  std::string region;
  int count = 0;
  std::string part = {};  // the region within it that the last read began, and that is still open
};
// Null until the thread's first read; never freed. So a region that ends does not initialise it.
thread_local constinit std::vector<Reads>* reads __attribute__((tls_model("initial-exec"))) = nullptr;

bool has_reads(const char* region) { return reads != nullptr && !reads->empty() && reads->back().region == region; }

int code_of(int result) { return result == 0 ? PAPI_OK : PAPI_EMISC; }

}  // namespace

int PAPI_hl_region_begin(const char* region) { return code_of(tally_region_begin(region)); }

int PAPI_hl_region_end(const char* region) {
  if (has_reads(region)) {
    (void)tally_region_end(reads->back().part.c_str());
    reads->pop_back();
  }
  return code_of(tally_region_end(region));
}

int PAPI_hl_read(const char* region) {
  if (reads == nullptr) reads = new std::vector<Reads>;
  if (has_reads(region))
    (void)tally_region_end(reads->back().part.c_str());
  else
    reads->push_back({region});
  Reads& all = reads->back();
  all.part = all.region + ", after read " + std::to_string(++all.count);
  return code_of(tally_region_begin(all.part.c_str()));
}

int PAPI_hl_stop() { return PAPI_OK; }

int PAPI_library_init(int version) { return version; }

int PAPI_thread_init(unsigned long (*)()) { return PAPI_OK; }

// What Fortran's compilers call: the code comes last, before the hidden length of the name.
extern "C" {
using tally::compat::fortran_name;

void papif_hl_region_begin_(const char* region, int* code, std::size_t length) {
  *code = PAPI_hl_region_begin(fortran_name(region, length).c_str());
}
void papif_hl_region_end_(const char* region, int* code, std::size_t length) {
  *code = PAPI_hl_region_end(fortran_name(region, length).c_str());
}
void papif_hl_read_(const char* region, int* code, std::size_t length) {
  *code = PAPI_hl_read(fortran_name(region, length).c_str());
}
void papif_hl_stop_(int* code) { *code = PAPI_hl_stop(); }
void papif_library_init_(int* version) { *version = PAPI_library_init(*version); }
}
