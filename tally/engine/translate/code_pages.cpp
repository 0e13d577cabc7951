#include "tally/engine/translate/code_pages.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/past_code.hpp"

namespace tally::engine::translate {
namespace {

constexpr u64 code_line_bytes = page_bytes / 64, every_line = ~u64{0};

struct CodePage {
  u64 page;  // its number; 0: this entry is empty
  u64 copy;  // address of the copy that was made when it was suspended last; 0: none
  u32 first;
  bool is_suspended, is_changing;
};
/// One of the traces that rely on a page.
struct PageNode {
  u64 lines;  // one bit for each line of the page
  u32 trace, next;
};
CodePage* code_pages;  // open addressing by page number, grows by doubling
u32 code_page_mask, code_pages_used;
Growing<PageNode> page_nodes;
u32 free_node;  // list of nodes of dropped traces

/// Copies of suspended pages.
class PageCopies {
 public:
  /// Returns 0 without room.
  u64 take() {
    if (free_ != 0) {
      const u64 taken = free_;
      free_ = at<u64>(taken);
      return taken;
    }
    if (begin_ == 0) begin_ = try_reserve(limit * page_bytes, read_write);
    return begin_ == 0 || used_ == limit ? 0 : begin_ + used_++ * page_bytes;
  }
  void put_back(u64 copy) {
    if (copy == 0) return;
    *reinterpret_cast<u64*>(copy) = free_;
    free_ = copy;
  }
  void reset() {
    if (used_ != 0) discard_pages(reinterpret_cast<void*>(begin_), used_ * page_bytes);
    used_ = free_ = 0;
  }

 private:
  static constexpr u64 limit = 4096;
  u64 begin_ = 0, used_ = 0, free_ = 0;
};
PageCopies page_copies;

CodePage* new_code_pages(u32 entries) {
  return reinterpret_cast<CodePage*>(try_reserve(page_up(u64{entries} * sizeof(CodePage)), read_write));
}

CodePage& code_page_slot(u64 page) {
  u32 i = channel::hash32(page) & code_page_mask;
  while (code_pages[i].page != 0 && code_pages[i].page != page) i = (i + 1) & code_page_mask;
  return code_pages[i];
}

CodePage* find_code_page(u64 page) {
  CodePage& p = code_page_slot(page);
  return p.page == 0 ? nullptr : &p;
}

bool grow_code_pages() {
  CodePage* const old = code_pages;
  const u32 old_mask = code_page_mask;
  CodePage* const larger = new_code_pages((old_mask + 1) * 2);
  if (larger == nullptr) return false;
  __atomic_store_n(&code_pages, larger, __ATOMIC_RELEASE);  // first: the table is never smaller than its mask
  __atomic_store_n(&code_page_mask, old_mask * 2 + 1, __ATOMIC_RELEASE);
  for (u32 i = 0; i <= old_mask; i++)
    if (old[i].page != 0) code_page_slot(old[i].page) = old[i];
  return true;
}

/// Calls `each` with every known page of [a, a + n).
template <class Each>
void each_code_page(u64 a, u64 n, Each&& each) {
  if (n == 0) return;
  const u64 first = a / page_bytes, last = (a + n - 1) / page_bytes;
  if (last - first <= code_page_mask) {
    for (u64 page = first; page <= last; page++)
      if (CodePage* const p = find_code_page(page)) each(*p);
    return;
  }
  for (u32 i = 0; i <= code_page_mask; i++)
    if (code_pages[i].page != 0 && code_pages[i].page >= first && code_pages[i].page <= last) each(code_pages[i]);
}

/// Calls `keep` with the nodes of a page and their traces; removes those for which it returns false.
template <class Keep>
void filter_nodes(CodePage& p, Keep&& keep) {
  for (u32* link = &p.first; *link != 0;) {
    const u32 i = *link;
    PageNode& node = page_nodes[i];
    Trace& t = tables.traces[node.trace];
    if ((!t.dead || t.suspended != 0) && keep(node, t)) {
      link = &node.next;
      continue;
    }
    *link = node.next;
    node = {0, 0, free_node};
    free_node = i;
  }
}

/// The lines of a page that contain bytes of [a, a + n), which is not empty.
u64 lines_of(u64 page, u64 a, u64 n) {
  const u64 start = page * page_bytes, last = a + n - 1;
  if (a >= start + page_bytes || last < start) return 0;
  const u64 from = a < start ? 0 : (a - start) / code_line_bytes;
  const u64 to = last >= start + page_bytes ? 63 : (last - start) / code_line_bytes;
  return (every_line << from) & (every_line >> (63 - to));
}

/// Returns the lines of the dropped traces.
u64 drop_lines(CodePage& p, u64 lines) {
  u64 dropped = 0;
  filter_nodes(p, [lines, &dropped](const PageNode& node, Trace& t) {
    if ((node.lines & lines) == 0) return true;
    dropped |= node.lines;
    drop(t);
    return false;
  });
  return dropped;
}

bool copy_code_page(CodePage& p) {
  if (p.copy == 0) p.copy = page_copies.take();
  return p.copy != 0 && copy_code(reinterpret_cast<void*>(p.copy), p.page * page_bytes, page_bytes) == 0;
}

void suspend_page(CodePage& p) {
  if (p.is_suspended || p.first == 0) return;
  p.is_changing = true;
  if (!traces_can_be_suspended() || !copy_code_page(p))
    return keep_past_code(p.page, drop_lines(p, every_line), p.page * page_bytes, tables.traces.size);
  p.is_suspended = true;
  filter_nodes(p, [](const PageNode&, Trace& t) {
    if (!suspend(t)) drop(t);
    return t.suspended != 0;
  });
}

/// Returns the lines that differ from the copy.
u64 changed_lines(const CodePage& p) {
  const u64 a = p.page * page_bytes;
  if (compare_code(reinterpret_cast<const void*>(p.copy), a, page_bytes) == 0) return 0;
  u64 changed = 0;
  for (u64 i = 0; i < 64; i++)
    if (compare_code(reinterpret_cast<const void*>(p.copy + i * code_line_bytes), a + i * code_line_bytes,
                     code_line_bytes) != 0)
      changed |= u64{1} << i;
  return changed;
}

/// `trace`: the first one of the code that is there now.
void resume_page(CodePage& p, u32 trace) {
  p.is_suspended = false;
  const u64 changed = is_guarded_code(p.page * page_bytes) ? changed_lines(p) : every_line;
  begin_change();
  keep_past_code(p.page, drop_lines(p, changed), p.copy, trace);
  filter_nodes(p, [](const PageNode&, Trace& t) {
    resume(t);
    return true;
  });
}

void register_lines(u32 trace, u64 page, u64 lines) {
  CodePage& p = code_page_slot(page);
  if (p.page == 0) {
    code_pages_used++;
    p.page = page;
  }
  if (p.is_suspended) resume_page(p, trace);
  if (p.first != 0 && page_nodes[p.first].trace == trace) {
    page_nodes[p.first].lines |= lines;
    return;
  }
  const u32 node = free_node != 0 ? free_node : page_nodes.add({});
  if (node == free_node) free_node = page_nodes[node].next;
  page_nodes[node] = {lines, trace, p.first};
  p.first = node;
}

}  // namespace

void code_pages_init() {
  page_nodes.init_in_steps(4u << 20);
  page_nodes.size = 1;
  code_page_mask = 1023;
  code_pages = new_code_pages(code_page_mask + 1);
  if (code_pages == nullptr) die("no memory for the engine", 0);
  populate(code_pages, (code_page_mask + 1) * sizeof *code_pages);
}

void code_pages_reset() {
  page_nodes.reset(1);
  discard_pages(code_pages, (code_page_mask + 1) * sizeof *code_pages);
  page_copies.reset();
  past_code_reset();
  code_pages_used = free_node = 0;
}

bool code_pages_have_room() {
  // A started trace has fewer pages than half of the smallest table.
  return !page_nodes.full(512) && past_code_has_room() && (code_pages_used * 2 <= code_page_mask || grow_code_pages());
}

bool code_pages_have_room(u32 nodes, u32 different_pages) {
  if (page_nodes.full(nodes + 512)) return false;
  while ((code_pages_used + different_pages) * 2 > code_page_mask)
    if (!grow_code_pages()) return false;
  page_nodes.populate_next(nodes);
  return true;
}

void register_code(u32 trace, u64 a, u64 bytes) {
  for (u64 page = a / page_bytes; page <= (a + bytes - 1) / page_bytes; page++)
    register_lines(trace, page, lines_of(page, a, bytes));
}

void invalidate(u64 a, u64 n) {
  if (cache_is_damaged()) return;
  each_code_page(a, n, [a, n](CodePage& p) {
    if (!p.is_suspended) drop_lines(p, lines_of(p.page, a, n));
  });
}

void note_compared(u64 a, const u8* bytes, u32 n) {
  if (!keeps_past_code()) return;
  each_code_page(a, n, [&](CodePage& p) {
    const u64 start = p.page * page_bytes, from = a > start ? a : start;
    const u64 end = a + n < start + page_bytes ? a + n : start + page_bytes;
    if (!p.is_suspended && (p.copy != 0 || copy_code_page(p)))
      copy(reinterpret_cast<u8*>(p.copy) + (from - start), bytes + (from - a), end - from);
  });
}

void drop_compared(u64 pc) {
  CodePage& p = code_page_slot(pc / page_bytes);
  begin_change();
  const u64 lines = drop_lines(p, lines_of(p.page, pc, 1));
  if (p.copy != 0) keep_past_code(p.page, lines, p.copy, tables.traces.size);
}

void forget_code(u64 a, u64 n) {
  if (cache_is_damaged()) return;
  each_code_page(a, n, [](CodePage& p) {
    drop_lines(p, every_line);
    page_copies.put_back(p.copy);
    p.copy = 0;
    p.is_suspended = p.is_changing = false;
  });
}

void suspend_code(u64 a, u64 n) {
  if (cache_is_damaged()) return;
  begin_change();
  each_code_page(a, n, [](CodePage& p) { suspend_page(p); });
}

void keep_code(u64 a, u64 n) {
  if (cache_is_damaged()) return;
  begin_change();
  each_code_page(a, n, [](CodePage& p) {
    const u64 bytes = p.is_suspended ? p.copy : p.page * page_bytes;
    if (p.first != 0) keep_past_code(p.page, every_line, bytes, tables.traces.size);
  });
}

void resume_code(u64 pc) {
  CodePage* const p = find_code_page(pc / page_bytes);
  if (p != nullptr && p->is_suspended) resume_page(*p, tables.traces.size);
}

bool is_changing_code(u64 pc) {
  const CodePage* const p = find_code_page(pc / page_bytes);
  return p != nullptr && p->is_changing;
}

}  // namespace tally::engine::translate
