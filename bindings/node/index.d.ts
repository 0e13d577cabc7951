/** A count of an event. */
export interface Count {
  /** The full name: "instructions:u". */
  readonly event: string;
  /** Null if there is no number. Exact up to 2^53. */
  readonly value: number | null;
  readonly trust: 'exact' | 'counted' | 'modelled' | 'partial' | 'absent';
  readonly unit: 'events' | 'ns' | 'bytes';
  /** Why it is absent or partial; otherwise empty. */
  readonly reason: string;
}

/** The counts of several events, by name: get("instructions") and get("instructions:u") return the same. */
export interface Counts extends ReadonlyMap<string, Count> {}

/** A region's counts so far, over all threads. */
export interface Region {
  readonly name: string;
  readonly entries: number;
  /** The sum over all entries. */
  readonly counts: Counts;
  /** Why it was not counted: it then has no entries and no counts. */
  readonly reason: string;
}

/** A failure: `message` says what failed, and `hint`, which is a part of it, what to do. */
export class TallyError extends Error {
  readonly hint: string;
}

/**
 * Calls a function in a region of the calling thread, and returns what it returns. Regions may nest and recurse. If
 * nothing can be counted here, the function runs without counts, and regions() returns the reason; warns once if
 * libtally cannot be loaded. Throws TypeError for an asynchronous function or a generator, without calling it, and for
 * a function that returned a promise.
 */
export function region<T>(name: string, call: () => T): T;

/**
 * Counts one call of a function in the calling thread; `returned` is what it returned.
 *
 * `events`: names as in `tally stat -e`. Without them: those of TALLY_EVENTS, else those of the `tally stat` that runs
 * the program, else instructions and cycles. A count that is not available here is absent, with the reason. Throws
 * TallyError for an unknown event or without libtally, and TypeError as region() does.
 */
export function count<T>(call: () => T, events?: string | readonly string[]): Counts & { readonly returned: T };

/**
 * Returns the regions of the process so far, by name. A region that could not be counted has no entries, and the
 * reason. Throws TallyError without libtally, unless a region was entered.
 */
export function regions(): ReadonlyMap<string, Region>;
