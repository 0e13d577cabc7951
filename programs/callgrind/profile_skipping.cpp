#include "programs/callgrind/profile_skipping.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "programs/callgrind/kept_calls.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/tail_calls.hpp"
#include "tally/output/analysis/take_share.hpp"

namespace tally::callgrind {
namespace {

using Counts = std::vector<std::int64_t>;
constexpr std::uint32_t no_parent = result::CodeCall::no_parent;

/// Finds the chosen functions. An entry of a linkage table (FUNCTION@plt) is a part of its function.
class Choice {
 public:
  Choice(const result::Profile& profile, const FunctionChoice& choice) {
    std::vector<bool> is_chosen_object;
    for (const result::ProfileObject& object : profile.objects)
      is_chosen_object.push_back(std::any_of(choice.objects.begin(), choice.objects.end(),
                                             [&](const std::string& path) { return is_file_at(object, path); }));
    std::map<std::string, std::uint32_t> chosen;
    std::set<std::string> others;
    for (std::uint32_t i = 0; i < profile.functions.size(); ++i) {
      const result::ProfileFunction& function = profile.functions[i];
      const bool is_it = (is_chosen_object[function.object] && !is_in_linkage_table(function)) ||
                         output::matches_any(choice.functions, function);
      whole_.push_back(i);
      is_chosen_.push_back(is_it);
      if (is_it)
        chosen.emplace(linker_name(function), i);
      else
        others.insert(linker_name(function));
    }
    for (std::uint32_t i = 0; i < profile.functions.size(); ++i) {
      std::string name = linker_name(profile.functions[i]);
      if (!name.ends_with(linked)) continue;
      name.resize(name.size() - linked.size());
      const auto function = chosen.find(name);
      if (function == chosen.end() || others.contains(name)) continue;
      is_chosen_[i] = true;
      whole_[i] = function->second;
      entries_.emplace(function->second, i);
    }
  }

  bool is_chosen(std::uint32_t function) const { return is_chosen_[function]; }
  /// The function that the function is a part of: of most, itself.
  std::uint32_t whole(std::uint32_t function) const { return whole_[function]; }
  /// The entry of a chosen function in a linkage table, if it ran.
  std::optional<std::uint32_t> entry(std::uint32_t function) const {
    const auto known = entries_.find(function);
    return known == entries_.end() ? std::nullopt : std::optional(known->second);
  }

 private:
  static constexpr std::string_view linked = "@plt";

  /// Calls through a linkage table are calls of functions of other objects.
  static bool is_in_linkage_table(const result::ProfileFunction& function) {
    return function.name.ends_with(linked) || function.name.starts_with("[.plt");
  }

  static const std::string& linker_name(const result::ProfileFunction& function) {
    return function.linker_name.empty() ? function.name : function.linker_name;
  }

  std::vector<bool> is_chosen_;
  std::vector<std::uint32_t> whole_;
  std::map<std::uint32_t, std::uint32_t> entries_;
};

/// Leaves functions out of a profile whose events are those of its calls.
class Skipper {
 public:
  Skipper(result::Profile profile, Choice choice)
      : profile_(std::move(profile)), choice_(std::move(choice)), events_(profile_.event_count()) {
    sum();
    for (auto& [owner, jumps] : jumps_) balance(owner, jumps);
  }

  Skipped skip() {
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) locations_.push_back(location_of(i));
    output::each_self(profile_, [&](std::size_t call, std::uint32_t function, const Counts& self) {
      if (is_skipped(profile_.calls[call].owner, function)) move(call, function, self);
    });
    change_rows();
    change_calls();
    std::sort(kept_.begin(), kept_.end());
    kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
    return {std::move(profile_), std::move(kept_)};
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // owner and function

  /// What a function counted in a thread: by its rows, and by its calls.
  struct Sums {
    Counts rows, calls;
    /// What its calls counted in functions to which it jumped.
    std::int64_t outward(std::size_t e) const { return std::max<std::int64_t>(0, calls[e] - rows[e]); }
    /// What it counted after jumps to it.
    std::int64_t inward(std::size_t e) const { return std::max<std::int64_t>(0, rows[e] - calls[e]); }
  };

  /// What is left to distribute over the calls of a skipped function: what they counted, and the part of it that was
  /// counted in functions that are not skipped.
  struct Shares {
    Counts of_others, calls;
  };

  /// The jumps of a thread to and from skipped functions, by what was counted after them.
  struct Jumps {
    std::optional<std::uint32_t> first;  // the function with which the thread began
    Counts outward, inward;              // Sums::outward() and inward() of all skipped functions
    Counts to_others, from_others;       // the parts that are not jumps between skipped functions
  };

  /// Where counts are added: an instruction, or the first one of a function.
  struct Location {
    std::uint32_t function, inlined = result::ProfileInline::none, source, line;
    std::uint64_t address;
    std::uint32_t discriminator = 0;
  };

  bool is_skipped(std::uint32_t owner, std::uint32_t function) const {
    if (!choice_.is_chosen(function)) return false;
    const auto jumps = jumps_.find(owner);  // a thread without calls has only its first function
    return jumps != jumps_.end() && jumps->second.first != function;
  }

  Sums& sums_of(std::uint32_t owner, std::uint32_t function) {
    const auto [known, is_new] = sums_.try_emplace({owner, choice_.whole(function)});
    if (is_new) known->second = {Counts(events_), Counts(events_)};
    return known->second;
  }

  void sum() {
    std::map<std::uint32_t, Counts> outside_calls;  // by owner
    const auto outside = [&](std::uint32_t owner) -> Counts& {
      return outside_calls.try_emplace(owner, events_).first->second;
    };
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      const result::ProfileRow& row = profile_.rows[i];
      Sums& sums = sums_of(row.owner, row.function);
      Counts& left = outside(row.owner);
      for (std::size_t e = 0; e < events_; ++e) {
        sums.rows[e] += profile_.count(i, e);
        left[e] += profile_.count(i, e);
      }
    }
    output::each_self(profile_, [&](std::size_t call, std::uint32_t function, const Counts& self) {
      const std::uint32_t owner = profile_.calls[call].owner;
      Sums& sums = sums_of(owner, function);
      Counts& left = outside(owner);
      for (std::size_t e = 0; e < events_; ++e) {
        sums.calls[e] += self[e];
        left[e] -= self[e];
      }
    });
    for (const result::ProfileCall& call : profile_.calls) {
      Jumps& jumps = jumps_[call.owner];
      if (call.parent == no_parent && call.site != 0 && !jumps.first) jumps.first = call.caller;
    }
    for (auto& [owner, jumps] : jumps_)
      if (jumps.first)
        for (std::size_t e = 0; e < events_; ++e) sums_of(owner, *jumps.first).calls[e] += outside(owner)[e];
  }

  /// Determines between which functions the thread jumped: skipped functions to one another first.
  void balance(std::uint32_t owner, Jumps& jumps) {
    jumps.outward.resize(events_);
    jumps.inward.resize(events_);
    for (auto sums = sums_.lower_bound({owner, 0}); sums != sums_.end() && sums->first.first == owner; ++sums)
      for (std::size_t e = 0; e < events_ && is_skipped(owner, sums->first.second); ++e) {
        jumps.outward[e] += sums->second.outward(e);
        jumps.inward[e] += sums->second.inward(e);
      }
    for (std::size_t e = 0; e < events_; ++e) {
      const std::int64_t among = std::min(jumps.outward[e], jumps.inward[e]);
      jumps.to_others.push_back(jumps.outward[e] - among);
      jumps.from_others.push_back(jumps.inward[e] - among);
    }
  }

  Location first_of(std::uint32_t function) const {
    const result::ProfileFunction& f = profile_.functions[function];
    return {.function = function, .source = f.source, .line = f.line, .address = f.address};
  }

  /// Returns from where the call was made: its call instruction, or if that is skipped, the one of its caller.
  Location location_of(std::size_t i) const {
    for (std::size_t at = i;; at = profile_.calls[at].parent) {
      const result::ProfileCall& call = profile_.calls[at];
      if (call.site == 0) return first_of(at == i ? call.caller : call.callee);
      if (!is_skipped(call.owner, call.caller))
        return {call.caller, call.inlined, call.source, call.line, call.site, call.discriminator};
      if (call.parent == no_parent) return first_of(jumps_.at(call.owner).first.value_or(call.caller));
      const std::uint32_t callee = profile_.calls[call.parent].callee;
      if (!is_skipped(call.owner, callee)) return first_of(callee);
    }
  }

  bool is_removed(std::size_t call) const {
    const result::ProfileCall& of = profile_.calls[call];
    return of.site != 0 && is_skipped(of.owner, of.callee);
  }

  /// Adds what a skipped function counted in a call to the call instruction. If the callee jumped to it, to the callee.
  void move(std::size_t call, std::uint32_t function, const Counts& self) {
    const std::uint32_t owner = profile_.calls[call].owner;
    Counts moved = self;
    if (is_removed(call)) add_entry(call, moved);
    for (std::size_t e = 0; e < events_; ++e) moved[e] -= share_of_others({owner, choice_.whole(function)}, e, self[e]);
    add(owner, is_removed(call) ? locations_[call] : first_of(profile_.calls[call].callee), moved);
  }

  /// Adds the entry in a linkage table through which a function jumped to the callee: that function counted it.
  void add_entry(std::size_t i, Counts& counts) {
    const result::ProfileCall& call = profile_.calls[i];
    const auto entry = choice_.entry(call.callee);
    if (!entry || call.site != profile_.functions[call.caller].address) return;
    const std::int64_t entered = profile_.functions[*entry].entered;
    Jumps& jumps = jumps_.at(call.owner);
    Sums& sums = sums_of(call.owner, call.callee);
    const Counts& all = counts_of(*entry);
    for (std::size_t e = 0; e < events_ && entered > 0; ++e) {
      const std::int64_t more = std::min({all[e] / entered * call.calls, jumps.from_others[e], sums.inward(e)});
      for (std::int64_t* const n : {&jumps.from_others[e], &jumps.inward[e], &sums.rows[e]}) *n -= more;
      counts[e] += more;
    }
  }

  /// Returns what all threads counted in a function.
  const Counts& counts_of(std::uint32_t function) {
    const auto [known, is_new] = counts_.try_emplace(function, events_);
    for (std::size_t i = 0; is_new && i < profile_.rows.size(); ++i)
      for (std::size_t e = 0; e < events_ && profile_.rows[i].function == function; ++e)
        known->second[e] += profile_.count(i, e);
    return known->second;
  }

  /// Returns the part of a skipped call's own counts that was counted in functions that are not skipped.
  std::int64_t share_of_others(const Key& key, std::size_t e, std::int64_t self) {
    const auto [known, is_new] = shares_.try_emplace(key);
    if (is_new) {
      const Sums& sums = sums_.at(key);
      Jumps& jumps = jumps_.at(key.first);
      for (std::size_t i = 0; i < events_; ++i)
        known->second.of_others.push_back(output::take_share(jumps.to_others[i], jumps.outward[i], sums.outward(i)));
      known->second.calls = sums.calls;
    }
    return output::take_share(known->second.of_others[e], known->second.calls[e], self);
  }

  void add(std::uint32_t owner, const Location& location, const Counts& counts) {
    auto& [at, sum] = added_[{owner, location.function, location.address}];
    at = location;
    sum.resize(events_);
    for (std::size_t e = 0; e < events_; ++e) sum[e] += counts[e];
  }

  /// What was counted after jumps of unknown functions to skipped ones stays where it is.
  void add_unknown() {
    for (const auto& [key, sums] : sums_) {
      const auto [owner, function] = key;
      if (!is_skipped(owner, function)) continue;
      Jumps& jumps = jumps_.at(owner);
      Counts counts;
      for (std::size_t e = 0; e < events_; ++e)
        counts.push_back(output::take_share(jumps.from_others[e], jumps.inward[e], sums.inward(e)));
      if (std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n == 0; })) continue;
      add(owner, first_of(function), counts);
      kept_.push_back(profile_.functions[function].name);
    }
  }

  void change_rows() {
    add_unknown();
    std::vector<std::pair<result::ProfileRow, Counts>> all;
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      const result::ProfileRow& row = profile_.rows[i];
      if (is_skipped(row.owner, row.function)) continue;
      const auto begin = profile_.counts.begin() + static_cast<std::ptrdiff_t>(i * events_);
      Counts counts(begin, begin + static_cast<std::ptrdiff_t>(events_));
      if (const auto known = added_.extract({row.owner, row.function, row.address}); !known.empty())
        for (std::size_t e = 0; e < events_; ++e) counts[e] += known.mapped().second[e];
      all.emplace_back(row, std::move(counts));
    }
    for (auto& [key, added] : added_) {
      const auto& [owner, function, address] = key;
      const Location& location = added.first;
      all.emplace_back(result::ProfileRow{.owner = owner,
                                          .function = function,
                                          .inlined = location.inlined,
                                          .source = location.source,
                                          .line = location.line,
                                          .address = address,
                                          .discriminator = location.discriminator},
                       std::move(added.second));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.owner, a.first.function, a.first.address) <
             std::tie(b.first.owner, b.first.function, b.first.address);
    });
    profile_.rows.clear();
    profile_.counts.clear();
    for (const auto& [row, counts] : all) {
      profile_.rows.push_back(row);
      profile_.counts.insert(profile_.counts.end(), counts.begin(), counts.end());
    }
  }

  /// Removes the calls of skipped functions: their own counts become those of the call that is active without them.
  void change_calls() {
    for (std::size_t i = profile_.calls.size(); i-- > 0;) {
      const std::uint32_t parent = profile_.calls[i].parent;
      if (!is_removed(i) || parent == no_parent) continue;
      for (std::size_t e = 0; e < events_; ++e) profile_.self[parent * events_ + e] += profile_.self[i * events_ + e];
    }
    std::vector<bool> removed;
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) removed.push_back(is_removed(i));
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      result::ProfileCall& call = profile_.calls[i];
      std::tie(call.caller, call.inlined, call.source, call.line, call.site, call.discriminator) =
          std::tie(locations_[i].function, locations_[i].inlined, locations_[i].source, locations_[i].line,
                   locations_[i].address, locations_[i].discriminator);
    }
    keep_calls(profile_, [&](std::size_t i) { return !removed[i]; });
  }

  result::Profile profile_;
  const Choice choice_;
  const std::size_t events_;
  std::map<Key, Sums> sums_;
  std::map<std::uint32_t, Jumps> jumps_;  // by owner
  std::vector<Location> locations_;       // of each call
  std::map<Key, Shares> shares_;
  std::map<std::uint32_t, Counts> counts_;  // by function: see counts_of()
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::pair<Location, Counts>>
      added_;  // by owner, function and address
  std::vector<std::string> kept_;
};

}  // namespace

bool is_file_at(const result::ProfileObject& object, const std::string& path) {
  if (object.name == path) return true;
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  return !error && object.name == canonical;
}

Skipped without_functions(result::Profile profile, const FunctionChoice& choice) {
  Choice chosen(profile, choice);
  return Skipper(std::move(profile), std::move(chosen)).skip();
}

}  // namespace tally::callgrind
