; tally lab
; PEBS: the processor writes a record of its registers at every third store, and interrupts at the fourth record.
; An overflow, here after two stores, arms; the next store is recorded. The handler prints of each record the address of
; the instruction (EventingIP), the next one (RIP), the address of the store, and EAX. All are those of the exact
; instruction, although the interrupt comes only after the fourth.
%include "lab.inc"

RECORD_BYTES equ 0C0h           ; format 2: Haswell

  mov esi, APIC_PERFMON_VECTOR
  mov edi, perfmon_handler
  call set_interrupt_handler
  mov dword [APIC_BASE + LVT_PERFMON], APIC_PERFMON_VECTOR
  sti

  WRITE_MSR IA32_DEBUGCTL, 1 << 12      ; the interrupt stops the counters: they do not count the handler
  mov ecx, IA32_DS_AREA
  mov eax, ds_area
  xor edx, edx
  wrmsr
  WRITE_MSR IA32_PMC0, 0FFFFFFFEh       ; -2, as the reset value in the DS area
  WRITE_MSR IA32_PEBS_ENABLE, 1
  WRITE_MSR IA32_PERFEVTSEL0, 4382D0h   ; stores; without INT: the threshold interrupts

  xor eax, eax
.next:
  inc eax
  mov [cells + eax * 4], eax    ; recorded when EAX is 3, 6, 9 and 12
  cmp eax, 14
  jb .next
  WRITE_MSR IA32_PERFEVTSEL0, 0
  hlt

perfmon_handler:
  STORE_CONTEXT
  mov ecx, IA32_PERF_GLOBAL_STATUS
  mov esi, status
  call dump_msr
  mov edi, buffer
.record:
  mov esi, event
  mov ebx, 0B0h
  call print_field
  mov esi, next
  mov ebx, 08h
  call print_field
  mov esi, data
  mov ebx, 98h
  call print_field
  mov esi, register
  mov ebx, 10h
  call print_field
  call put_line
  add edi, RECORD_BYTES
  cmp edi, [ds_area + DS_PEBS_INDEX]
  jb .record
  mov dword [ds_area + DS_PEBS_INDEX], buffer
  WRITE_MSR IA32_PERF_GLOBAL_OVF_CTRL, 1 << 62
  btr dword [APIC_BASE + LVT_PERFMON], 16
  mov dword [APIC_BASE + EOI], 0
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0Fh
  RESTORE_CONTEXT
  iret

print_field:
  call puts
  mov eax, [edi + ebx]
  mov edx, [edi + ebx + 4]
  jmp put_hex

status:   db 'IA32_PERF_GLOBAL_STATUS = ', 0
event:    db 'EventingIP ', 0
next:     db '  RIP ', 0
data:     db '  data ', 0
register: db '  EAX ', 0

align 8
ds_area:
  times 4 dq 0                  ; the BTS buffer: unused
  dq buffer                     ; base
  dq buffer                     ; index
  dq buffer + 6 * RECORD_BYTES  ; absolute maximum
  dq buffer + 4 * RECORD_BYTES  ; interrupt threshold
  dq -2                         ; reset value of IA32_PMC0
  times 7 dq 0
cells: times 16 dd 0
buffer: times 6 * RECORD_BYTES db 0
