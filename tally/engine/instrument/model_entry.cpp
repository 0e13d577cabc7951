// The entries from generated code into the model, and the returns.
#include "tally/engine/context.hpp"
#include "tally/engine/instrument/model_probes.hpp"

namespace tally::engine::instrument {
namespace {

#define CONSTANT(name, value) asm volatile(".set " name ", %c0" ::"i"(value))
#define MODEL_OFFSET(name, member) CONSTANT("model_" name, models_at + offsetof(ModelThread, member))

/// Never called: its text names what the assembly below needs of Thread and ModelThread.
[[gnu::used]] void name_for_assembly() {
  CONSTANT("thread_stack", offsetof(Thread, stack));
  CONSTANT("thread_pad", offsetof(Thread, pad));
  CONSTANT("thread_self", offsetof(Thread, self));
  MODEL_OFFSET("argument", argument);
  MODEL_OFFSET("word", word);
  MODEL_OFFSET("back", back);
  MODEL_OFFSET("active", active);
  MODEL_OFFSET("stack", stack);
  MODEL_OFFSET("flags", flags);
  MODEL_OFFSET("rcx", saved[0]);
  MODEL_OFFSET("rdx", saved[1]);
  MODEL_OFFSET("rsi", saved[2]);
  MODEL_OFFSET("rdi", saved[3]);
  MODEL_OFFSET("r8", saved[4]);
  MODEL_OFFSET("r9", saved[5]);
  MODEL_OFFSET("r10", saved[6]);
  MODEL_OFFSET("r11", saved[7]);
  MODEL_OFFSET("rax", saved[8]);
  MODEL_OFFSET("whole_flags", whole_flags);
  // Compilers take direction and alignment check to be clear.
  CONSTANT("special_flags", direction_flag | alignment_flag);
}

#undef MODEL_OFFSET
#undef CONSTANT

}  // namespace
}  // namespace tally::engine::instrument

// The flags are kept without pushf, which takes ten times as long.
asm(R"(
.text
.globl enter_model, enter_lookup, model_leave_begin, model_leave_end, lookup_leave_begin, lookup_leave_end, model_pad
.hidden enter_model, enter_lookup, model_leave_begin, model_leave_end, lookup_leave_begin, lookup_leave_end, model_pad
# A probe of a first level that generated code could not resolve. Its caller has saved the flags, or needs none. The
# function saves what it uses.
enter_lookup:
  mov %rdi, %gs:model_rdi
  mov %rsi, %gs:model_rsi
  mov %rdx, %gs:model_rdx
  mov %rsp, %gs:model_stack
  mov %gs:thread_self, %rdi
  mov %gs:model_argument, %rsi
  mov %gs:model_word, %edx
  mov %gs:thread_stack, %rsp
  movl $1, %gs:model_active
  call model_lookup
lookup_leave_begin:
  movl $0, %gs:model_active
  cmpl $0, %gs:thread_pad
  mov %gs:model_stack, %rsp
  mov %gs:model_rdi, %rdi
  mov %gs:model_rsi, %rsi
  mov %gs:model_rdx, %rdx
  jne model_pad
  jmp *%gs:model_back
lookup_leave_end:
# Preserves the flags.
enter_model:
  mov %rax, %gs:model_rax
  lahf
  seto %al
  mov %rax, %gs:model_flags
  mov %rcx, %gs:model_rcx
  mov %rdx, %gs:model_rdx
  mov %rsi, %gs:model_rsi
  mov %rdi, %gs:model_rdi
  mov %r8, %gs:model_r8
  mov %r9, %gs:model_r9
  mov %r10, %gs:model_r10
  mov %r11, %gs:model_r11
  mov %rsp, %gs:model_stack
  movq $1, %gs:model_active
  mov %gs:thread_self, %rdi
  mov %gs:model_argument, %rsi
  mov %gs:model_word, %rdx
  mov %gs:thread_stack, %rsp
  pushfq
  popq %gs:model_whole_flags
  testl $special_flags, %gs:model_whole_flags
  jz 3f
  pushfq
  andl $~special_flags, (%rsp)
  popfq
3:call handle_model_request
model_leave_begin:
  movq $0, %gs:model_active
  testl $special_flags, %gs:model_whole_flags
  jz 4f
  mov %gs:thread_stack, %rsp          # begun again, it may be the program's
  mov %gs:model_whole_flags, %eax
  and $special_flags, %eax
  pushfq
  or %eax, (%rsp)
  popfq
4:mov %gs:model_flags, %rax
  add $0x7f, %al
  sahf
  mov %gs:model_rdx, %rdx
  mov %gs:model_rsi, %rsi
  mov %gs:model_rdi, %rdi
  mov %gs:model_r8, %r8
  mov %gs:model_r9, %r9
  mov %gs:model_r10, %r10
  mov %gs:model_r11, %r11
  mov %gs:model_stack, %rsp
  mov %gs:thread_pad, %rcx      # does something wait? The flags must stay as they are
  jrcxz 1f
  jmp 2f
1:mov %gs:model_rcx, %rcx
  mov %gs:model_rax, %rax
  jmp *%gs:model_back
2:mov %gs:model_rcx, %rcx
  mov %gs:model_rax, %rax
model_leave_end:
model_pad:
  int3
  ud2
)");
