#include "tally/engine/translate/past_code.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/translate/absent_code.hpp"

namespace tally::engine::translate {
namespace {

struct PastPage {
  u64 number, lines;
  u32 change;
  u32 traces;   // those before this one ran its code
  u32 mapping;  // its number in the log
  u8 bytes[page_bytes];
};
/// A program that fills it continues with an empty code cache.
constexpr u32 page_limit = 8192, change_limit = 0x7fff;
Growing<PastPage> pages;
u32 changes;
bool is_incomplete;  // not all pages had room

/// Returns the index of the first page of a change.
u32 first_page(u64 change) {
  return numbers_before(pages.size, [change](u32 i) { return pages[i].change < change; });
}

/// Returns the kept page of an address of past code; null if the change left it as it was.
const PastPage* find_page(u64 address) {
  const u64 change = address >> past_bits;
  for (u32 i = first_page(change); i < pages.size && pages[i].change == change; i++)
    if (pages[i].number == program_address(address) / page_bytes) return &pages[i];
  return nullptr;
}

}  // namespace

void past_code_reset() {
  if (changes == 0) return;
  pages.reset(0);
  changes = 0;
  is_incomplete = false;
}

bool keeps_past_code() { return (settings().models.on & channel::model_core) != 0; }

bool past_code_has_room() { return pages.size <= page_limit / 2 && changes < change_limit; }

void begin_change() {
  const bool is_used = changes == 0 || (pages.size != 0 && pages[pages.size - 1].change == changes);
  if (keeps_past_code() && is_used && changes < change_limit) changes++;
}

void keep_past_code(u64 page, u64 lines, u64 bytes, u32 trace) {
  if (!keeps_past_code() || lines == 0) return;
  if (changes == change_limit || (pages.limit == 0 && !pages.try_init_in_steps(page_limit)) || pages.full()) {
    is_incomplete = true;
    return;
  }
  PastPage& kept = pages[pages.size];
  if (copy_code(kept.bytes, bytes, page_bytes) != 0) return;
  kept.number = page;
  kept.lines = lines;
  kept.change = changes;
  kept.traces = trace;
  kept.mapping = mapping_of(page * page_bytes);
  pages.size++;
}

u64 copy_past_or_present_code(void* to, u64 from, u64 n) {
  if (!is_past(from)) return copy_code(to, from, n);
  while (n != 0) {
    const u64 offset = from % page_bytes, part = n < page_bytes - offset ? n : page_bytes - offset;
    if (const PastPage* const p = find_page(from); p != nullptr)
      copy(to, p->bytes + offset, part);
    else if (copy_code(to, program_address(from), part) != 0)
      break;
    to = static_cast<u8*>(to) + part;
    from += part;
    n -= part;
  }
  return n;
}

u32 read_past_or_present_code(u64 pc, u8* to, u32 n) {
  return is_past(pc) ? n - static_cast<u32>(copy_past_or_present_code(to, pc, n)) : read_code(pc, to, n);
}

u32 mapping_of(u64 address) {
  if (!is_past(address)) return code_log_mapping_of != nullptr ? code_log_mapping_of(address) : 0;
  const PastPage* const p = find_page(address);
  return p != nullptr ? p->mapping : 0;
}

bool PastCode::init() {
  if (is_incomplete) return false;
  size_ = pages.size;
  if (size_ == 0) return true;
  if (!order_.init(size_)) return false;
  sort_numbers(order_, size_, [](u32 a, u32 b) {
    return pages[a].number != pages[b].number ? pages[a].number < pages[b].number : a < b;
  });
  return true;
}

u64 PastCode::address(u64 pc, u32 trace) const {
  const u64 number = pc / page_bytes;
  // The first copy of this page that was made after the trace.
  u32 i = numbers_before(size_, [=, this](u32 k) {
    const PastPage& p = pages[order_[k]];
    return p.number < number || (p.number == number && p.traces <= trace);
  });
  for (; i < size_ && pages[order_[i]].number == number; i++)
    if (const PastPage& p = pages[order_[i]]; (p.lines >> pc % page_bytes / 64 & 1) != 0)
      return u64{p.change} << past_bits | pc;
  return pc;
}

u64 PastCode::target(u64 pc) const {
  return is_past(pc) ? address(program_address(pc), pages[first_page(pc >> past_bits)].traces - 1) : pc;
}

}  // namespace tally::engine::translate
