/* What tally.h promises, in a C program. The first argument selects the case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

static int failed(const char* what) {
  printf("%s: %s\n", what, tally_error());
  return 1;
}

static void recurse(int depth) {
  TALLY_BEGIN("recursive");
  if (depth > 1) recurse(depth - 1);
  TALLY_END("recursive");
}

/* The same buffer holds one name after the other. */
static void made_names(void) {
  char name[] = "made 0";
  for (int i = 0; i < 6; ++i) {
    name[5] = (char)('0' + i % 2);
    if (tally_region_begin(name) != 0 || tally_region_end(name) != 0) exit(failed(name));
  }
}

static void deep(void) {
  char name[] = "deep 000";
  for (int i = 0; i < 200; ++i) {
    snprintf(name, sizeof name, "deep %03d", i);
    tally_region_begin(name);
  }
  for (int i = 199; i >= 0; --i) {
    snprintf(name, sizeof name, "deep %03d", i);
    if (tally_region_end(name) != 0) exit(failed(name));
  }
}

/* What two readings differ by, after three thousand more instructions or none. Prints the counts. */
static int readings(void) {
  tally_counters* const counters = tally_open("instructions,L1-load-hits,page-faults");
  if (counters == NULL) return failed("open");
  tally_count before[8], after[8];
  for (int rounds = 0; rounds <= 1000; rounds += 1000) {
    for (int i = 0; i < 3; ++i) {
      (void)tally_read(counters, before, 8);
      for (volatile int j = 0; j < rounds;) j = j + 1;
      if (tally_read(counters, after, 8) != 3) return failed("three events");
    }
    for (int i = 0; i < 3; ++i)
      printf("%s %lld %s %s %s\n", after[i].event, after[i].value - before[i].value, after[i].unit, after[i].trust,
             after[i].reason);
  }
  tally_close(counters);
  return 0;
}

/* The counts of regions, and the errors. */
static int counts_of_regions(void) {
  tally_region_count count;
  if (tally_count_region("counted", "instructions", &count) != -1 || strstr(tally_error(), "'counted'") == NULL ||
      strstr(tally_hint(), "enter it") == NULL)
    return failed("count of a region that was not entered");
  for (int i = 1; i <= 3; ++i) {
    (void)tally_region_begin("counted");
    for (volatile int j = 0; j < 1000 * i;) j = j + 1;
    (void)tally_region_end("counted");
  }
  for (const char* const* event = (const char* const[]){"instructions", "instructions:u", "loads", NULL}; *event;
       ++event) {
    if (tally_count_region("counted", *event, &count) != 0) return failed("count of a region");
    printf("%s %lld %lld %lld %lld %s %s\n", count.total.event, count.entries, count.total.value, count.least,
           count.most, count.total.trust, count.total.reason);
  }
  if (tally_count_region("counted", "instructionz", &count) != -1 || strstr(tally_error(), "instructionz") == NULL)
    return failed("count of an unknown event");
  if (tally_open("instructionz") != NULL || strstr(tally_error(), "instructionz") == NULL || *tally_hint() == 0)
    return failed("open of an unknown event");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "readings") == 0) return readings();
  if (argc > 1 && strcmp(argv[1], "counts") == 0) return counts_of_regions();
  if (tally_region_begin("never ended") != 0) return failed("begin") + 76;
  tally_region_begin("first");
  recurse(4);
  made_names();
  deep();
  TALLY_BEGIN("dropped");
  TALLY_BEGIN("around");
  TALLY_BEGIN("dropped");
  if (tally_region_end("around") != 0) return failed("end of what has an open region within");
  if (tally_region_end("around") != -1 || strstr(tally_error(), "'around' is open") == NULL)
    return failed("second end");
  if (tally_dump("nowhere.txt") != -1 || strstr(tally_error(), "nowhere.txt") == NULL) return failed("dump to .txt");
  TALLY_END("dropped");
  if (tally_region_end("first") != 0) return failed("end of the first");
  if (argc > 1 && tally_dump(argv[1]) != 0) return failed("dump");
  return 0;
}
