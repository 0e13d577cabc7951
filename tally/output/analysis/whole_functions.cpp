#include "tally/output/analysis/whole_functions.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "tally/core/base/clone_name.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/sort_rows.hpp"

namespace tally::output {
namespace {

using result::Profile;
using result::ProfileFunction;

/// The clone names of a profile's functions.
class FunctionClones {
 public:
  explicit FunctionClones(const Profile& profile) : profile_(profile) {
    for (const ProfileFunction& profile_function : profile.functions) {
      names_.push_back(clone_name(profile_function.name));
      // Names of Rust have no suffixes; those for the linker have.
      CloneKind& kind = names_.back().kind;
      if (kind == CloneKind::none && profile_function.clone_of != 0)
        kind = std::max(CloneKind::copy, clone_name(profile_function.linker_name).kind);
      any_ = any_ || kind != CloneKind::none;
    }
  }

  bool any() const { return any_; }

  /// Returns for each function the one whose index stands for all that belong together.
  std::vector<std::uint32_t> find_functions() {
    for (std::uint32_t f = 0; f < names_.size(); ++f) {
      leaders_.push_back(f);
      if (is_clone(f)) continue;
      const ProfileFunction& function = profile_.functions[f];
      if (function.address != 0) by_address_.try_emplace({function.object, function.address}, f);
      by_name_[{function.object, function.name}].push_back(f);
    }
    for (std::uint32_t f = 0; f < names_.size(); ++f)
      if (is_clone(f)) leaders_[f] = leader_of(f);
    add_inlined();
    return std::move(leaders_);
  }

  /// Returns one function for those that belong together.
  ProfileFunction joined(const std::vector<std::uint32_t>& members) const {
    const auto first = [&](CloneKind kind) {
      return std::find_if(members.begin(), members.end(), [&](std::uint32_t f) { return names_[f].kind == kind; });
    };
    auto leading = members.end();
    for (const CloneKind kind : {CloneKind::none, CloneKind::copy, CloneKind::part})
      if (leading == members.end()) leading = first(kind);
    if (leading == members.end())
      return profile_.functions[members.front()];  // only fragments: their function is unknown
    ProfileFunction made = profile_.functions[*leading];
    if (is_clone(*leading)) {
      made.name = std::string(names_[*leading].function);
      made.linker_name = std::string(clone_name(made.linker_name).function);
      if (made.linker_name == made.name) made.linker_name.clear();
      if (made.clone_of != 0) made.address = made.clone_of;
    }
    made.clone_of = 0;
    // Jumps and calls to a part follow an entry of the function, unless that is inlined everywhere.
    const bool by_parts = names_[*leading].kind == CloneKind::part;
    made.entered = 0;
    for (const std::uint32_t f : members) {
      const ProfileFunction& one = profile_.functions[f];
      if (names_[f].kind <= CloneKind::copy || (by_parts && names_[f].kind == CloneKind::part))
        made.entered += one.entered;
      if (made.line == 0) std::tie(made.source, made.line) = std::tuple(one.source, one.line);
      if (f == *leading) continue;
      made.source_digest = joined_digest(made.source_digest, one.source_digest);
      made.code_digest = joined_digest(made.code_digest, one.code_digest);
    }
    return made;
  }

 private:
  bool is_clone(std::uint32_t f) const { return names_[f].kind != CloneKind::none; }

  static std::uint64_t joined_digest(std::uint64_t one, std::uint64_t other) {
    return one == 0 || other == 0 ? 0 : one ^ other * 0x9e3779b97f4a7c15;
  }

  /// Whether two functions may be of one source file.
  bool may_share_source(std::uint32_t a, std::uint32_t b) const {
    const ProfileFunction &one = profile_.functions[a], &other = profile_.functions[b];
    return one.line == 0 || other.line == 0 ||
           file_name(profile_.sources[one.source]) == file_name(profile_.sources[other.source]);
  }

  std::vector<std::uint32_t> functions_called(std::uint32_t clone) const {
    std::vector<std::uint32_t> found;
    const auto known = by_name_.find({profile_.functions[clone].object, names_[clone].function});
    if (known == by_name_.end()) return found;
    std::copy_if(known->second.begin(), known->second.end(), std::back_inserter(found),
                 [&](std::uint32_t f) { return may_share_source(f, clone); });
    return found;
  }

  std::uint32_t leader_of(std::uint32_t f) {
    const ProfileFunction& clone = profile_.functions[f];
    if (clone.clone_of != 0) {
      const auto known = by_address_.try_emplace({clone.object, clone.clone_of}, f).first->second;
      if (is_clone(known)) clones_only_.try_emplace(known, clone.clone_of);
      return known;
    }
    const bool is_distinct = names_[f].distinct.size() != names_[f].function.size();
    const std::vector<std::uint32_t> functions = is_distinct ? std::vector<std::uint32_t>{} : functions_called(f);
    if (functions.size() == 1) return functions.front();
    if (!functions.empty() || names_[f].kind == CloneKind::fragment) return f;
    const std::string source = clone.line == 0 ? "" : file_name(profile_.sources[clone.source]);
    return by_clone_.try_emplace({clone.object, names_[f].distinct, source}, f).first->second;
  }

  /// Inlined functions have no address. Those of functions that exist as clones only belong to these.
  void add_inlined() {
    for (const auto& [clone, address] : clones_only_) {
      const std::vector<std::uint32_t> functions = functions_called(clone);
      if (functions.size() == 1 && profile_.functions[functions.front()].address == 0)
        leaders_[functions.front()] = clone;
    }
  }

  const Profile& profile_;
  std::vector<CloneName> names_;
  bool any_ = false;
  std::vector<std::uint32_t> leaders_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> by_address_;
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::uint32_t>> by_name_;
  std::map<std::uint32_t, std::uint64_t> clones_only_;  // leaders of clones whose function was not executed
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> by_clone_;
};

// The lowest and highest counts in several runs: sums of those of the clones.
void add_spreads(const Profile& profile, const std::vector<std::uint32_t>& indices, Profile& whole) {
  if (profile.runs < 2) return;
  for (ProfileFunction& function : whole.functions) function.least = function.most = {};
  for (const ProfileSum& sum : sums_of(profile, ProfileBy::function)) {
    const ProfileFunction& clone = profile.functions[sum.function];
    ProfileFunction& function = whole.functions[indices[sum.function]];
    const auto& least = clone.least.empty() ? sum.counts : clone.least;
    const auto& most = clone.most.empty() ? sum.counts : clone.most;
    function.least.resize(sum.counts.size());
    function.most.resize(sum.counts.size());
    for (std::size_t e = 0; e < sum.counts.size(); ++e) {
      function.least[e] += least[e];
      function.most[e] += most[e];
    }
  }
  for (ProfileFunction& function : whole.functions)
    if (function.least == function.most) function.least = function.most = {};
}

}  // namespace

WholeFunctions::WholeFunctions(const Profile& profile) : profile_(profile) {
  FunctionClones clones(profile);
  if (!clones.any()) return;
  const std::vector<std::uint32_t> leaders = clones.find_functions();
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (std::uint32_t f = 0; f < leaders.size(); ++f) members[leaders[f]].push_back(f);
  copy_ = profile;
  copy_->functions.clear();
  indices_.resize(leaders.size());
  for (const auto& [leader, all] : members) {
    for (const std::uint32_t f : all) indices_[f] = static_cast<std::uint32_t>(copy_->functions.size());
    copy_->functions.push_back(clones.joined(all));
  }
  add_spreads(profile, indices_, *copy_);
  for (result::ProfileRow& row : copy_->rows) row.function = indices_[row.function];
  for (result::ProfileInline& profile_inline : copy_->inlines)
    profile_inline.function = indices_[profile_inline.function];
  for (result::ProfileCall& call : copy_->calls) {
    call.caller = indices_[call.caller];
    call.callee = indices_[call.callee];
  }
  sort_rows(*copy_);
}

std::map<std::uint32_t, std::uint32_t> functions_called(const Profile& profile, std::string_view name) {
  const WholeFunctions whole(profile);
  const std::vector<std::string> printed = function_names(whole.get(), false);
  std::map<std::uint32_t, std::uint32_t> exactly, called;
  for (std::uint32_t f = 0; f < profile.functions.size(); ++f) {
    const std::uint32_t index = whole.index_of(f);
    if (profile.functions[f].name == name || whole.get().functions[index].name == name || printed[index] == name)
      exactly.emplace(f, index);
    if (is_called(profile.functions[f].name, name) || profile.functions[f].linker_name == name)
      called.emplace(f, index);
  }
  return exactly.empty() ? called : exactly;
}

}  // namespace tally::output
