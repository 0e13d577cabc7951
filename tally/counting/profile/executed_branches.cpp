#include "tally/counting/profile/executed_branches.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tally/linux/symbol/bolt_functions.hpp"
#include "tally/linux/symbol/branch_code.hpp"
#include "tally/linux/symbol/instruction_length.hpp"

namespace tally::profile {
namespace {

using result::ProfileBranch;
using symbol::BranchKind;

struct Executed {
  std::uint64_t address = 0;
  std::int64_t executions = 0, taken = 0, missed = 0;
  symbol::Branch code = {};
  std::uint64_t next() const { return address + code.bytes; }
};

class BranchFinder {
 public:
  BranchFinder(result::Profile& profile, std::uint32_t object, const CodeNames& names)
      : profile_(profile), object_(object), names_(names), elf_(names.bytes()), file_(symbol::read_bolt_file(elf_)) {}

  void find() {
    auto& linked = profile_.objects[object_].linked;
    for (symbol::BoltFunction& function : file_.functions)
      linked.push_back({function.address, function.bytes, std::move(function.name)});
    if (!linked.empty()) add_linkage_table(linked);
    read_executed();
    for (const Executed& instruction : executed_) add_direct(instruction);
    for (const result::CodeJump& jump : profile_.jumps)
      if (jump.file == object_) add_indirect(jump);
    for (const result::LinkedFunction& function : linked) find_targets(function);
    for (std::size_t i = 0; i < executed_.size(); ++i) add_entries(i);
    for (const Executed& instruction : executed_)
      if (instruction.code.kind == BranchKind::ends || instruction.code.is_indirect())
        add(instruction.address, ProfileBranch::unknown, instruction.executions - left_[instruction.address], 0);
    std::sort(branches_.begin(), branches_.end(), [](const ProfileBranch& a, const ProfileBranch& b) {
      return std::tie(a.from, a.to, a.kind) < std::tie(b.from, b.to, b.kind);
    });
    profile_.branches.insert(profile_.branches.end(), branches_.begin(), branches_.end());
  }

 private:
  void add_linkage_table(std::vector<result::LinkedFunction>& linked) const {
    constexpr std::string_view suffix = "@plt";
    for (const NamedCode& entry : names_.functions()) {
      std::string name = entry.linker_name.empty() ? entry.name : entry.linker_name;
      if (!name.ends_with(suffix)) continue;
      name.replace(name.size() - suffix.size(), suffix.size(), "@PLT");
      linked.push_back({entry.address, entry.bytes, std::move(name)});
    }
    std::sort(linked.begin(), linked.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  }

  void read_executed() {
    const auto& events = profile_.stat.events;
    const auto misses = std::find_if(events.begin(), events.end(),
                                     [](const result::Event& e) { return e.total.name.base == "branch-misses"; });
    std::map<std::uint64_t, Executed> by_address;
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      const result::ProfileRow& row = profile_.rows[i];
      if (profile_.functions[row.function].object != object_) continue;
      Executed& instruction = by_address[row.address];
      instruction.executions += row.executions;
      instruction.taken += row.taken;
      if (misses != events.end())
        instruction.missed += profile_.count(i, static_cast<std::size_t>(misses - events.begin()));
    }
    for (auto& [address, instruction] : by_address) {
      if (instruction.executions <= 0) continue;
      instruction.address = address;
      instruction.code = symbol::decode_branch(code_at(address), address);
      executed_.push_back(instruction);
    }
  }

  std::string_view code_at(std::uint64_t address) const {
    constexpr std::size_t longest = 15;
    for (const symbol::Segment& segment : file_.executable)
      if (address - segment.address < segment.bytes && segment.offset + (address - segment.address) < elf_.size())
        return elf_.substr(segment.offset + (address - segment.address), longest);
    return {};
  }

  void add(std::uint64_t from, std::uint64_t to, std::int64_t count, std::int64_t missed,
           ProfileBranch::Kind kind = ProfileBranch::Kind::taken) {
    if (count < 0) return;
    branches_.push_back({object_, from, to, count, std::min(missed, count), kind});
    if (kind == ProfileBranch::Kind::returns || kind == ProfileBranch::Kind::falls) return;
    entered_[to] += kind == ProfileBranch::Kind::taken ? count : 0;
    left_[from] += count;
  }

  void add_direct(const Executed& instruction) {
    const std::int64_t taken =
        instruction.code.kind == BranchKind::conditional ? instruction.taken : instruction.executions;
    if (!instruction.code.is_direct()) return;
    add(instruction.address, instruction.code.target, taken, instruction.missed);
    if (instruction.code.kind == BranchKind::conditional)
      add(instruction.address, instruction.next(), instruction.executions - taken,
          instruction.missed - std::min(instruction.missed, taken), ProfileBranch::Kind::not_taken);
  }

  const Executed* executed_at(std::uint64_t address) const {
    const auto position =
        std::lower_bound(executed_.begin(), executed_.end(), address,
                         [](const Executed& instruction, std::uint64_t at) { return instruction.address < at; });
    return position == executed_.end() || position->address != address ? nullptr : &*position;
  }

  /// Adds the executions of an indirect jump or call that led to one address, with their share of its mispredictions.
  void add_indirect(const result::CodeJump& jump) {
    const Executed* const site = executed_at(jump.site);
    if (site == nullptr || !site->code.is_indirect()) return;
    const double share = static_cast<double>(jump.executions) / static_cast<double>(site->executions);
    add(jump.site, jump.target, jump.executions, std::llround(share * static_cast<double>(site->missed)));
  }

  /// Returns the function that contains an address; null if none does.
  const result::LinkedFunction* function_at(std::uint64_t address) const {
    const auto& linked = profile_.objects[object_].linked;
    const auto after = std::upper_bound(linked.begin(), linked.end(), address,
                                        [](std::uint64_t at, const auto& function) { return at < function.address; });
    if (after == linked.begin() || address - std::prev(after)->address >= std::prev(after)->bytes) return nullptr;
    return &*std::prev(after);
  }

  /// Notes the targets of all branches in a function that was executed, as BOLT begins a block at each.
  void find_targets(const result::LinkedFunction& function) {
    const auto first =
        std::lower_bound(executed_.begin(), executed_.end(), function.address,
                         [](const Executed& instruction, std::uint64_t at) { return instruction.address < at; });
    if (first == executed_.end() || first->address - function.address >= function.bytes) return;
    for (std::uint64_t at = function.address, bytes; at - function.address < function.bytes; at += bytes) {
      const std::string_view code = code_at(at);
      const symbol::Branch branch = symbol::decode_branch(code, at);
      bytes = symbol::instruction_length(code);
      if (bytes == 0) return;
      if (branch.is_direct()) entered_.try_emplace(branch.target, 0);
    }
  }

  /// Adds what entered an instruction other than from the instruction before it and by known branches.
  void add_entries(std::size_t i) {
    const Executed& instruction = executed_[i];
    const result::LinkedFunction* const function = function_at(instruction.address);
    if (function == nullptr) return;
    const bool is_first = function->address == instruction.address;
    const auto branches = entered_.find(instruction.address);
    std::int64_t entries = instruction.executions - (branches == entered_.end() ? 0 : branches->second);
    if (!is_first && i > 0) {
      const Executed& last = executed_[i - 1];
      const bool is_next = last.code.bytes == 0 || last.next() == instruction.address;
      if (is_next && last.code.continues())
        entries -= last.executions - (last.code.kind == BranchKind::conditional ? last.taken : 0);
      // Where branches lead to, BOLT begins another block. A call that returns twice, such as setjmp, is none.
      const bool is_target = branches != entered_.end() || (entries > 0 && !last.code.is_call());
      if (is_next && is_target && (last.code.kind == BranchKind::none || last.code.is_call()))
        add(last.address, instruction.address, last.executions, 0, ProfileBranch::Kind::falls);
      if (is_next && last.code.is_call()) {
        add(last.address, instruction.address, last.executions, 0, ProfileBranch::Kind::returns);
        return;
      }
    }
    if (entries > 0) add(ProfileBranch::unknown, instruction.address, entries, 0);
  }

  result::Profile& profile_;
  std::uint32_t object_;
  const CodeNames& names_;
  std::string_view elf_;
  symbol::BoltFile file_;
  std::vector<Executed> executed_;  // by address
  std::vector<ProfileBranch> branches_;
  std::unordered_map<std::uint64_t, std::int64_t> entered_, left_;  // how often by branches; entered_ has each target
};

}  // namespace

void find_branches(result::Profile& profile, std::uint32_t object, const CodeNames& names) {
  BranchFinder(profile, object, names).find();
}

}  // namespace tally::profile
