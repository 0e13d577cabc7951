; A program as kvm-unit-tests' x86/pmu.elf is one: an ELF file of 64 bits whose multiboot header has it started in 32. It
; sets up page tables, tables of descriptors and the x2APIC, looks for a hypervisor's forced emulation by #UD, and checks
; the PMU from inside. It prints PASS or FAIL for each check, and how many failed goes to the exit port. Written for
; nasm -f bin. CPUID decides what is checked, so it runs on every model.
bits 32
org 400000h
base equ 400000h

header:
  db 7Fh, "ELF", 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
  dw 2, 62
  dd 1
  dq start, program_header - header, 0
  dd 0
  dw 64, 56, 1, 0, 0, 0
program_header:
  dd 1, 7
  dq 0, base, base, file_end - base, memory_end - base, 4096

align 4
multiboot:
  dd 1BADB002h, 0, -1BADB002h

start:
  mov esp, stack_top
  ; The first 4 GiB as they are, by pages of 2 MiB.
  mov edi, level_2
  mov eax, 0E7h
  mov ecx, 2048
.page:
  mov [edi], eax
  mov dword [edi + 4], 0
  add eax, 200000h
  add edi, 8
  loop .page
  mov dword [level_3], level_2 + 7
  mov dword [level_3 + 8], level_2 + 1000h + 7
  mov dword [level_3 + 16], level_2 + 2000h + 7
  mov dword [level_3 + 24], level_2 + 3000h + 7
  mov dword [level_4], level_3 + 7
  lgdt [gdt_pointer]
  mov eax, cr4
  bts eax, 5                  ; PAE
  mov cr4, eax
  mov eax, level_4
  mov cr3, eax
  mov ecx, 0C0000080h         ; EFER
  rdmsr
  bts eax, 8                  ; LME
  wrmsr
  mov eax, cr0
  or eax, 80000001h
  mov cr0, eax
  jmp 8:wide

bits 64
; The condition that is right, and the check's name.
%macro CHECK 2
  mov rsi, passed
  %1 %%good
  inc dword [failures]
  mov rsi, failed
%%good:
  call print
  mov rsi, %%text
  call print
  jmp %%done
%%text: db %2, 10, 0
%%done:
%endmacro
%macro WRITE 2
  mov ecx, %1
  mov eax, (%2) & 0FFFFFFFFh
  mov edx, (%2) >> 32
  wrmsr
%endmacro

wide:
  mov ax, 16
  mov ds, ax
  mov es, ax
  mov ss, ax
  mov gs, ax
  ; GS has this processor's data, as there.
  mov ecx, 0C0000101h
  mov eax, processor
  xor edx, edx
  wrmsr
  ; Memory is cleared, in blocks that run fast until the next instructions stop them.
  mov edi, cleared
  mov ecx, 20000
.clear:
  mov byte [rdi], 0
  inc rdi
  dec ecx
  jnz .clear
  mov ebx, 6 * 16
  mov rax, on_invalid
  call set_gate
  mov ebx, 13 * 16
  mov rax, on_protection
  call set_gate
  mov ebx, 33h * 16
  mov rax, on_counter
  call set_gate
  ; The table, a cell of GS, and #UD at once: who emulates on demand would go on behind the five bytes.
  lidt [idt_pointer]
  mov dword [gs:4], 0
  ud2
  db "kvm"
after_probe:
  cmp dword [gs:4], 1
  CHECK je, "setup_idt: no forced emulation"

  ; Firmware: the number of processors.
  mov ax, 5
  mov dx, 510h
  out dx, ax
  inc dx
  in al, dx
  cmp al, 1
  CHECK je, "fw_cfg: one processor"
  ; x2APIC.
  mov ecx, 1Bh
  rdmsr
  bts eax, 10
  wrmsr
  WRITE 80Fh, 1FFh
  WRITE 834h, 33h
  mov ecx, 834h
  rdmsr
  cmp eax, 33h
  CHECK je, "enabling apic"

  mov eax, 0Ah
  xor ecx, ecx
  cpuid
  mov [leaf_eax], eax
  mov [leaf_edx], edx
  cmp al, 2
  CHECK jae, "version"
  WRITE 38Fh, 0
  ; Instructions and branches of a loop: the general counters.
  WRITE 186h, 4300C0h
  WRITE 187h, 4300C4h
  WRITE 0C1h, 0
  WRITE 0C2h, 0
  WRITE 38Fh, 3
  call loop_of_1000
  WRITE 38Fh, 0
  xor ecx, ecx
  rdpmc
  ; MOV, 2,000 and the return; the call, and four of the write that stops.
  cmp eax, 1 + 2000 + 1 + 1 + 4
  CHECK je, "instructions"
  mov ecx, 1
  rdpmc
  cmp eax, 1000 + 2
  CHECK je, "branches"
  ; The fixed counters: instructions.
  WRITE 309h, 0
  WRITE 38Dh, 3
  WRITE 38Fh, 100000000h
  call loop_of_1000
  WRITE 38Fh, 0
  mov ecx, 40000000h
  rdpmc
  cmp eax, 1 + 2000 + 1 + 1 + 4
  CHECK je, "fixed-0"
  ; Overflow: the status, its reset, and the interrupt.
  WRITE 390h, 7000000FFh & 70000000Fh
  WRITE 0C1h, 0FFFFFFFFh - 499
  WRITE 186h, 5300C0h
  sti
  WRITE 38Fh, 1
  call loop_of_1000
  WRITE 38Fh, 0
  cli
  cmp dword [interrupts], 1
  CHECK je, "overflow: one interrupt"
  cmp dword [status], 1
  CHECK je, "overflow: status"
  mov ecx, 38Eh
  rdmsr
  test eax, 1
  CHECK jz, "overflow: cleared"
  ; Faults.
  mov ecx, 63
  mov dword [gs:4], 0
  rdpmc
  cmp dword [gs:4], 1
  CHECK je, "rdpmc of a counter that is missing faults"
  mov ecx, 186h
  xor eax, eax
  mov edx, 1
  mov dword [gs:4], 0
  wrmsr
  cmp dword [gs:4], 1
  CHECK je, "reserved bits of an event select fault"
  ; Code that a test writes, and runs.
  mov edi, patch + 1
  mov dword [rdi], 7
patch:
  mov eax, 5
  cmp eax, 7
  CHECK je, "an instruction that was just written"
  mov rsi, summary
  call print
  mov eax, [failures]
  out 0F4h, eax
  hlt

loop_of_1000:
  mov r8d, 1000
.again:
  dec r8d
  jnz .again
  ret

set_gate:                     ; RAX is the handler of the gate at RBX
  mov [rbx + table], ax
  mov word [rbx + table + 2], 8
  mov word [rbx + table + 4], 8E00h
  shr rax, 16
  mov [rbx + table + 6], ax
  shr rax, 16
  mov [rbx + table + 8], rax
  ret

on_invalid:
  inc dword [gs:4]
  mov qword [rsp], after_probe
  iretq

on_protection:
  inc dword [gs:4]
  add rsp, 8
  add qword [rsp], 2
  iretq

on_counter:
  push rax
  push rcx
  push rdx
  inc dword [interrupts]
  mov ecx, 38Eh
  rdmsr
  mov [status], eax
  WRITE 390h, 1
  WRITE 80Bh, 0
  pop rdx
  pop rcx
  pop rax
  iretq

print:                        ; the text at RSI
  push rax
  push rdx
.next:
  mov dx, 3FDh
  in al, dx
  test al, 20h
  jz .next
  lodsb
  test al, al
  jz .done
  mov dx, 3F8h
  out dx, al
  jmp .next
.done:
  pop rdx
  pop rax
  ret

passed: db "PASS: ", 0
failed: db "FAIL: ", 0
summary: db "SUMMARY: done", 10, 0
align 8
gdt:
  dq 0, 00AF9B000000FFFFh, 00CF93000000FFFFh
gdt_pointer:
  dw 23
  dq gdt
idt_pointer:
  dw 4095
  dq table
processor: dq 0
failures: dd 0
interrupts: dd 0
status: dd 0
leaf_eax: dd 0
leaf_edx: dd 0
file_end:

absolute 410000h
level_2: resb 4000h
level_3: resb 1000h
level_4: resb 1000h
table: resb 1000h
cleared: resb 5000h
  resb 1000h
stack_top:
  resb 0C00000h               ; as much as theirs take
memory_end:
