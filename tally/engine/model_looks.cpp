// Looks at first levels. At a restless site a look never leaves the line of code for what cannot be foretold: every
// access is noted down, and the note stays where it is not to the most recent line of its set: the next one comes
// behind it, and else over it. At a steady site what is found elsewhere is noted beside the way.
#include "tally/engine/model_code.hpp"
#include "tally/engine/model_emit.hpp"

namespace tally::engine {

/// Into the model, which may read and write notes. Register b is lost.
void ModelCode::ask_look(Emitter& e, u64 whom, u32 word) {
  if (note_ != no_register) e.store(note_, o_model_note);
  ask(e, whom, word, b_, 0);
  if (note_ != no_register) e.load(note_, o_model_note);
}

/// Before a trace's first note.
void ModelCode::make_room(Builder& b) {
  if (has_room_) return;
  has_room_ = true;
  test_dword(b.e, note_, model_plan.notes_full);
  u8* const full = jump_if(b.e, not_equal);
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(full, stub.here());
  ask_look(stub, b.arena.to_look, word_of(Ask::noted));
  stub.jump(b.e.here());
  b.arena.cold = stub.here();
}

/// Notes the line in register a down, to stay if a level is looked at and the flags say "not equal". Register b is
/// where the next note goes if this one stays.
void ModelCode::note_line(Emitter& e, u64 kind, bool looks) {
  if (kind != 0) address_of(e, a_, a_, no_register, 0, static_cast<s32>(kind), false);
  store_at(e, note_, a_, 0);
  address_of(e, b_, note_, no_register, 0, sizeof(u64), false);
  if (looks) move_if_not_equal(e, note_, b_);
}

/// Lets the note of an access, which is in register a, stay if its page is not the most recent one of its set. Register
/// a is lost.
void ModelCode::note_page(Emitter& e) {
  low_halves(e, Between::move, page_, a_);
  shift_right(e, page_, model_plan.page_bits - page_stride_bits);
  with_constant(e, Operation::bit_and, page_, (model_plan.data_page_sets - 1) << page_stride_bits);
  table_access(e, 0x33, a_, page_, 0, data_pages_at);
  and_wide(e, a_, -(1 << model_plan.page_bits));
  move_if_not_equal(e, note_, b_);
  load_at(e, a_, b_, -8);
  table_access(e, 0x89, a_, page_, 0, data_pages_at);
}

/// A jump for an access to these bytes at register a: for one across lines, or for any other. Register b is lost.
u8* ModelCode::jump_across(Emitter& e, u32 bytes, int condition) {
  address_of(e, b_, a_, no_register, 0, static_cast<s32>(bytes) - 1, false);
  low_halves(e, Between::bit_xor, b_, a_);
  test_dword(e, b_, model_plan.line_bytes);
  return jump_if(e, condition);
}

/// In the stub of a look: notes the line in register a down, and goes back. Both registers are lost.
void ModelCode::add_note(Builder& b, Emitter& stub, u64 back) {
  if (note_ != no_register) {
    store_at(stub, note_, a_, 0);
    address_of(stub, note_, note_, no_register, 0, sizeof(u64), false);
    return stub.jump(back);
  }
  stub.load(b_, o_model_note);
  store_at(stub, b_, a_, 0);
  address_of(stub, b_, b_, no_register, 0, sizeof(u64), false);
  stub.store(b_, o_model_note);
  test_dword(stub, b_, model_plan.notes_full);
  lead(jump_if(stub, equal), back);
  ask_look(stub, b.arena.to_look, word_of(Ask::noted));
  stub.jump(back);
}

/// The address exclusive or the set's most recent line is below the line's length where that is the line, and so far
/// below it where the access ends in it.
void ModelCode::look_at_steady_data(Builder& b, const DataAccess& access, u32 site) {
  Emitter& e = b.e;
  const u32 line = model_plan.line_bytes;
  const u64 address = static_cast<u64>(access.displacement);
  const bool fixed = access.fixed && !access.fs;
  const u32 set = l1d_at + (static_cast<u32>(address) & model_plan.l1d_mask);
  if (note_ != no_register) make_room(b);
  if (fixed) {
    e.move_constant(a_, address & ~u64{line - 1});
    table_access(e, 0x3b, a_, no_register, 0, set);
  } else {
    load_address(e, access, a_, b_);
    find_set(e);
    table_access(e, 0x33, a_, b_, 0, l1d_at);
    compare_wide(e, a_, static_cast<s32>(line - access.bytes));
  }
  u8* const away = jump_if(e, fixed ? not_equal : above);
  const u64 back = e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  count_site(stub, site);
  if (fixed) {
    stub.store(a_, set);
  } else {
    table_access(stub, 0x33, a_, b_, 0, l1d_at);
    if (access.bytes > 1) {
      u8* const within = jump_across(stub, access.bytes, equal);
      stub.store(a_, o_model_argument);
      ask_look(stub, b.arena.to_look, word_of(access.what, access.bytes));
      stub.jump(back);
      lead(within, stub.here());
      find_set(stub);
    }
    and_wide(stub, a_, -static_cast<s32>(line));
    table_access(stub, 0x89, a_, b_, 0, l1d_at);
  }
  const u64 kind = static_cast<u64>(access.what);
  if (kind != 0) address_of(stub, a_, a_, no_register, 0, static_cast<s32>(kind), false);
  add_note(b, stub, back);
  b.arena.cold = stub.here();
}

/// Register b = where the set of the address in register a is, from l1d_at.
void ModelCode::find_set(Emitter& e) {
  low_halves(e, Between::move, b_, a_);
  with_constant(e, Operation::bit_and, b_, model_plan.l1d_mask);
}

void ModelCode::look_at_data(Builder& b, u32 i, u32 k) {
  const ModelFacts& f = facts_[i];
  const DataAccess& access = f.access[k];
  Emitter& e = b.e;
  if (!model_plan.data()) return;
  const u32 line = model_plan.line_bytes;
  const u64 address = static_cast<u64>(access.displacement);
  const bool fixed = access.fixed && !access.fs;
  const bool fits = access.bytes <= line && (!fixed || address % line + access.bytes <= line);
  put_flags_away(b, f.live);
  if (fits && (f.restless >> k & 1) == 0) return look_at_steady_data(b, access, site_of(in_[i].pc, k));
  make_room(b);
  const u64 kind = static_cast<u64>(access.what);
  if (fixed && fits) {
    const u32 set = l1d_at + (static_cast<u32>(address) & model_plan.l1d_mask);
    e.move_constant(a_, address & ~u64{line - 1});
    if (model_plan.l1d) {
      table_access(e, 0x3b, a_, no_register, 0, set);
      e.store(a_, set);
    }
    note_line(e, kind, model_plan.l1d);
    if (model_plan.pages) note_page(e);
    return;
  }
  load_address(e, access, a_, b_);
  if (!fits) {
    e.store(a_, o_model_argument);
    return ask_look(e, b.arena.to_look, word_of(access.what, access.bytes));
  }
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
  lead(away, stub.here());
  if (mostly_aligned) lead(jump_across(stub, access.bytes, equal), whole);
  stub.store(a_, o_model_argument);
  ask_look(stub, b.arena.to_look, word_of(access.what, access.bytes));
  stub.jump(e.here());
  b.arena.cold = stub.here();
}

/// `entry`: of the table, where the number of the set's line is.
void ModelCode::look_at_steady_line(Builder& b, u64 line, u32 entry, u32 number, u32 site) {
  if (note_ != no_register) make_room(b);
  compare_dword(b.e, entry, number);
  u8* const away = jump_if(b.e, not_equal);
  const u64 back = b.e.here();
  Emitter stub{reinterpret_cast<u8*>(b.arena.cold)};
  lead(away, stub.here());
  count_site(stub, site);
  store_constant(stub, entry, number, false);
  stub.move_constant(a_, line + static_cast<u64>(Ask::fetch));
  add_note(b, stub, back);
  b.arena.cold = stub.here();
}

void ModelCode::look_at_line(Builder& b, u32 i, u64 line) {
  Emitter& e = b.e;
  const u64 page = line >> model_plan.page_bits;
  const u32 number = line_number(line),
            number_of_page = model_plan.pages ? line_number(page << model_plan.page_bits) : number;
  if (number == 0 || number_of_page == 0) {
    mark_partial(current(), channel::partial_code_lines);
    return;
  }
  const u32 set = static_cast<u32>(line / model_plan.line_bytes) & (model_plan.l1i_sets - 1);
  const u32 entry = l1i_at + set * static_cast<u32>(sizeof(u32));
  put_flags_away(b, facts_[i].live);
  if ((facts_[i].restless >> line_site & 1) == 0)
    return look_at_steady_line(b, line, entry, number, site_of(in_[i].pc, line_site));
  make_room(b);
  if (model_plan.l1i) replace_dword(e, entry, number);
  e.move_constant(a_, line + static_cast<u64>(Ask::fetch));
  note_line(e, 0, model_plan.l1i);
  if (!model_plan.pages) return;
  replace_dword(e, code_pages_at + static_cast<u32>(page & (model_plan.code_page_sets - 1)) * 4, number_of_page);
  move_if_not_equal(e, note_, b_);
}

}  // namespace tally::engine
