#include "tally/counting/profile/made_code.hpp"

#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/finishing.hpp"

namespace tally::profile {

namespace {

// The head of a dump, and of each record.
struct DumpHead {
  std::uint32_t magic, version, bytes, machine, padding, pid;
  std::uint64_t time, flags;
};
struct RecordHead {
  std::uint32_t kind, bytes;
  std::uint64_t time;
};
// Code that was generated. Its name follows, with a zero at its end, then the code.
struct Loaded {
  RecordHead head;
  std::uint32_t pid, tid;
  std::uint64_t memory, address, bytes, number;
};
// Code that was moved.
struct Moved {
  RecordHead head;
  std::uint32_t pid, tid;
  std::uint64_t memory, from, to, bytes, number;
};
constexpr std::uint32_t magic = 0x4a695444, loaded_kind = 0, moved_kind = 1;

template <class T>
std::optional<T> read(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

MadeCode::MadeCode(const linux::MapOf& of) {
  linux::PerfMap map = linux::read_perf_map(of);
  add_map(map.text);
  linux::PerfMap dump = linux::read_jit_dump(of);
  add_dump(dump.text, dump.pid);
  refused_ = std::move(map.refused);
  if (!dump.refused.empty()) refused_ += (refused_.empty() ? "" : "; ") + dump.refused;
}

void MadeCode::add_map(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; !linux::is_interrupted() && std::getline(lines, line);) {
    std::istringstream words(line);
    NamedCode code;
    if (!(words >> std::hex >> code.address >> code.bytes) || !std::getline(words >> std::ws, code.name)) continue;
    code.name = printable(code.name);
    named_[code.address] = std::move(code);
  }
}

// The format is that of tools/perf/Documentation/jitdump-specification.txt in Linux, in this machine's byte order.
void MadeCode::add_dump(std::string_view bytes, std::int64_t pid) {
  const auto head = read<DumpHead>(bytes, 0);
  if (!head || head->magic != magic || head->bytes < sizeof *head || head->pid != pid) return;
  for (std::size_t at = head->bytes; !linux::is_interrupted();) {
    const auto record = read<RecordHead>(bytes, at);
    if (!record || record->bytes < sizeof *record) return;
    const std::string_view whole = bytes.substr(at, record->bytes);
    if (const auto one = record->kind == loaded_kind ? read<Loaded>(whole, 0) : std::nullopt) {
      const std::string_view rest = whole.substr(sizeof *one);
      named_[one->address] = {
          printable(std::string(rest.substr(0, rest.find('\0')))), one->address, one->bytes, false, {}};
    }
    if (const auto one = record->kind == moved_kind ? read<Moved>(whole, 0) : std::nullopt) {
      auto moved = named_.extract(one->from);
      if (!moved.empty()) {
        moved.mapped().address = moved.key() = one->to;
        named_.erase(one->to);
        named_.insert(std::move(moved));
      }
    }
    at += record->bytes;
  }
}

const NamedCode* MadeCode::at(std::uint64_t address) const {
  const auto after = named_.upper_bound(address);
  if (after == named_.begin()) return nullptr;
  const NamedCode& code = std::prev(after)->second;
  return address - code.address < code.bytes ? &code : nullptr;
}

}  // namespace tally::profile
