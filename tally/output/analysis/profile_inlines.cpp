#include "tally/output/analysis/profile_inlines.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "tally/output/result/call_sums.hpp"

namespace tally::report {
namespace {

using result::CodeCall;
using result::Profile;
using result::ProfileCall;
using result::ProfileInline;

/// What of a function's counts is of each inlined one (or of none), all its stacks together.
struct Part {
  std::uint32_t inlined = ProfileInline::none;
  std::vector<std::int64_t> left;  // not given to a stack yet
};
struct Parts {
  std::vector<Part> parts;
  std::vector<std::int64_t> left;  // of all parts
};

class Inliner {
 public:
  explicit Inliner(const Profile& profile) : from_(profile), events_(profile.event_count()) {}

  Profile made() {
    made_ = from_;
    made_.inlines_apart = true;
    made_.calls.clear();
    made_.self.clear();
    collect_parts();
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) add(i);
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) share_out(i);
    made_.inclusive = result::inclusive_counts(made_.calls, made_.self, events_);
    for (result::ProfileRow& row : made_.rows)
      if (row.inlined != ProfileInline::none) row.function = from_.inlines[row.inlined].function;
    sort_rows();
    return std::move(made_);
  }

 private:
  void collect_parts() {
    for (std::size_t i = 0; i < from_.rows.size() && !from_.calls.empty(); ++i) {
      const result::ProfileRow& row = from_.rows[i];
      Parts& parts = parts_[{row.owner, row.function}];
      auto part = std::find_if(parts.parts.begin(), parts.parts.end(),
                               [&](const Part& one) { return one.inlined == row.inlined; });
      if (part == parts.parts.end()) part = parts.parts.insert(part, {row.inlined, std::vector<std::int64_t>(events_)});
      parts.left.resize(events_);
      for (std::size_t e = 0; e < events_; ++e) {
        part->left[e] += from_.count(i, e);
        parts.left[e] += from_.count(i, e);
      }
    }
  }

  std::uint32_t append(const ProfileCall& call) {
    made_.calls.push_back(call);
    made_.self.resize(made_.calls.size() * events_);
    return static_cast<std::uint32_t>(made_.calls.size() - 1);
  }

  /// The place in a stack of an inlined function below what holds it; `call` is the place of the function itself.
  std::uint32_t place_of(std::uint32_t owner, std::uint32_t call, std::uint32_t function, std::uint32_t inlined) {
    if (inlined == ProfileInline::none) return call;
    const ProfileInline& code = from_.inlines[inlined];
    const auto known = inlined_places_.find({owner, call, inlined});
    if (known != inlined_places_.end()) return known->second;
    ProfileCall made;
    made.owner = owner;
    made.parent = place_of(owner, call, function, code.parent);
    made.caller = code.parent == ProfileInline::none ? function : from_.inlines[code.parent].function;
    made.callee = code.function;
    made.source = code.source;
    made.line = code.line;
    const std::uint32_t place = append(made);
    return inlined_places_[{owner, call, inlined}] = place;
  }

  void add(std::uint32_t i) {
    const ProfileCall& call = from_.calls[i];
    ProfileCall made = call;
    const std::uint32_t parent = call.parent == CodeCall::no_parent ? call.parent : places_[call.parent];
    // Of a recursive function all stands below the outermost call.
    made.parent = place_of(call.owner, parent, call.caller, call.inlined);
    if (call.inlined != ProfileInline::none) made.caller = from_.inlines[call.inlined].function;
    places_.push_back(append(made));
    for (std::size_t e = 0; e < events_; ++e) made_.self[places_[i] * events_ + e] = from_.self[i * events_ + e];
  }

  /// Gives the inlined functions of a call their part of what it counted itself. What is left of each is what the calls
  /// behind this one have: the last one takes it to the last count.
  void share_out(std::uint32_t i) {
    const ProfileCall& call = from_.calls[i];
    const auto known = parts_.find({call.owner, call.callee});
    if (known == parts_.end()) return;
    Parts& parts = known->second;
    if (parts.parts.size() == 1 && parts.parts.front().inlined == ProfileInline::none) return;
    for (std::size_t e = 0; e < events_; ++e) {
      // What was reached from there by jumps has its own rows, and is not of this function.
      const std::int64_t mine = std::clamp<std::int64_t>(from_.self[i * events_ + e], 0, parts.left[e]);
      std::int64_t to_give = mine, of = parts.left[e];
      for (Part& part : parts.parts) {
        if (of <= 0) break;
        const auto given = static_cast<std::int64_t>(static_cast<__int128>(part.left[e]) * to_give / of);
        of -= part.left[e];
        part.left[e] -= given;
        to_give -= given;
        if (part.inlined == ProfileInline::none || given == 0) continue;
        const std::uint32_t place = place_of(call.owner, places_[i], call.callee, part.inlined);
        made_.self[place * events_ + e] += given;
        made_.self[places_[i] * events_ + e] -= given;
      }
      parts.left[e] -= mine;
    }
  }

  void sort_rows() {
    std::vector<std::size_t> order(made_.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      const result::ProfileRow& row = made_.rows[i];
      return std::tuple(row.owner, row.function, row.address);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<result::ProfileRow> rows;
    std::vector<std::int64_t> counts, samples;
    for (const std::size_t i : order) {
      rows.push_back(made_.rows[i]);
      for (std::size_t e = 0; e < events_; ++e) counts.push_back(made_.count(i, e));
      for (std::size_t e = 0; made_.is_sampled() && e < events_; ++e) samples.push_back(made_.samples[i * events_ + e]);
    }
    made_.samples = std::move(samples);
    made_.rows = std::move(rows);
    made_.counts = std::move(counts);
  }

  const Profile& from_;
  std::size_t events_;
  Profile made_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Parts> parts_;  // by owner and function
  std::vector<std::uint32_t> places_;                               // of each call, its place in made_
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> inlined_places_;
};

}  // namespace

Profile with_inlined_functions(const Profile& profile) { return Inliner(profile).made(); }

}  // namespace tally::report
