#include "tally/engine/instrument/sites.hpp"

#include <initializer_list>

#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::instrument {
namespace {

// A mispredicted jump costs about ten of the instructions that a well predicted one saves; at a line of code it saves
// fewer.
constexpr u64 unstable_share = 10, unstable_share_of_lines = 50;

struct Site {
  u32 before, now;  // counts at the last judgement and now
  bool unstable;

  bool is_unstable(u64 share, u64 executions) const { return u64{now - before} * share > executions; }
};
LARGE Site sites[site_count];

static_assert(sites_at >= actions_at + sizeof(Actions) && sites_at + site_count * sizeof(u32) <= touched_at);

}  // namespace

void sites_count_up() {
  for (Site& site : sites) site.now = 0;
  for (const Thread* t = threads(); t != nullptr; t = t->next) {
    const u32* const counted = reinterpret_cast<const u32*>(reinterpret_cast<u64>(t) + sites_at);
    for (u32 i = 0; i < site_count; i++) sites[i].now += counted[i];
  }
  // The counts of ended threads are missing, and so are their executions.
  for (Site& site : sites)
    if (site.now < site.before) site.before = site.now;
}

void sites_forget(Thread* t) {
  discard_pages(reinterpret_cast<const void*>(reinterpret_cast<u64>(t) + sites_at), site_count * sizeof(u32));
}

void sites_after_fork() {
  for (Site& site : sites) site.before = site.now = 0;
}

void record_unstable(u64 pc, u32 k) { sites[site_of(pc, k)].unstable = true; }

bool has_become_unstable(u64 pc, u64 executions) {
  for (const u32 k : {0u, 1u}) {
    const Site& site = sites[site_of(pc, k)];
    if (!site.unstable && site.is_unstable(unstable_share, executions)) return true;
  }
  return false;
}

u8 unstable_sites(const Instruction& in, u32 accesses, bool new_line, u64 executions) {
  if (!model_plan.goes_by_sites) return every_site;
  u8 unstable = 0;
  const auto judge = [&](u32 k, u64 share) {
    Site& site = sites[site_of(in.pc, k)];
    if (executions != 0) {
      site.unstable |= site.is_unstable(share, executions);
      site.before = site.now;
    }
    if (!site.unstable) return;
    unstable |= static_cast<u8>(1 << k);
    recorder.fix_at(Fix::unstable, nullptr, in.pc, k);
  };
  for (u32 k = 0; k < accesses; k++) judge(k, unstable_share);
  if (new_line) judge(line_site, unstable_share_of_lines);
  return unstable;
}

}  // namespace tally::engine::instrument
