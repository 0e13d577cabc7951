// Probes of first levels. At unstable sites a probe is branch-free, because a mispredicted branch would cost more: it
// writes a record of every access, and the next record overwrites it if the access was to the most recent line of its
// set. At stable sites the probe compares and jumps, and writes records out of line.
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/model_emit.hpp"

namespace tally::engine::instrument {

namespace {

/// Relocates the next instruction, which compares an entry with the number of this line or page, or sets it.
void relocate_line(const Emitter& e, u64 address) { recorder.fix_at(Fix::line, e.p + 8, address); }
void relocate_page(const Emitter& e, u64 address) {
  recorder.fix_at(Fix::page_entry, e.p + 4, address);
  recorder.fix_at(Fix::line, e.p + 8, address);
}

/// Relocates the half of this site that was just written.
void relocate_site(const Emitter& e, Fix half, u64 site) {
  recorder.fix_at(half, e.p - sizeof(u32), channel::pc_of_site(site));
}

}  // namespace

/// Stores the site of the current instruction, in two halves because no register is free.
void ModelCode::store_site(Emitter& e) const {
  store_constant(e, o_model_site, static_cast<u32>(site_), false);
  relocate_site(e, Fix::low_address, site_);
  store_constant(e, o_model_site + 4, static_cast<u32>(site_ >> 32), false);
  relocate_site(e, Fix::code_site, site_);
}

/// Stores the line in register a at `to`, followed by the instruction's site if sites are recorded.
void ModelCode::store_note(Emitter& e, u8 to) const {
  store_at(e, to, a_, 0);
  if (!model_plan.notes_sites) return;
  store_dword_at(e, to, static_cast<u32>(site_), 8);
  relocate_site(e, Fix::low_address, site_);
  store_dword_at(e, to, static_cast<u32>(site_ >> 32), 12);
  relocate_site(e, Fix::code_site, site_);
}

/// Calls the model, which may read and write access records. Register b is lost.
void ModelCode::ask_lookup(Emitter& e, u64 entry, u32 word) {
  if (model_plan.notes_sites) store_site(e);
  if (note_ != no_register) e.store(note_, o_model_note);
  ask(e, entry, word, b_, 0);
  if (note_ != no_register) e.load(note_, o_model_note);
}

/// Ensures room for access records, before the first one of a trace.
void ModelCode::make_room(Builder& b) {
  if (has_room_) return;
  has_room_ = true;
  test_dword(b.e, note_, model_plan.notes_full);
  u8* const full = jump_if(b.e, not_equal);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(full, stub.here());
  ask_lookup(stub, b.arena.to_lookup, word_of(Ask::noted));
  jump_to(stub, b.e.here());
  b.arena.cold = stub.here();
}

/// Records the line in register a. With `looks` the record is kept only if the flags say "not equal". Sets register b
/// to the address after the record.
void ModelCode::note_line(Emitter& e, u64 kind, bool looks) {
  if (kind != 0) address_of(e, a_, a_, no_register, 0, static_cast<s32>(kind), false);
  store_note(e, note_);
  address_of(e, b_, note_, no_register, 0, note_bytes(), false);
  if (looks) move_if_not_equal(e, note_, b_);
}

/// Keeps the record of the access in register a if its page is not the most recent one of its set. Register a is lost.
void ModelCode::note_page(Emitter& e) {
  find_page_set(e, page_);
  table_access(e, 0x33, a_, page_, 0, data_pages_at);
  and_wide(e, a_, -(1 << model_plan.page_bits));
  move_if_not_equal(e, note_, b_);
  load_at(e, a_, b_, static_cast<s8>(-note_bytes()));
  table_access(e, 0x89, a_, page_, 0, data_pages_at);
}

/// Jumps if an access of `bytes` bytes at register a crosses lines, or if it does not. Register b is lost.
u8* ModelCode::jump_across(Emitter& e, u32 bytes, int condition) {
  address_of(e, b_, a_, no_register, 0, static_cast<s32>(bytes) - 1, false);
  low_halves(e, Between::bit_xor, b_, a_);
  test_dword(e, b_, model_plan.line_bytes);
  return jump_if(e, condition);
}

/// In a stub of a probe: records the line in register a and returns. Both registers are lost.
void ModelCode::add_note(Builder& b, Emitter& stub, u64 back) {
  if (note_ != no_register) {
    store_note(stub, note_);
    address_of(stub, note_, note_, no_register, 0, note_bytes(), false);
    return jump_to(stub, back);
  }
  stub.load(b_, o_model_note);
  store_note(stub, b_);
  address_of(stub, b_, b_, no_register, 0, note_bytes(), false);
  stub.store(b_, o_model_note);
  test_dword(stub, b_, model_plan.notes_full);
  set_jump_target(jump_if(stub, equal), back);
  ask_lookup(stub, b.arena.to_lookup, word_of(Ask::noted));
  jump_to(stub, back);
}

/// Checks with one comparison that the access is within the most recent line of its set: then the address XOR that line
/// is at most the line's length minus the access's.
void ModelCode::probe_stable_data(Builder& b, const DataAccess& access, u64 pc, u32 site) {
  Emitter& e = b.e;
  const bool pages = model_plan.pages, fixed = access.fixed && !access.fs;
  const u32 set = l1d_at + (fixed ? static_cast<u32>(access.displacement) & model_plan.l1d_mask : 0);
  if (note_ != no_register) make_room(b);
  load_address(e, access, a_, b_);
  u8* away = nullptr;
  if (model_plan.l1d) {
    const u8 compared = pages ? page_ : a_;
    if (pages) wide_move(e, page_, a_);
    if (!fixed) find_set(e);
    table_access(e, 0x33, compared, fixed ? u8{no_register} : b_, 0, set);
    compare_wide(e, compared, static_cast<s32>(model_plan.line_bytes - access.bytes));
    away = jump_if(e, above);
  } else if (access.bytes > 1) {
    away = jump_across(e, access.bytes, not_equal);
  }
  u8* other_page = nullptr;
  if (pages) {
    find_page_set(e, b_);
    table_access(e, 0x33, a_, b_, 0, data_pages_at);
    and_wide(e, a_, -(1 << model_plan.page_bits));
    other_page = jump_if(e, not_equal);
  }
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  if (away != nullptr) {
    set_jump_target(away, stub.here());
    count_site(stub, pc, site);
    if (model_plan.l1d && !pages) table_access(stub, 0x33, a_, fixed ? u8{no_register} : b_, 0, set);
    note_other_line(b, stub, access, back);
  }
  if (other_page != nullptr) {
    set_jump_target(other_page, stub.here());
    count_site(stub, pc, site);
    load_address(stub, access, a_, page_);
    and_wide(stub, a_, -static_cast<s32>(model_plan.line_bytes));
    table_access(stub, 0x89, a_, b_, 0, data_pages_at);
    note_access(b, stub, access, back);
  }
  b.arena.cold = stub.here();
}

/// In a stub: makes the line of the access at register a the most recent one, and records it.
void ModelCode::note_other_line(Builder& b, Emitter& stub, const DataAccess& access, u64 back) {
  const bool fixed = access.fixed && !access.fs;
  if (access.bytes > 1 && !fixed) {
    u8* const within = model_plan.l1d ? jump_across(stub, access.bytes, equal) : nullptr;
    stub.store(a_, o_model_argument);
    ask_lookup(stub, b.arena.to_lookup, word_of(access.what, access.bytes));
    jump_to(stub, back);
    if (within == nullptr) return;
    set_jump_target(within, stub.here());
  }
  find_set(stub);
  and_wide(stub, a_, -static_cast<s32>(model_plan.line_bytes));
  table_access(stub, 0x89, a_, b_, 0, l1d_at);
  if (model_plan.pages) {
    find_page_set(stub, b_);
    table_access(stub, 0x89, a_, b_, 0, data_pages_at);
  }
  note_access(b, stub, access, back);
}

/// In a stub: records the access to the line in register a.
void ModelCode::note_access(Builder& b, Emitter& stub, const DataAccess& access, u64 back) {
  const u64 kind = static_cast<u64>(access.what);
  if (kind != 0) address_of(stub, a_, a_, no_register, 0, static_cast<s32>(kind), false);
  add_note(b, stub, back);
}

/// Sets `reg` to the offset, from data_pages_at, of the set for the page of the address in register a.
void ModelCode::find_page_set(Emitter& e, u8 reg) {
  low_halves(e, Between::move, reg, a_);
  shift_right(e, reg, model_plan.page_bits - page_stride_bits);
  and_low(e, reg, (model_plan.data_page_sets - 1) << page_stride_bits);
}

/// Sets register b to the offset, from l1d_at, of the set for the address in register a.
void ModelCode::find_set(Emitter& e) {
  low_halves(e, Between::move, b_, a_);
  and_low(e, b_, model_plan.l1d_mask);
}

void ModelCode::probe_data(Builder& b, u32 i, u32 k) {
  const ModelFacts& f = facts_[i];
  const DataAccess& access = f.access[k];
  Emitter& e = b.e;
  if (!model_plan.data()) return;
  site_ = site_of(in_[i].pc);
  const u32 line = model_plan.line_bytes;
  const u64 address = static_cast<u64>(access.displacement);
  const bool fixed = access.fixed && !access.fs;
  // At another address the same bytes mean the same operand address.
  if (access.fixed && (access.fs || (!in_[i].rip_relative() && in_[i].pc >= low_limit))) recorder.give_up();
  const bool fits = access.bytes <= line && (!fixed || address % line + access.bytes <= line);
  spill_flags(b, f.live);
  if (fits && (f.unstable >> k & 1) == 0) return probe_stable_data(b, access, in_[i].pc, k);
  if (!fits) {
    load_address(e, access, a_, b_);
    e.store(a_, o_model_argument);
    return ask_lookup(e, b.arena.to_lookup, word_of(access.what, access.bytes));
  }
  make_room(b);
  const u64 kind = static_cast<u64>(access.what);
  if (fixed) {
    const u32 set = l1d_at + (static_cast<u32>(address) & model_plan.l1d_mask);
    move_address(e, a_, address & ~u64{line - 1});
    if (model_plan.l1d) {
      table_access(e, 0x3b, a_, no_register, 0, set);
      e.store(a_, set);
    }
    note_line(e, kind, model_plan.l1d);
    if (model_plan.pages) note_page(e);
    return;
  }
  load_address(e, access, a_, b_);
  const bool mostly_aligned = access.bytes > 1 && access.bytes <= 8 && bits_set(access.bytes) == 1;
  u8* away = nullptr;
  if (mostly_aligned)
    test_byte(e, a_, static_cast<u8>(access.bytes - 1)), away = jump_if(e, not_equal);
  else if (access.bytes > 1)
    away = jump_across(e, access.bytes, not_equal);
  const u64 whole = e.here();
  if (model_plan.l1d) find_set(e);
  and_wide(e, a_, -static_cast<s32>(line));
  if (model_plan.l1d) {
    table_access(e, 0x3b, a_, b_, 0, l1d_at);
    table_access(e, 0x89, a_, b_, 0, l1d_at);
  }
  note_line(e, kind, model_plan.l1d);
  if (model_plan.pages) note_page(e);
  if (away == nullptr) return;
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  set_jump_target(away, stub.here());
  if (mostly_aligned) set_jump_target(jump_across(stub, access.bytes, equal), whole);
  stub.store(a_, o_model_argument);
  ask_lookup(stub, b.arena.to_lookup, word_of(access.what, access.bytes));
  jump_to(stub, e.here());
  b.arena.cold = stub.here();
}

/// Checks that the line is the most recent one of its set, and its page likewise, as far as they are probed.
void ModelCode::probe_stable_line(Builder& b, const FetchedLine& line, u64 pc) {
  if (note_ != no_register) make_room(b);
  u8* away[2] = {};
  if (model_plan.l1i) {
    relocate_line(b.e, line.address);
    compare_dword(b.e, line.entry, line.number);
    away[0] = jump_if(b.e, not_equal);
  }
  if (model_plan.pages) {
    relocate_page(b.e, line.page());
    compare_dword(b.e, line.page_entry, line.page_number);
    away[1] = jump_if(b.e, not_equal);
  }
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  for (u8* const jump : away)
    if (jump != nullptr) set_jump_target(jump, stub.here());
  count_site(stub, pc, line_site);
  if (model_plan.l1i) {
    relocate_line(stub, line.address);
    store_constant(stub, line.entry, line.number, false);
  }
  if (model_plan.pages) {
    relocate_page(stub, line.page());
    store_constant(stub, line.page_entry, line.page_number, false);
  }
  move_address(stub, a_, line.address + static_cast<u64>(Ask::fetch));
  add_note(b, stub, b.e.here());
  b.arena.cold = stub.here();
}

void ModelCode::probe_line(Builder& b, u32 i, u64 address) {
  Emitter& e = b.e;
  site_ = site_of(in_[i].pc);
  const u64 page = address >> model_plan.page_bits;
  const u32 number = line_number(address),
            page_number = model_plan.pages ? line_number(page << model_plan.page_bits) : number;
  if (number == 0 || page_number == 0) {
    mark_partial(current(), channel::partial_code_lines);
    return recorder.give_up();
  }
  constexpr u32 entry_bytes = sizeof(u32);
  const u32 set = static_cast<u32>(address / model_plan.line_bytes) & (model_plan.l1i_sets - 1);
  const FetchedLine line{address, l1i_at + set * entry_bytes, number, code_page_entry(address), page_number};
  spill_flags(b, facts_[i].live);
  if ((facts_[i].unstable >> line_site & 1) == 0) return probe_stable_line(b, line, in_[i].pc);
  make_room(b);
  if (model_plan.l1i) {
    relocate_line(e, line.address);
    compare_dword(e, line.entry, number);
    relocate_line(e, line.address);
    store_constant(e, line.entry, number, false);
  }
  move_address(e, a_, address + static_cast<u64>(Ask::fetch));
  note_line(e, 0, model_plan.l1i);
  if (!model_plan.pages) return;
  relocate_page(e, line.page());
  compare_dword(e, line.page_entry, page_number);
  relocate_page(e, line.page());
  store_constant(e, line.page_entry, page_number, false);
  move_if_not_equal(e, note_, b_);
}

}  // namespace tally::engine::instrument
