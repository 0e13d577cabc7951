/* Regions inside regions: by names of many lengths, in some entries only, recursive, eight deep, in signal handlers. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include <tally/tally.h>

static void work(int times) {
  for (int i = 0; i < times; ++i) __asm__ volatile("nop");
}

static const int lengths[] = {1, 5, 31, 33, 64, 200};
enum { names = sizeof lengths / sizeof *lengths, deep = 8 };

static void around_names(void) {
  static char inner[names][256], outer[names][32];
  for (int i = 0; i < names; ++i) {
    memset(inner[i], 'a' + i, (size_t)lengths[i]);
    snprintf(outer[i], sizeof outer[i], "around %d", lengths[i]);
  }
  for (int entry = 0; entry < 3; ++entry) {
    for (int i = 0; i < names; ++i) {
      tally_region_begin(outer[i]);
      work(10);
      if (entry != 1) {
        tally_region_begin(inner[i]);
        work(20);
        tally_region_end(inner[i]);
      }
      tally_region_end(outer[i]);
    }
  }
}

__attribute__((noinline)) static void descend(int depth) {
  tally_region_begin("descend");
  work(10);
  if (depth > 0) descend(depth - 1);
  tally_region_end("descend");
  __asm__ volatile("");
}

static void around_recursion(void) {
  static char outer[4][32];
  for (int depth = 0; depth < 4; ++depth) snprintf(outer[depth], sizeof outer[depth], "recursive %d", depth);
  for (int entry = 0; entry < 2; ++entry) {
    for (int depth = 0; depth < 4; ++depth) {
      tally_region_begin(outer[depth]);
      descend(depth);
      tally_region_end(outer[depth]);
    }
  }
}

__attribute__((noinline)) static void enter_from(char (*name)[32], int i) {
  tally_region_begin(name[i]);
  if (i + 1 < deep) enter_from(name, i + 1);
  tally_region_end(name[i]);
  __asm__ volatile("");
}

static void inside_one_another(void) {
  static char name[deep][32];
  for (int i = 0; i < deep; ++i) snprintf(name[i], sizeof name[i], "deep %d", i);
  for (int entry = 0; entry < 2; ++entry) enter_from(name, 0);
}

static void handle(int signal) {
  (void)signal;
  tally_region_begin("handler");
  work(50);
  tally_region_end("handler");
}

/* Signals interrupt reads of the counters, too. */
static void interrupted(void) {
  handle(0);
  const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, 1500}, {0, 1500}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 20000; ++i) {
    tally_region_begin("interrupted");
    work(10);
    tally_region_end("interrupted");
  }
  setitimer(ITIMER_REAL, &never, NULL);
}

/* Begins by address and by characters, ends by the other one, and one that never ends. */
static void mixed(void) {
  for (int entry = 0; entry < 2; ++entry) {
    tally_region_begin("around mixed");
    tally_literal_begin("mixed");
    tally_region_end("mixed");
    tally_region_begin("mixed");
    tally_literal_end("mixed");
    tally_region_end("around mixed");
    tally_region_begin("around dropped");
    tally_region_begin("mixed");
    tally_region_begin("dropped");
    tally_region_end("mixed");
    tally_region_end("around dropped");
  }
}

int main(void) {
  around_names();
  mixed();
  interrupted();
  around_recursion();
  inside_one_another();
  return 0;
}
