/* Regions marked for PAPI's high-level interface: nested, read in between, in several threads. */
#include <papi.h>
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) sink = i;
}

static void check(int code) {
  if (code != PAPI_OK) printf("failed: %s\n", PAPI_strerror(code));
}

int main(void) {
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return 1;
  for (int i = 0; i < 2; i++) {
    check(PAPI_hl_region_begin("computation"));
    work(1000);
    check(PAPI_hl_read("computation"));
    work(500);
    check(PAPI_hl_read("computation"));
    check(PAPI_hl_region_begin("inner"));
    work(100);
    check(PAPI_hl_region_end("inner"));
    check(PAPI_hl_region_end("computation"));
  }
#pragma omp parallel num_threads(3)
  {
    check(PAPI_hl_region_begin("team"));
    work(2000);
    check(PAPI_hl_region_end("team"));
  }
  printf("unknown: %d\n", PAPI_hl_region_end("unknown") != PAPI_OK);
  return PAPI_hl_stop();
}
