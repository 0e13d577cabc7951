/* The functions of LIKWID's marker API, over tally's regions: see likwid-marker.h; and other calls that marked
 * programs make. The rest of LIKWID's library does not exist here. */
#ifndef LIKWID_H
#define LIKWID_H

/* Called directly: the dynamic linker would resolve the name at the first call, within a region. */
#if defined(__GNUC__) && !defined(__clang__)
#define TALLY_COMPAT_API __attribute__((noplt))
#else
#define TALLY_COMPAT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Opens the counters, so that no region contains that. */
TALLY_COMPAT_API void likwid_markerInit(void);

/** Opens the counters of the calling thread. Optional, as in LIKWID since 5.0. */
TALLY_COMPAT_API void likwid_markerThreadInit(void);

/** Does nothing: tally counts one set of events. */
TALLY_COMPAT_API void likwid_markerNextGroup(void);

/** Does nothing: the first entry into a region takes no part in its counts. Returns 0. */
TALLY_COMPAT_API int likwid_markerRegisterRegion(const char* name);

/** Begin and end a region of the calling thread. Return 0, or a negative number if nothing can be counted, or no region
 * of this name is open. */
TALLY_COMPAT_API int likwid_markerStartRegion(const char* name);
TALLY_COMPAT_API int likwid_markerStopRegion(const char* name);

/** Writes the calling thread's counts of a region: at most *room events, in the order of TALLY_EVENTS or of `tally stat
 * -e`; *room becomes the number written. A count that is absent is NaN. `seconds`: the time in the region; `entries`:
 * how often it ended. Each pointer may be null. */
TALLY_COMPAT_API void likwid_markerGetRegion(const char* name, int* room, double* counts, double* seconds,
                                             int* entries);

/** Discards the calling thread's counts of a region. Returns 0, or a negative number while it is open. */
TALLY_COMPAT_API int likwid_markerResetRegion(const char* name);

/** Does nothing: `tally stat` or TALLY_OUTPUT shows the regions when the program ends. */
TALLY_COMPAT_API void likwid_markerClose(void);

/** Returns the number of the processor that the calling thread runs on; if it is pinned to one, of that. */
TALLY_COMPAT_API int likwid_getProcessorId(void);

/** Pin the calling thread, or the main thread of the process, to a processor. Return 1, or 0 on failure. */
TALLY_COMPAT_API int likwid_pinThread(int processorId);
TALLY_COMPAT_API int likwid_pinProcess(int processorId);

/** The set of events is one group, with the number 0. */
TALLY_COMPAT_API int perfmon_getNumberOfGroups(void);
TALLY_COMPAT_API int perfmon_getIdOfActiveGroup(void);

/** Return the number of events in the group, and the name of one: "instructions:u"; empty if there is no such group or
 * event. The text is valid until the thread's next call. */
TALLY_COMPAT_API int perfmon_getNumberOfEvents(int group);
TALLY_COMPAT_API char* perfmon_getEventName(int group, int event);

/** Returns "Custom", LIKWID's name of a group that is a list of events. */
TALLY_COMPAT_API char* perfmon_getGroupName(int group);

/** The group computes no metrics: 0, "" and NaN. `tally stat` shows the metrics of regions. */
TALLY_COMPAT_API int perfmon_getNumberOfMetrics(int group);
TALLY_COMPAT_API char* perfmon_getMetricName(int group, int metric);
TALLY_COMPAT_API int perfmon_getMetricsOfRegion(int region);
TALLY_COMPAT_API double perfmon_getMetricOfRegionThread(int region, int metric, int thread);

/** Returns a thread's count of an event in the region that the thread ended last; NaN if it is absent. Threads have
 * their OpenMP numbers; other threads are numbered from 0 in the order of their kernel IDs. */
TALLY_COMPAT_API double perfmon_getResult(int group, int event, int thread);

/** Keeps the results of this process's regions for the functions below. tally writes no marker file: `file` is not
 * read. Returns the number of regions that have entries, or a negative number if nothing can be counted. */
TALLY_COMPAT_API int perfmon_readMarkerFile(const char* file);
TALLY_COMPAT_API void perfmon_destroyMarkerResults(void);

/** What was kept, by the number of the region, in the order of first entries; 0, "" or NaN if there is none. */
TALLY_COMPAT_API int perfmon_getNumberOfRegions(void);
TALLY_COMPAT_API int perfmon_getGroupOfRegion(int region);
TALLY_COMPAT_API char* perfmon_getTagOfRegion(int region);
TALLY_COMPAT_API int perfmon_getEventsOfRegion(int region);
TALLY_COMPAT_API int perfmon_getThreadsOfRegion(int region);
TALLY_COMPAT_API int perfmon_getCountOfRegion(int region, int thread);
TALLY_COMPAT_API double perfmon_getTimeOfRegion(int region, int thread);
TALLY_COMPAT_API double perfmon_getResultOfRegionThread(int region, int event, int thread);

#ifdef __cplusplus
}
#endif

#include "likwid-marker.h"

#endif
