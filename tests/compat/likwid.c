/* Regions marked for LIKWID: nested, in several threads, read by the program; and the same work as a region of tally.
 */
#include <likwid-marker.h>
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned rounds) {
  for (unsigned i = 0; i < rounds; i++) sink = i;
}

static void print(const char* name) {
  double counts[8] = {0}, seconds = -1;
  int room = 8, entries = -1;
  LIKWID_MARKER_GET(name, &room, counts, &seconds, &entries);
  printf("%s: %d events, %.0f, %d entries, %s\n", name, room, counts[0], entries,
         seconds > 0 && seconds < 60 ? "some time"
         : seconds == 0              ? "no time"
                                     : "?");
}

int main(void) {
  LIKWID_MARKER_INIT;
  LIKWID_MARKER_REGISTER("inner");
  for (int i = 0; i < 3; i++) {
    LIKWID_MARKER_START("outer");
    LIKWID_MARKER_START("inner");
    work(1000);
    LIKWID_MARKER_STOP("inner");
    LIKWID_MARKER_STOP("outer");
    LIKWID_MARKER_SWITCH;
  }
  tally_region_begin("tally's own");
  work(1000);
  tally_region_end("tally's own");
#pragma omp parallel num_threads(3)
  {
    LIKWID_MARKER_THREADINIT;
    LIKWID_MARKER_START("team");
    work(2000);
    LIKWID_MARKER_STOP("team");
  }
  print("inner");
  print("team");
  print("never entered");
  printf("last: %.0f of group %s, absent: %.0f\n", perfmon_getResult(0, 0, 0), perfmon_getGroupName(0),
         perfmon_getResult(0, 8, 0));
  LIKWID_MARKER_START("emptied");
  LIKWID_MARKER_STOP("emptied");
  LIKWID_MARKER_RESET("emptied");
  print("emptied");
  printf("unknown: %d\n", likwid_markerStopRegion("unknown") < 0);
  const int processor = likwid_getProcessorId();
  printf("pinned: %d, %d, processor %d of %d\n", likwid_pinThread(processor), likwid_pinProcess(processor),
         likwid_getProcessorId() == processor, processor >= 0);
  printf("not pinned: %d, %d\n", likwid_pinThread(-1), likwid_pinProcess(1000000));
  for (int group = 0; group < perfmon_getNumberOfGroups(); group++)
    for (int event = 0; event < perfmon_getNumberOfEvents(group); event++)
      printf("event %d: %s\n", event, perfmon_getEventName(group, event));
  printf("no event: '%s'\n", perfmon_getEventName(perfmon_getIdOfActiveGroup(), 8));
  LIKWID_MARKER_CLOSE;
  const int regions = perfmon_readMarkerFile("no file is read");
  printf("regions: %d, %d metrics\n", regions == perfmon_getNumberOfRegions() ? regions : -1,
         perfmon_getNumberOfMetrics(perfmon_getGroupOfRegion(0)));
  for (int i = 0; i < regions; i++)
    for (int thread = 0; thread < perfmon_getThreadsOfRegion(i); thread++)
      printf("result of %s in thread %d: %d entries, %s, %d events, %.0f\n", perfmon_getTagOfRegion(i), thread,
             perfmon_getCountOfRegion(i, thread), perfmon_getTimeOfRegion(i, thread) > 0 ? "some time" : "no time",
             perfmon_getEventsOfRegion(i), perfmon_getResultOfRegionThread(i, 0, thread));
  perfmon_destroyMarkerResults();
  printf("after that: %d\n", perfmon_getNumberOfRegions());
  return 0;
}
