#include "tally/engine/instrument/call_probes.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/call_code.hpp"
#include "tally/engine/instrument/exact_sums.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/code_pages.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/logged_code.hpp"

namespace tally::engine::instrument {
namespace {

/// A call instruction in translated code.
struct Site {
  u64 pc, target;  // target 0: indirect
  u64 pointer;     // address of the function's pointer, if the target is a jump through it; 0: it is not
};
constexpr u32 site_limit = 1u << 21, sites_of_trace = 16;
Growing<Site> sites;

/// Sites that are translated one after the other often execute so, too: their recent calls are neighbours.
constexpr u32 word_shift = recent_shift;
static_assert(site_limit << word_shift <= call_tag && call_kinds <= 1u << word_shift);

u32 word_of(u32 site, CallKind kind) { return call_tag | site << word_shift | kind; }
const Site& site_of(u32 word) { return sites[word >> word_shift & (site_limit - 1)]; }

/// Slots of a thread's table of nodes, at first and at most.
constexpr u32 first_slot_count = 1u << 12, slot_count = 1u << 21;

/// Data of a node that only its thread needs.
struct NodeContext {
  u32 context;  // the node that its calls are below
  u32 newest;   // the nearest node on the path to the root whose function is on that path once
};

/// The call state of a thread.
struct ThreadCalls {
  CallStacks stacks;
  s64 seen[channel::call_event_limit];  // Thread::sums as of the last change of the innermost call
  u32 generation;                       // calls_generation when its recent calls were last emptied
  u32 unmapped;                         // unmapped_mappings() at that time
  CallNode* nodes;                      // in the channel
  u32* slots;                           // node numbers, by parent, site and target
  NodeContext* own;                     // of each node
  u32 node_count;
  u32 slot_mask;
  u32 collected_of_none, collected_part, collected_of_part;  // areas of earlier counts, as in engine::Thread
};
static_assert(offsetof(ThreadCalls, seen) + calls_at == o_calls_seen);
static_assert(offsetof(ThreadCalls, generation) + calls_at == o_calls_generation);
static_assert(calls_at + sizeof(ThreadCalls) <= 0xfc000 /* parts_at, in part_probes.cpp */);

ThreadCalls& own(Thread* t) { return *reinterpret_cast<ThreadCalls*>(reinterpret_cast<u64>(t) + calls_at); }

void forget_recent_calls(Thread* t) {
  discard_pages(reinterpret_cast<const void*>(reinterpret_cast<u64>(t) + recent_calls_at), sizeof(RecentCall)
                                                                                               << recent_bits);
}

/// Called when recent calls may have become something else: sites, or the functions at addresses.
void change_generation() { __atomic_add_fetch(&calls_generation, 1, __ATOMIC_SEQ_CST); }

/// Returns the address of the pointer of a jump in a linkage table (.plt): endbr64 or not, bnd or not, jmp [rip + …].
u64 linked_pointer(u64 target) {
  u8 bytes[16] = {};
  const u32 n = read_code(target, bytes, sizeof bytes);
  static const u8 endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  u32 at = __builtin_memcmp(bytes, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
  if (bytes[at] == 0xf2) at++;
  if (at + 6 > n || bytes[at] != 0xff || bytes[at + 1] != 0x25) return 0;
  s32 displacement = 0;
  __builtin_memcpy(&displacement, bytes + at + 2, sizeof displacement);
  return target + at + 6 + static_cast<u64>(static_cast<s64>(displacement));
}

/// Returns the function that a call reaches by such a jump, whose pointer has this value. Until its first call the
/// pointer leads back to the table, and from there to the dynamic linker.
u64 function_at(u64 target, u64 value) {
  constexpr u64 near_table = 64;
  return value - target < near_table ? target : value;
}

u32 hash_of(u32 parent, u64 site, u64 target) { return channel::hash_bits(u64{parent} << 40 ^ site << 8 ^ target, 24); }

/// Returns the nearest node from `from` upwards that executes the function at `target`; 0 if there is none.
u32 find_executing(const ThreadCalls& c, u32 from, u64 target) {
  constexpr u32 furthest = 4096;
  for (u32 i = 0; from != 0 && i < furthest; i++, from = c.nodes[from].parent)
    if (c.nodes[from].target == target) return from;
  return 0;
}

/// Returns the node that the calls of a new node are below. The nodes on the path from the root are the functions being
/// executed, so inclusive counts are below a function's first node. Recursion does not lengthen the path without need:
/// if the outer node belongs to the newest function, or comes after it, the calls are below the outer node.
NodeContext context_of(const ThreadCalls& c, u32 number, u32 outer) {
  if (outer == 0) return {number, number};
  const u32 newest = c.own[c.nodes[number].parent].newest;
  if (outer >= newest) return {outer, c.own[outer].newest};
  // If many stacks are known already, recursion shares more nodes, to leave room for other stacks.
  if (number < channel::call_node_limit / 2) return {number, newest};
  c.nodes[0].is_recursive |= channel::calls_too_many;
  return {outer, c.own[outer].newest};
}

/// Returns the free slot of a call that is in no slot.
u32& free_slot(const ThreadCalls& c, u32 parent, u64 site, u64 target) {
  u32 i = hash_of(parent, site, target) & c.slot_mask;
  while (c.slots[i] != 0) i = (i + 1) & c.slot_mask;
  return c.slots[i];
}

/// Adds a node to the table, which has at least four slots for each node. It grows, because an unused page costs as
/// much as many nodes.
void add_to_slots(ThreadCalls& c, u32 number) {
  const CallNode& added = c.nodes[number];
  free_slot(c, added.parent, added.site, added.target) = number;
  if (number < c.slot_mask / 4 || c.slot_mask == slot_count - 1) return;
  discard_pages(c.slots, page_up(u64{c.slot_mask} * sizeof *c.slots));
  c.slot_mask = c.slot_mask << 1 | 1;
  for (u32 i = 1; i <= number; i++) free_slot(c, c.nodes[i].parent, c.nodes[i].site, c.nodes[i].target) = i;
}

/// Returns the node of a call, and creates it if there is none; 0 without room. If a mapping was removed, other
/// functions may have been mapped at the addresses since.
u32 find_node(ThreadCalls& c, u32 parent, u64 site, u64 target) {
  const bool may_differ = c.unmapped != 0;
  const u32 target_mapping = may_differ ? logged_mapping(target) : 0,
            site_mapping = may_differ ? logged_mapping(site) : 0;
  u32 i = hash_of(parent, site, target) & c.slot_mask;
  for (; c.slots[i] != 0; i = (i + 1) & c.slot_mask) {
    const CallNode& n = c.nodes[c.slots[i]];
    if (n.target != target || n.site != site || n.parent != parent) continue;
    if (!may_differ || (n.target_mapping == target_mapping && n.site_mapping == site_mapping)) return c.slots[i];
  }
  if (c.node_count == channel::call_node_limit) return 0;
  const u32 number = c.node_count++;
  CallNode& n = c.nodes[number];
  n.target = target;
  n.site = site;
  n.parent = parent;
  n.target_mapping = may_differ ? target_mapping : logged_mapping(target);
  n.site_mapping = may_differ ? site_mapping : logged_mapping(site);
  const u32 outer = find_executing(c, parent, target);
  n.is_recursive = outer != 0;
  c.own[number] = context_of(c, number, outer);
  add_to_slots(c, number);
  __atomic_store_n(&c.nodes[0].calls, c.node_count, __ATOMIC_RELEASE);
  return number;
}

/// Returns the node that the calls of a node's function are below.
CallNode* below(const ThreadCalls& c, u32 node) { return &c.nodes[c.own[node].context]; }
u32 number_of(const ThreadCalls& c, const CallNode* node) { return static_cast<u32>(node - c.nodes); }

/// Counts a call; returns the node that its own calls are below.
CallNode* enter_node(ThreadCalls& c, CallNode* parent, u64 site, u64 target) {
  const u32 node = find_node(c, number_of(c, parent), site, target);
  if (node == 0) {
    c.nodes[0].is_recursive |= channel::calls_too_many;
    return parent;
  }
  c.nodes[node].calls++;
  return below(c, node);
}

/// The same for a call instruction in the selected stack, whose next execution generated code follows.
CallNode* enter_recent(Thread* t, ThreadCalls& c, u32 word, u64 target) {
  const Site& site = site_of(word);
  CallNode* const caller = c.stacks.selected();
  const bool is_linked = word % call_kinds == call_linked;
  const u64 function = is_linked ? function_at(target, at<u64>(site.pointer)) : target;
  RecentCall& r = recent_call(t, caller, word, target);
  if (r.caller != caller || r.word != word || r.node->target != function) {
    const u32 node = find_node(c, number_of(c, caller), site.pc, function);
    if (node == 0) {
      c.nodes[0].is_recursive |= channel::calls_too_many;
      return caller;
    }
    CallNode* const own = &c.nodes[node];
    const s64 distance = reinterpret_cast<s64>(below(c, node)) - reinterpret_cast<s64>(own);
    r = {caller, word, static_cast<s32>(distance), own, site.pointer};
  }
  r.node->calls++;
  return below(c, number_of(c, r.node));
}

/// Adds what was counted since the last call or return to the innermost call.
void add_to_innermost(Thread* t, ThreadCalls& c) {
  CallNode& n = *c.stacks.node();
  for (u32 e = 0; e < summed_events.count; e++) {
    n.self[e] += t->sums[e] - c.seen[e];
    (calls_restart_sums() ? t->sums[e] : c.seen[e]) = calls_restart_sums() ? 0 : t->sums[e];
  }
}

/// Prepares a change of the innermost call.
void begin_change(Thread* t, ThreadCalls& c) {
  add_to_innermost(t, c);
  c.stacks.begin();
  const u32 generation = __atomic_load_n(&calls_generation, __ATOMIC_SEQ_CST);
  if (generation == c.generation) return;
  c.generation = generation;
  c.unmapped = unmapped_mappings();
  forget_recent_calls(t);
}

/// Whether the call at `site` is in the function that begins at `function`: no function ends between the two.
bool is_in_function(u64 function, u64 site) {
  constexpr u64 longest = 2048;
  if (site - function >= longest) return false;
  u8 bytes[longest];
  const u32 n = read_code(function, bytes, static_cast<u32>(site - function));
  for (u32 i = 0; i < n; i++)
    if (bytes[i] == 0xc3 || (bytes[i] == 0xff && i + 1 < n && (bytes[i + 1] & 0xf8) == 0xe0)) return false;
  return true;
}

void call(Thread* t, u64 above, u32 word, u64 target) {
  ThreadCalls& c = own(t);
  begin_change(t, c);
  // A function may call another one on a stack of its choice. Otherwise the program jumped to the code there.
  if (c.stacks.select(above)) {
    CallNode* const left = c.stacks.left();
    const u64 site = site_of(word).pc;
    c.stacks.enter(is_in_function(left->target, site) ? left : enter_node(c, &c.nodes[0], 0, site));
  }
  if (c.stacks.make_room()) {
    c.stacks.push(above, enter_recent(t, c, word, target));
  } else {
    c.nodes[0].is_recursive |= channel::calls_too_deep;
    c.stacks.lost();
  }
  c.stacks.end();
}

void return_to(Thread* t, u64 above, u64 target) {
  ThreadCalls& c = own(t);
  begin_change(t, c);
  if (c.stacks.return_to(above)) c.stacks.enter(enter_node(c, &c.nodes[0], 0, target));
  c.stacks.end();
}

class Hooks final : public Probes {
 public:
  bool passes_calls() const override { return false; }
  void called(Builder& b, const Instruction& site, bool direct) override {
    const u32 trace = static_cast<u32>(&b.trace - tables.traces.data);
    emit_call(b, site, direct, call_word_of(site.pc, direct ? site.target() : 0, trace));
  }
  bool returns(Builder& b, const Instruction& in) override { return emit_return(b, in); }
  bool has_room() const override { return !sites.full(sites_of_trace); }
  void discarded() override {
    sites.reset(0);
    change_generation();
  }
  void make_gates(Arena& a) override { make_call_code(a); }
};
constinit Hooks hooks;

/// Maps the nodes at `address`, or anywhere if it is 0.
CallNode* map_nodes(u32 area, u64 address) { return reinterpret_cast<CallNode*>(map_code_log_area(area, address)); }

/// In the child of a fork: gives it nodes of its own, at the same address. What is counted in them from now on is the
/// child's.
bool continue_nodes(ThreadCalls& c, u32 area) {
  const CallNode* const before = c.nodes;
  CallNode* const own = map_nodes(area, 0);
  if (own == nullptr) return false;
  for (u32 i = 0; i < c.node_count; i++) {
    own[i] = before[i];
    own[i].calls = 0;
    for (s64& n : own[i].self) n = 0;
  }
  c.nodes = map_nodes(area, reinterpret_cast<u64>(before));
  unreserve(reinterpret_cast<u64>(own), channel::area_bytes);
  return c.nodes != nullptr;
}

}  // namespace

bool follows_calls;

u32 call_word_of(u64 pc, u64 target, u32 trace) {
  u64 pointer = target != 0 ? linked_pointer(target) : 0, value = 0;
  if (pointer != 0 && read_pointer(pointer, value)) {
    // As long as the program cannot write the pointer, it leads to one function.
    register_code(trace, pointer, sizeof value);
    target = function_at(target, value);
    pointer = 0;
  }
  const u32 number = sites.add({pc, target, pointer});
  return word_of(number, target == 0 ? call_indirect : pointer != 0 ? call_linked : call_direct);
}

u64 calls_key() { return calls_on() ? sums_key() : 0; }

void calls_init() {
  follows_calls = settings().follows_calls != 0;
  if (!calls_on()) return;
  sites.init(site_limit);
  sum_events(channel::call_event_limit);
  on_unmapped_mapping = change_generation;
  probe_with(hooks);
}

bool calls_attach(Thread* t, bool goes_on) {
  if (!calls_on()) return true;
  ThreadCalls& c = own(t);
  c.collected_of_none = c.collected_of_part = 0;
  const u32 area = code_log_area(channel::CodeRecordKind::calls, t->process, t->index, channel::part_of_thread);
  if (goes_on) {
    if (!continue_nodes(c, area)) return false;
  } else {
    c.nodes = map_nodes(area, reinterpret_cast<u64>(c.nodes));
    if (c.nodes == nullptr || !reserve_table(c.slots, slot_count) || !reserve_table(c.own, channel::call_node_limit) ||
        !c.stacks.reserve())
      return false;
    discard_pages(c.slots, slot_count * sizeof *c.slots);
    discard_pages(c.own, channel::call_node_limit * sizeof *c.own);
    forget_recent_calls(t);
    c.node_count = 1;
    c.slot_mask = first_slot_count - 1;
    c.stacks.clear(c.nodes);
  }
  for (s64& sum : c.seen) sum = 0;
  c.nodes[0].calls = c.node_count;
  return true;
}

void calls_settle(Thread* t) {
  if (calls_on()) add_to_innermost(t, own(t));
}

void calls_collect(Thread* t) {
  if (!calls_on()) return;
  ThreadCalls& c = own(t);
  add_to_innermost(t, c);
  if (t->part != 0 && t->part != c.collected_part) {
    c.collected_part = t->part;
    c.collected_of_part = 0;
  }
  u32& area = t->part == 0 ? c.collected_of_none : c.collected_of_part;
  if (area == 0) area = code_log_area(channel::CodeRecordKind::calls, t->process, t->index, t->part);
  static u64 address;
  if (address == 0) address = try_reserve(channel::area_bytes, PROT_NONE);
  CallNode* const to = address != 0 ? map_nodes(area, address) : nullptr;
  if (to == nullptr) return;  // the counts go to the next part
  const u64 known = to[0].calls;
  for (u32 i = 0; i < c.node_count; i++) {
    CallNode& from = c.nodes[i];
    if (i >= known) {
      to[i] = from;
    } else if (i > 0) {
      to[i].calls += from.calls;
      for (u32 e = 0; e < channel::call_event_limit; e++) to[i].self[e] += from.self[e];
    }
    if (i > 0) from.calls = 0;
    for (s64& n : from.self) n = 0;
  }
  to[0].calls = c.node_count;
  to[0].is_recursive = c.nodes[0].is_recursive;
  kernel(SYS_mmap, address, channel::area_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1ull, 0);
}

void calls_handler(Thread* t, u64 sp, u64 base, u64 bytes) {
  if (calls_on()) own(t).stacks.begin_handler(sp + 8, base, bytes);
}

void calls_entered(Thread* t, u64 target) {
  if (!calls_on()) return;
  ThreadCalls& c = own(t);
  if (c.stacks.node()->target == target) return;
  begin_change(t, c);
  const u64 above = t->gpr[rsp] + 8;
  // The address of the jump is unknown: the function that jumped is known by its beginning.
  const auto enter_from = [&](CallNode* from) { return enter_node(c, from, from->target, target); };
  if (c.stacks.jump(above)) {
    c.stacks.replace(enter_from(c.stacks.selected()));
  } else {
    if (c.stacks.select(above)) c.stacks.enter(&c.nodes[0]);
    if (c.stacks.make_room()) {
      c.stacks.push(above, enter_from(c.stacks.selected()));
    } else {
      c.nodes[0].is_recursive |= channel::calls_too_deep;
      c.stacks.lost();
    }
  }
  c.stacks.end();
}

void calls_asked(Thread* t, u32 word) {
  const ModelThread& m = *model_thread(t);
  const u64 above = m.stack + 8;  // the code that asks was called by the trace, below the program's stack pointer
  switch (word % call_kinds) {
    case call_return: return return_to(t, m.stack - removed_bytes(word), m.saved[0]);
    case call_indirect: return call(t, above, word, m.saved[0]);
    default: return call(t, above, word, site_of(word).target);
  }
}

}  // namespace tally::engine::instrument
