#include "tally/counting/backend/perf/profile/code_samples.hpp"

#include <algorithm>

#include "tally/output/result/call_sums.hpp"

namespace tally::backend::perf {
namespace {

using Kind = linux::CodeRecord::Kind;

// The limit of distinct call stacks: about 100 bytes each.
constexpr std::size_t most_calls = 2'000'000;

// The length of a thread's name in the kernel: TASK_COMM_LEN without the zero.
constexpr std::size_t name_bytes = 15;

/// Keeps only the mapped files that have samples.
void keep_used_files(const std::vector<result::CodeFile>& files, result::CodeCounts& code) {
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers(files.size(), unused);
  const auto keep = [&](std::uint32_t& file) {
    if (file == result::CodeCall::no_file) return;
    std::uint32_t& place = numbers[file];
    if (place == unused) {
      place = static_cast<std::uint32_t>(code.files.size());
      code.files.push_back(files[file]);
    }
    file = place;
  };
  for (result::CodeRow& row : code.rows) keep(row.file);
  for (result::CodeCall& call : code.calls) {
    keep(call.site_file);
    keep(call.target_file);
  }
}

std::size_t mixed(std::size_t hash, std::uint64_t with) { return (hash ^ with) * 0x9E3779B97F4A7C15u + (hash >> 29); }

}  // namespace

std::size_t CodeSamples::HashOfCall::operator()(const Call& call) const {
  std::size_t hash = mixed(call.owner, call.parent);
  hash = mixed(hash, call.site.address);
  hash = mixed(hash, call.target.address);
  return mixed(hash, std::uint64_t{call.site.file} << 32 | call.target.file);
}

void CodeSamples::add_process(std::int32_t process, const std::string& name,
                              const std::vector<linux::CodeMapping>& mappings) {
  programs_[process] = name;
  for (const linux::CodeMapping& mapping : mappings) spaces_.add(process, mapping);
}

// The first mapped file is the program, and its name is complete.
void CodeSamples::name_program(const linux::CodeRecord& record) {
  const auto unnamed = unnamed_.find(record.process);
  if (unnamed == unnamed_.end() || (record.inode == 0 && record.build_id.empty())) return;
  const std::string_view file = record.name.substr(record.name.rfind('/') + 1);
  std::string& name = programs_[record.process];
  if (name.size() == name_bytes && file.starts_with(name)) name = file;
  unnamed_.erase(unnamed);
}

void CodeSamples::see(const linux::CodeRecord& record) {
  spaces_.see(record);
  const auto event = events_.find(record.id);
  switch (record.what) {
    case Kind::sample: sample(record); break;
    case Kind::mapped: name_program(record); break;
    case Kind::begun:
      threads_[record.thread] = threads_[record.parent_thread];
      if (record.process != record.parent_process) programs_[record.process] = programs_[record.parent_process];
      break;
    case Kind::executed:
      programs_[record.process] = record.name;
      unnamed_[record.process] = true;
      [[fallthrough]];
    case Kind::named: threads_[record.thread] = record.name; break;
    case Kind::lost:
      (event == events_.end() ? lost_process_records_ : sampling_[event->second].lost) += record.value;
      break;
    case Kind::throttled:
      if (event != events_.end()) ++sampling_[event->second].throttled;
      break;
    default: break;
  }
}

std::uint32_t CodeSamples::owner_of(const linux::CodeRecord& record) {
  const std::string& program = programs_[record.process];
  const auto [place, is_new] = owner_numbers_.try_emplace({record.process, record.thread, program}, owners_.size());
  if (is_new) owners_.push_back({record.process, program, record.thread, ""});
  // The last name wins: most threads set it soon after they start.
  owners_[place->second].thread = threads_[record.thread];
  return place->second;
}

CodePlace CodeSamples::place(const linux::CodeRecord& record, bool in_kernel, std::uint64_t address) {
  if (record.in_guest) return spaces_.guests(address);
  return in_kernel ? spaces_.kernels(address) : spaces_.place(record.process, address);
}

void CodeSamples::sample(const linux::CodeRecord& record) {
  const auto found = events_.find(record.id);
  if (found == events_.end()) return;
  const std::size_t event = found->second;
  const std::uint32_t owner = owner_of(record);
  const CodePlace at = place(record, record.in_kernel, record.address);
  std::vector<Cell>& cells = rows_[{owner, at.file, at.address}];
  cells.resize(sampling_.size());
  cells[event].events += record.period;
  cells[event].samples += 1;
  sampling_[event].samples += 1;
  squares_[event] += static_cast<double>(record.period) * static_cast<double>(record.period);
  if (calls_) add_calls(record, owner, event);
}

// Entries of the chain are the sampled instruction, then return addresses; the call is right before each of these. At
// an entry to the kernel there is no call: the program's first address is the interrupted instruction.
void CodeSamples::add_calls(const linux::CodeRecord& record, std::uint32_t owner, std::size_t event) {
  frames_.clear();
  bool in_kernel = record.in_kernel, is_return = false;
  for (std::size_t i = 0; i < record.depth(); ++i) {
    const std::uint64_t entry = record.called(i);
    if (linux::is_chain_mark(entry)) {
      in_kernel = !linux::is_mark_of_user(entry);
      is_return = false;
      continue;
    }
    const std::uint64_t address = is_return ? entry - 1 : entry;
    // Code without frame pointers has other values there: the chain ends at an address without code. While a program is
    // being executed, none of its code is mapped yet.
    if (!in_kernel && !frames_.empty() && !spaces_.find(record.process, address)) break;
    frames_.push_back(place(record, in_kernel, address));
    is_return = true;
  }
  // A chain may be empty, and with a precise PMU the address of the sample is better than the chain's first one.
  const CodePlace at = place(record, record.in_kernel, record.address);
  if (frames_.empty()) frames_.push_back(at);
  frames_.front() = at;
  std::uint32_t parent = result::CodeCall::no_parent;
  CodePlace site{result::CodeCall::no_file, 0};
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    const Call call{owner, parent, site, *frame};
    const auto known = call_numbers_.find(call);
    if (known != call_numbers_.end()) {
      parent = known->second;
    } else if (tree_.size() < most_calls) {
      parent = call_numbers_[call] = static_cast<std::uint32_t>(tree_.size());
      tree_.push_back(call);
      self_.resize(tree_.size() * sampling_.size());
    } else {
      calls_cut_ = true;
      break;
    }
    site = *frame;
  }
  if (parent != result::CodeCall::no_parent) self_[parent * sampling_.size() + event] += record.period;
}

result::CodeCounts CodeSamples::finish() {
  const std::size_t events = sampling_.size();
  result::CodeCounts code;
  std::vector<std::int64_t> totals(events);
  for (const auto& [row, cells] : rows_) {
    result::CodeRow one;
    one.owner = row.owner;
    one.file = row.file;
    one.address = row.address;
    code.rows.push_back(one);
    for (std::size_t e = 0; e < events; ++e) {
      code.counts.push_back(cells[e].events);
      code.samples.push_back(cells[e].samples);
      totals[e] += cells[e].events;
    }
  }
  for (std::size_t e = 0; e < events; ++e) {
    const auto total = static_cast<double>(totals[e]);
    sampling_[e].effective = squares_[e] == 0 ? 0 : total * total / squares_[e];
  }
  code.self = self_;
  for (const Call& call : tree_) {
    result::CodeCall one;
    one.owner = call.owner;
    one.parent = call.parent;
    one.site_file = call.site.file;
    one.site = call.site.address;
    one.target_file = call.target.file;
    one.target = call.target.address;
    code.calls.push_back(one);
  }
  code.inclusive = result::inclusive_counts(code.calls, code.self, events);
  code.calls_cut = calls_cut_;
  keep_used_files(spaces_.files(), code);
  code.owners = owners_;
  code.sampling = sampling_;
  code.repeated.resize(events);
  code.unplaced.resize(events);
  return code;
}

}  // namespace tally::backend::perf
