#include "tally/engine/models/core/operation.hpp"

namespace tally::models {

namespace {

// The mnemonics of a kind, each with a space before and after it.
struct Names {
  Operation operation;
  const char* names;
};

constexpr Names all_names[] = {
    {Operation::nop, " nop endbr64 endbr32 prefetchnta prefetcht0 prefetcht1 prefetcht2 prefetchw "},
    {Operation::move, " mov movabs movnti movbe lodsb lodsw lodsd lodsq stosb stosw stosd stosq "},
    {Operation::extend, " movzx movsx movsxd cbw cwde cdqe cwd cdq cqo "},
    {Operation::alu,
     " add sub and or xor not neg inc dec cmp test andn blsi blsr blsmsk bzhi stc clc cmc lahf sahf scasb scasw scasd "
     "scasq adcx adox "},
    {Operation::carry, " adc sbb "},
    {Operation::select,
     " cmovb cmovbe cmovl cmovle cmovnb cmovnbe cmovnl cmovnle cmovno cmovnp cmovns cmovnz cmovo cmovp cmovs cmovz "},
    {Operation::set, " setb setbe setl setle setnb setnbe setnl setnle setno setnp setns setnz seto setp sets setz "},
    {Operation::lea, " lea "},
    {Operation::shift, " shl sal shr sar rol ror rorx sarx shlx shrx "},
    {Operation::rotate_carry, " rcl rcr "},
    {Operation::shift_double, " shld shrd "},
    {Operation::bit_test, " bt bts btr btc "},
    {Operation::bit_count, " bsf bsr lzcnt tzcnt popcnt crc32 pdep pext "},
    {Operation::bit_extract, " bextr "},
    {Operation::byte_swap, " bswap "},
    {Operation::multiply, " imul "},
    {Operation::multiply_wide, " mul mulx "},
    {Operation::divide, " div idiv "},
    {Operation::exchange, " xchg xadd cmpxchg "},
    {Operation::push, " push "},
    {Operation::pop, " pop "},
    {Operation::jump, " jmp jb jbe jl jle jnb jnbe jnl jnle jno jnp jns jnz jo jp js jz jrcxz jecxz "},
    {Operation::call, " call "},
    {Operation::ret, " ret "},
    {Operation::leave, " leave "},
    {Operation::vector_move,
     " movaps movapd movups movupd movdqa movdqu lddqu movntps movntpd movntdq movntdqa movq2dq movdq2q movhps movlps "
     "movhpd movlpd broadcastf128 broadcasti128 "},
    {Operation::vector_integer,
     " paddb paddw paddd paddq paddsb paddsw paddusb paddusw psubb psubw psubd psubq psubsb psubsw psubusb psubusw "
     "pavgb "
     "pavgw pmaxsb pmaxsw pmaxsd pmaxub pmaxuw pmaxud pminsb pminsw pminsd pminub pminuw pminud pabsb pabsw pabsd "
     "psignb "
     "psignw psignd pcmpeqb pcmpeqw pcmpeqd pcmpeqq pcmpgtb pcmpgtw pcmpgtd "},
    {Operation::vector_logic,
     " pand pandn por pxor andps andpd andnps andnpd orps orpd xorps xorpd blendps blendpd pblendd "},
    {Operation::vector_blend_variable, " blendvps blendvpd pblendvb "},
    {Operation::vector_shuffle,
     " pshufb pshufd pshufhw pshuflw pshufw shufps shufpd unpcklps unpckhps unpcklpd unpckhpd punpcklbw punpcklwd "
     "punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq packsswb packssdw packuswb packusdw palignr "
     "pblendw "
     "pslldq psrldq movss movsd movshdup movsldup movddup movhlps movlhps insertps permilps permilpd pmovsxbw pmovsxbd "
     "pmovsxbq pmovsxwd pmovsxwq pmovsxdq pmovzxbw pmovzxbd pmovzxbq pmovzxwd pmovzxwq pmovzxdq psllw pslld psllq "
     "psrlw "
     "psrld psrlq psraw psrad "},
    {Operation::vector_shuffle_lanes,
     " permd permq permps permpd perm2f128 perm2i128 extractf128 extracti128 insertf128 inserti128 broadcastss "
     "broadcastsd pbroadcastb pbroadcastw pbroadcastd pbroadcastq "},
    {Operation::vector_horizontal, " phaddw phaddd phaddsw phsubw phsubd phsubsw "},
    {Operation::vector_shift_variable, " psllvd psllvq psrlvd psrlvq psravd "},
    {Operation::vector_multiply, " pmullw pmulhw pmulhuw pmuludq pmuldq pmaddwd pmaddubsw pmulhrsw phminposuw "},
    {Operation::vector_multiply_32, " pmulld "},
    {Operation::vector_compare_64, " pcmpgtq "},
    {Operation::vector_sad, " psadbw "},
    {Operation::vector_mpsad, " mpsadbw "},
    {Operation::vector_test, " ptest testps testpd "},
    {Operation::vector_mask, " pmovmskb movmskps movmskpd "},
    {Operation::vector_to_integer, " movd movq "},
    {Operation::vector_extract, " pextrb pextrw pextrd pextrq extractps "},
    {Operation::vector_insert, " pinsrb pinsrw pinsrd pinsrq "},
    {Operation::vector_string_explicit, " pcmpestri pcmpestrm "},
    {Operation::vector_string_implicit, " pcmpistri pcmpistrm "},
    {Operation::carryless_multiply, " pclmulqdq "},
    {Operation::aes, " aesenc aesenclast aesdec aesdeclast "},
    {Operation::aes_columns, " aesimc "},
    {Operation::aes_key, " aeskeygenassist "},
    {Operation::fp_add,
     " addps addpd addss addsd subps subpd subss subsd addsubps addsubpd cmpps cmppd cmpss cmpsd comiss comisd ucomiss "
     "ucomisd minps minpd minss minsd maxps maxpd maxss maxsd "},
    {Operation::fp_multiply, " mulps mulpd mulss mulsd "},
    {Operation::fp_fma,
     " fmadd132ps fmadd132pd fmadd132ss fmadd132sd fmadd213ps fmadd213pd fmadd213ss fmadd213sd fmadd231ps fmadd231pd "
     "fmadd231ss fmadd231sd fmsub132ps fmsub132pd fmsub132ss fmsub132sd fmsub213ps fmsub213pd fmsub213ss fmsub213sd "
     "fmsub231ps fmsub231pd fmsub231ss fmsub231sd fnmadd132ps fnmadd132pd fnmadd132ss fnmadd132sd fnmadd213ps "
     "fnmadd213pd fnmadd213ss fnmadd213sd fnmadd231ps fnmadd231pd fnmadd231ss fnmadd231sd fnmsub132ps fnmsub132pd "
     "fnmsub132ss fnmsub132sd fnmsub213ps fnmsub213pd fnmsub213ss fnmsub213sd fnmsub231ps fnmsub231pd fnmsub231ss "
     "fnmsub231sd fmaddsub132ps fmaddsub132pd fmaddsub213ps fmaddsub213pd fmaddsub231ps fmaddsub231pd fmsubadd132ps "
     "fmsubadd132pd fmsubadd213ps fmsubadd213pd fmsubadd231ps fmsubadd231pd "},
    {Operation::fp_convert, " cvtdq2ps cvtps2dq cvttps2dq "},
    {Operation::fp_convert_width,
     " cvtpd2ps cvtps2pd cvtss2sd cvtsd2ss cvtdq2pd cvtpd2dq cvttpd2dq cvtsi2ss cvtsi2sd cvtss2si cvtsd2si cvttss2si "
     "cvttsd2si cvtph2ps cvtps2ph "},
    {Operation::fp_round, " roundps roundpd roundss roundsd "},
    {Operation::fp_approximate, " rcpps rcpss rsqrtps rsqrtss "},
    {Operation::fp_divide_single, " divps divss "},
    {Operation::fp_divide_double, " divpd divsd "},
    {Operation::fp_root_single, " sqrtps sqrtss "},
    {Operation::fp_root_double, " sqrtpd sqrtsd "},
    {Operation::fp_horizontal, " haddps haddpd hsubps hsubpd "},
    {Operation::fp_dot_single, " dpps "},
    {Operation::fp_dot_double, " dppd "},
    {Operation::x87_move, " fld fld1 fldz fst fstp fabs fchs "},
    {Operation::x87_add,
     " fadd faddp fsub fsubp fsubr fsubrp fcom fcomp fcompp fucom fucomp fucompp fcomi fcomip fucomi fucomip "},
    {Operation::x87_multiply, " fmul fmulp "},
    {Operation::x87_divide, " fdiv fdivp fdivr fdivrp "},
    {Operation::x87_root, " fsqrt "},
};

// Returns whether the list contains this word.
bool lists(const char* names, const char* word) {
  while (*names != 0) {
    ++names;  // the space before a name
    const char* w = word;
    while (*w != 0 && *w != ' ' && *w == *names) ++w, ++names;
    if (*w == 0 && *names == ' ') return true;
    while (*names != ' ' && *names != 0) ++names;
    if (*names != 0 && names[1] == 0) return false;
  }
  return false;
}

Operation named(const char* mnemonic) {
  for (const Names& row : all_names)
    if (lists(row.names, mnemonic)) return row.operation;
  return Operation::unknown;
}

// Returns the kind for 256 bits, which occupies the divider for twice as long.
Operation widened(Operation operation) {
  switch (operation) {
    case Operation::fp_divide_single: return Operation::fp_divide_single_wide;
    case Operation::fp_divide_double: return Operation::fp_divide_double_wide;
    case Operation::fp_root_single: return Operation::fp_root_single_wide;
    case Operation::fp_root_double: return Operation::fp_root_double_wide;
    default: return operation;
  }
}

bool is(const char* mnemonic, const char* name) {
  while (*name != 0 && *mnemonic == *name) ++mnemonic, ++name;
  return *name == 0 && *mnemonic == 0;
}

// Returns whether the instruction clears a register if both sources are that register.
bool clears(const char* mnemonic) {
  return lists(" xor sub pxor xorps xorpd psubb psubw psubd psubq pcmpgtb pcmpgtw pcmpgtd ", mnemonic);
}

// A vector shift by a constant has the timing of a shuffle. A shift by a register needs one more micro-operation.
bool is_vector_shift(const char* mnemonic) {
  return lists(" psllw pslld psllq psrlw psrld psrlq psraw psrad ", mnemonic);
}

Operation refined(Operation operation, const char* mnemonic, const Form& form) {
  switch (operation) {
    case Operation::lea: return form.address_parts >= 3 ? Operation::lea_slow : operation;
    case Operation::shift: return form.immediate || form.operands != 2 ? operation : Operation::shift_by_register;
    case Operation::byte_swap: return form.bits == 64 ? Operation::byte_swap_wide : operation;
    case Operation::multiply: return form.operands == 1 ? Operation::multiply_wide : operation;
    case Operation::divide:
      if (form.bits != 64) return operation;
      return is(mnemonic, "idiv") ? Operation::divide_wide_signed : Operation::divide_wide;
    case Operation::exchange: return is(mnemonic, "xchg") && form.memory ? Operation::locked : operation;
    case Operation::vector_shuffle:
      if (is_vector_shift(mnemonic) && !form.immediate) return Operation::vector_shift_by_register;
      // movss and movsd between registers keep the upper elements of the destination. A load clears them.
      if (form.memory && (is(mnemonic, "movss") || is(mnemonic, "movsd"))) return Operation::vector_move;
      return operation;
    case Operation::vector_to_integer: return form.memory ? Operation::vector_move : operation;
    default: return form.bits >= 256 ? widened(operation) : operation;
  }
}

}  // namespace

Operation operation_of(const char* mnemonic, const Form& form) {
  if (form.locked) return Operation::locked;
  const char* plain = mnemonic;
  Operation operation = named(plain);
  if (operation == Operation::unknown && *plain == 'v') operation = named(++plain);
  if (form.same_register && clears(plain)) return Operation::zeroing;
  return refined(operation, plain, form);
}

}  // namespace tally::models
