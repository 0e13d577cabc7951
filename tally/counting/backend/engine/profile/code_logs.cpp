#include "tally/counting/backend/engine/profile/code_logs.hpp"

#include "tally/engine/models/branch/outcome.hpp"

namespace tally::backend::engine {

void CodeLogs::read(const Channel& shared, std::uint32_t last) {
  for (std::uint32_t i = 1; i <= last; ++i)
    logs_.push_back(std::make_unique<CodeLogReader>(shared, i, files_, effort_));
}

std::pair<std::uint32_t, const LoggedTrace*> CodeLogs::find(std::uint32_t number, std::uint32_t segment) const {
  return find_in_logs(number,
                      [&](const CodeLogReader& log, std::uint64_t bytes) { return log.trace_of(segment, bytes); });
}

CodeLocation CodeLogs::locate(std::uint32_t number, std::uint32_t mappings, std::uint64_t pc) {
  while (number != 0 && number <= logs_.size()) {
    if (const CodeMapping* const m = log(number).mapping_of(pc, mappings); m != nullptr)
      return {m->file, is_file(m->file) ? pc - m->start + m->offset : pc};
    const channel::CodeLog& head = log(number).head();
    if (head.inherited == 0 || head.inherited >= number) break;
    mappings = log(head.inherited).mappings_below(head.inherited_bytes);
    number = head.inherited;
  }
  return {file_without_name(), pc};
}

CodeLocation CodeLogs::locate_in_mapping(std::uint32_t number, std::uint32_t mapping, std::uint32_t mappings,
                                         std::uint64_t pc) {
  std::uint32_t below = mappings;
  for (std::uint32_t at = number; mapping != 0 && at != 0 && at <= logs_.size();) {
    if (const CodeMapping* const m = log(at).numbered_mapping(pc, mapping, below); m != nullptr)
      return {m->file, is_file(m->file) ? pc - m->start + m->offset : pc};
    const channel::CodeLog& head = log(at).head();
    if (head.inherited == 0 || head.inherited >= at) break;
    below = log(head.inherited).mappings_below(head.inherited_bytes);
    at = head.inherited;
  }
  return locate(number, mappings, pc);
}

CodeLocation CodeLogs::locate_site(std::uint32_t number, std::uint64_t site) {
  return locate_in_mapping(number, channel::mapping_of_site(site), log(number).all_mappings(),
                           channel::pc_of_site(site));
}

const CodeLogs::Branches& CodeLogs::branches_of(std::uint32_t number) {
  const auto [known, is_new] = branches_.try_emplace(number);
  Branches& all = known->second;
  if (!is_new) return all;
  std::unordered_set<std::uint64_t> equal;
  for (std::uint32_t at = number; at != 0 && at <= logs_.size(); at = log(at).head().inherited) {
    for (const LoggedTrace& trace : log(at).traces()) add_branches(at, trace, all, equal);
    if (log(at).head().inherited >= at) break;
  }
  for (const std::uint64_t site : equal) all.erase(site);
  return all;
}

void CodeLogs::add_branches(std::uint32_t number, const LoggedTrace& trace, Branches& all,
                            std::unordered_set<std::uint64_t>& equal) {
  const auto* const places = reinterpret_cast<const channel::CodePlace*>(trace.record + 1);
  for (std::uint32_t i = 0; i < trace.record->places && effort_.take_steps(1); ++i) {
    const channel::CodePlace& p = places[i];
    const bool is_branch = (p.flags & channel::place_branches) != 0 || p.field == channel::indirect_jumps ||
                           p.field == channel::indirect_calls || p.field == channel::returns;
    if (!is_branch) continue;
    const std::uint64_t pc = trace.record->pc + static_cast<std::uint64_t>(std::int64_t{p.pc});
    const CodeLocation at = locate(number, trace.mappings, pc);
    const auto [known, is_new] = all.try_emplace(models::site_of_branch(models::outcome_of(pc, false)), at);
    if (!is_new && (known->second.file != at.file || known->second.address != at.address)) equal.insert(known->first);
  }
}

const channel::CodeForm* CodeLogs::form_of(std::uint32_t number, std::uint32_t form) const {
  for (; form != 0 && number != 0 && number <= logs_.size(); number = log(number).head().inherited) {
    if (const channel::CodeForm* const own = log(number).form(form); own != nullptr) return own;
    if (log(number).head().inherited >= number) break;
  }
  return nullptr;
}

bool CodeLogs::is_file(std::uint32_t file) {
  while (is_file_.size() <= file) is_file_.push_back(files_.at(static_cast<std::uint32_t>(is_file_.size())).inode != 0);
  return is_file_[file];
}

std::uint32_t CodeLogs::file_without_name() {
  channel::CodeMapping none{};
  none.head.bytes = sizeof none;
  return files_.number(none);
}

}  // namespace tally::backend::engine
