/* PAPI's high-level calls over tally's regions: programs that call PAPI_hl_region_begin() and the like are counted by
 * tally.
 *
 *     cc -I PREFIX/include/tally/compat/papi prog.c -L PREFIX/lib/tally/compat -lpapi
 *     tally stat -e instructions,branches -- ./prog
 *
 * The low-level interface (event sets) does not exist here. See docs/guides/from-papi.md. */
#ifndef PAPI_H
#define PAPI_H

/* Called directly: the dynamic linker would resolve the name at the first call, within a region. */
#if defined(__GNUC__) && !defined(__clang__)
#define TALLY_COMPAT_API __attribute__((noplt))
#else
#define TALLY_COMPAT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PAPI_OK 0
#define PAPI_EINVAL (-1)
#define PAPI_EMISC (-14)

#define PAPI_VERSION_NUMBER(major, minor, revision, increment) \
  ((major) << 24 | (minor) << 16 | (revision) << 8 | (increment))
#define PAPI_VER_CURRENT 0x07000000

/** Begin and end a region of the calling thread. Return PAPI_OK; PAPI_EMISC if nothing can be counted, or no region of
 * this name is open. */
TALLY_COMPAT_API int PAPI_hl_region_begin(const char* region);
TALLY_COMPAT_API int PAPI_hl_region_end(const char* region);

/** Begins a region within an open one, "NAME, after read N", that ends at the next read or at the end of NAME. Returns
 * as the others do. */
TALLY_COMPAT_API int PAPI_hl_read(const char* region);

/** Does nothing: regions count until the program ends. Returns PAPI_OK. */
TALLY_COMPAT_API int PAPI_hl_stop(void);

/** Returns `version`: the high-level calls need no initialisation. */
TALLY_COMPAT_API int PAPI_library_init(int version);

/** Returns the reason why the calling thread's last call failed, if `code` is not PAPI_OK. */
TALLY_COMPAT_API const char* PAPI_strerror(int code);

#ifdef __cplusplus
}
#endif

#endif
