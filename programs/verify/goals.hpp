// The goals (docs/guides/verify.md lists them), and the functions that check them.
#pragma once

#include <vector>

#include "programs/verify/judge.hpp"

namespace tally::verify {

/// The input of all goals.
struct Scene {
  Bench& bench;
  const Ledger& ledger;
  bool quick = false;
};

/// G0: whether the counters count at all. Checked before anything else.
Result<std::vector<result::Check>> alive(Bench& bench, const std::vector<event::Event>& events);

/// Checks the counts of the ledger's programs: G1 to G7, G10, G12, G14, T1, T2.
std::vector<result::Check> from_ledger(const Scene& scene);

/// Checks repeated runs: G20, G21.
std::vector<result::Check> repeated(const Scene& scene);

/// Goals with executions of their own. Each is inconclusive, with the reason, if something that it needs is missing.
Result<std::vector<result::Check>> region_by_reads(const Scene& scene);   // G11
Result<std::vector<result::Check>> slopes(const Scene& scene);            // G12, G13
Result<std::vector<result::Check>> strides(const Scene& scene);           // G15
Result<std::vector<result::Check>> filter(const Scene& scene);            // G16
Result<std::vector<result::Check>> samples(const Scene& scene);           // G17, G18
Result<std::vector<result::Check>> multiplexing(const Scene& scene);      // G19
Result<std::vector<result::Check>> widths(const Scene& scene);            // G22
Result<std::vector<result::Check>> retired_accesses(const Scene& scene);  // G8, G9
Result<std::vector<result::Check>> page_faults(const Scene& scene);       // T6
Result<std::vector<result::Check>> intervals(const Scene& scene);         // T3
std::vector<result::Check> inheritance(const Scene& scene);               // G23
std::vector<result::Check> consistency(const Scene& scene);               // T4

/// The grades of all events.
std::vector<result::GradedEvent> grades(const Scene& scene, const std::vector<result::Check>& checks,
                                        const Ledger& speculative);

}  // namespace tally::verify
