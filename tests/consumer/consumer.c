#define TALLY_ENABLE
#include <stdio.h>
#include <tally/tally.h>

int main(int argc, char** argv) {
  if (tally_region_begin("by C") != 0) {
    printf("%s\n", tally_error());
    return 77;
  }
  TALLY_BEGIN("within");
  TALLY_END("within");
  return tally_region_end("by C") == 0 && tally_dump(argc > 1 ? argv[1] : "table") == 0 ? 0 : 1;
}
