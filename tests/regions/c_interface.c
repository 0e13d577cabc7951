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

int main(int argc, char** argv) {
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
