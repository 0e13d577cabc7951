/* PAPI's low-level interface: event sets with presets and names, alone, together and in threads. */
#include <papi.h>
#include <stdio.h>
#include <string.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) sink = i;
}

static void expect(int line, const char* call, int code, int expected) {
  if (code != expected) printf("failed: line %d: %s is %d (%s)\n", line, call, code, PAPI_strerror(code));
}
#define EXPECT(call, expected) expect(__LINE__, #call, call, expected)
#define CHECK(call) EXPECT(call, PAPI_OK)

/* Counts of runs with as many rounds: 1000, 2000 and 3000. */
static void count_work(int set) {
  for (unsigned rounds = 1000; rounds <= 3000; rounds += 1000) {
    long long counts[2] = {-1, -1};
    CHECK(PAPI_start(set));
    work(rounds);
    CHECK(PAPI_stop(set, counts));
    printf("%lld %lld\n", counts[0], counts[1]);
  }
}

static void read_while_it_runs(int set) {
  long long first[2], second[2], sum[2] = {5, 5}, last[2];
  CHECK(PAPI_start(set));
  work(1000);
  CHECK(PAPI_read(set, first));
  work(1000);
  CHECK(PAPI_read(set, second));
  CHECK(PAPI_reset(set));
  work(1000);
  CHECK(PAPI_accum(set, sum));
  work(1000);
  CHECK(PAPI_accum(set, sum));
  CHECK(PAPI_stop(set, NULL));
  CHECK(PAPI_read(set, last));
  printf("read %lld %lld %lld %lld\n", first[0], second[0], sum[0], last[0]);
  CHECK(PAPI_reset(set));
  CHECK(PAPI_read(set, last));
  if (last[0] != 0) printf("failed: not zero after the reset\n");
}

/* Counts are those of the thread that starts a set: others cannot read them. */
static void read_in_threads(int set) {
  int readers = 0;
  CHECK(PAPI_start(set));
#pragma omp parallel num_threads(2) reduction(+ : readers)
  {
    long long counts[2];
    if (PAPI_read(set, counts) == PAPI_OK) readers++;
  }
  CHECK(PAPI_stop(set, NULL));
  if (readers != 1) printf("failed: %d threads can read the set\n", readers);
}

static void check_errors(void) {
  int set = PAPI_NULL, code = 0;
  long long counts[8];
  char name[PAPI_MAX_STR_LEN];
  EXPECT(PAPI_start(set), PAPI_ENOEVST);
  EXPECT(PAPI_add_event(7000, PAPI_TOT_INS), PAPI_ENOEVST);
  CHECK(PAPI_create_eventset(&set));
  EXPECT(PAPI_start(set), PAPI_EINVAL);
  EXPECT(PAPI_stop(set, counts), PAPI_ENOTRUN);
  EXPECT(PAPI_add_event(set, PAPI_FP_OPS), PAPI_ENOEVNT);
  EXPECT(PAPI_add_event(set, 12345), PAPI_ENOEVNT);
  EXPECT(PAPI_add_named_event(set, "instructionz"), PAPI_ENOEVNT);
  if (strstr(PAPI_strerror(PAPI_ENOEVNT), "instructionz") == NULL) printf("failed: no reason\n");
  EXPECT(PAPI_query_named_event("instructions,branches"), PAPI_ENOEVNT);
  CHECK(PAPI_add_event(set, PAPI_TOT_INS));
  EXPECT(PAPI_add_event(set, PAPI_TOT_INS), PAPI_ECNFLCT);
  EXPECT(PAPI_num_events(set), 1);
  EXPECT(PAPI_destroy_eventset(&set), PAPI_EINVAL);
  CHECK(PAPI_start(set));
  EXPECT(PAPI_start(set), PAPI_EISRUN);
  EXPECT(PAPI_add_event(set, PAPI_BR_INS), PAPI_EISRUN);
  EXPECT(PAPI_cleanup_eventset(set), PAPI_EISRUN);
  CHECK(PAPI_stop(set, counts));
  CHECK(PAPI_cleanup_eventset(set));
  CHECK(PAPI_destroy_eventset(&set));
  EXPECT(set, PAPI_NULL);
  CHECK(PAPI_event_name_to_code("PAPI_BR_CN", &code));
  EXPECT(code, PAPI_BR_CN);
  CHECK(PAPI_event_code_to_name(PAPI_LD_INS, name));
  EXPECT(strcmp(name, "PAPI_LD_INS"), 0);
  CHECK(PAPI_event_name_to_code("returns", &code));
  CHECK(PAPI_event_code_to_name(code, name));
  EXPECT(strcmp(name, "returns"), 0);
}

static void check_times(void) {
  const long long usec = PAPI_get_real_usec(), nsec = PAPI_get_real_nsec(), cycles = PAPI_get_real_cyc();
  const long long virtual_usec = PAPI_get_virt_usec();
  work(1000000);
  if (PAPI_get_real_usec() <= usec || PAPI_get_real_nsec() <= nsec || PAPI_get_real_cyc() <= cycles ||
      PAPI_get_virt_usec() <= virtual_usec)
    printf("failed: a time does not advance\n");
}

int main(void) {
  int events[] = {PAPI_TOT_INS, PAPI_BR_INS}, set = PAPI_NULL;
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return 1;
  printf("instructions: %d, cycles: %d, counters: %d\n", PAPI_query_event(PAPI_TOT_INS), PAPI_query_event(PAPI_TOT_CYC),
         PAPI_num_hwctrs());
  if (PAPI_query_event(PAPI_TOT_INS) != PAPI_OK) {
    printf("%s\n", PAPI_strerror(PAPI_ENOEVNT));
    return 0;
  }
  CHECK(PAPI_create_eventset(&set));
  CHECK(PAPI_add_events(set, events, 2));
  count_work(set);
  read_while_it_runs(set);
  read_in_threads(set);
#pragma omp parallel num_threads(2)
  {
    int own = PAPI_NULL;
    long long count = 0;
    CHECK(PAPI_create_eventset(&own));
    CHECK(PAPI_add_named_event(own, "PAPI_TOT_INS"));
    CHECK(PAPI_start(own));
    work(1000);
    CHECK(PAPI_stop(own, &count));
    if (count < 3000 || count > 6000) printf("failed: %lld in a thread\n", count);
  }
  check_errors();
  check_times();
  PAPI_shutdown();
  EXPECT(PAPI_start(set), PAPI_ENOEVST);
  puts("done");
  return 0;
}
