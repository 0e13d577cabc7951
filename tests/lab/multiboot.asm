; A program that a multiboot loader starts and that goes to 64 bits by itself, as the tests of a hypervisor do: an ELF
; file of 32 bits, written out by hand, so that an assembler is enough (nasm -f bin). It prints a line for each thing that
; it found as it should be, and writes how many were not to the exit port.
bits 32
org 400000h
base equ 400000h

header:
  db 7Fh, "ELF", 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
  dw 2, 3
  dd 1, start, program_header - header, 0, 0
  dw 52, 32, 1, 0, 0, 0
program_header:
  dd 1, 0, base, base, file_end - base, memory_end - base, 7, 4096

align 4
multiboot:
  dd 1BADB002h, 0, -1BADB002h

start:
  mov esp, stack_top
  mov [loader_magic], eax
  mov [loader_information], ebx
  ; The first 4 GiB as they are, by pages of 2 MiB; and the last 4 KiB of all addresses are the page of `elsewhere`.
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
  mov dword [level_4 + 8 * 511], high_3 + 7
  mov dword [high_3 + 8 * 511], high_2 + 7
  mov dword [high_2 + 8 * 511], high_1 + 7
  mov dword [high_1 + 8 * 511], elsewhere + 7
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
%macro CHECK 2                ; condition that is right, text
  %1 %%good
  inc dword [failures]
  mov rsi, failed
  call print
%%good:
  mov rsi, %%text
  call print
  jmp %%done
%%text: db %2, 13, 10, 0
%%done:
%endmacro

wide:
  mov ax, 10h
  mov ds, ax
  mov es, ax
  mov ss, ax
  ; The serial port: speed first, as drivers do.
  mov dx, 3FBh
  mov al, 80h
  out dx, al
  mov dx, 3F8h
  mov al, 1
  out dx, al
  mov dx, 3FBh
  mov al, 3
  out dx, al
  ; Handlers, in a table at 0.
  mov rdi, 13 * 16
  mov rax, on_protection
  call set_gate
  mov rdi, 33h * 16
  mov rax, on_counter
  call set_gate
  lidt [idt_pointer]

  cmp dword [loader_magic], 2BADB002h
  CHECK je, "loader's magic"
  mov eax, [loader_information]
  mov ebx, [rax + 8]
  add ebx, 1024
  shl rbx, 10
  mov ax, 3                   ; fw_cfg: bytes of memory
  mov dx, 510h
  out dx, ax
  inc dx
  xor r8, r8
  xor ecx, ecx
.byte:
  xor eax, eax
  in al, dx
  shl rax, cl
  or r8, rax
  add ecx, 8
  cmp ecx, 64
  jb .byte
  cmp r8, rbx
  CHECK je, "memory by loader and by firmware"

  mov dword [elsewhere + 16], 12345678h
  mov rax, -4096 + 16
  cmp dword [rax], 12345678h
  CHECK je, "a page at the end of all addresses"
  mov dword [rax + 4], 55h
  cmp dword [elsewhere + 20], 55h
  CHECK je, "and written there"

  mov ecx, 64
  rdpmc
back_from_fault:
  cmp dword [faults], 1
  CHECK je, "RDPMC of counter 64 faults"

  ; x2APIC: its base says so, then registers are MSRs.
  mov ecx, 1Bh
  rdmsr
  bts eax, 10
  wrmsr
  mov ecx, 80Fh
  mov eax, 1FFh
  xor edx, edx
  wrmsr
  xor eax, eax
  rdmsr
  cmp eax, 1FFh
  CHECK je, "the x2APIC's registers"
  mov ecx, 834h
  mov eax, 33h
  xor edx, edx
  wrmsr
  mov ecx, 38Fh
  xor eax, eax
  wrmsr
  mov ecx, 186h
  mov eax, 5300C0h
  wrmsr
  mov ecx, 0C1h
  mov eax, -1000
  wrmsr
  sti
  mov ecx, 38Fh
  mov eax, 1
  xor edx, edx
  wrmsr
  mov ecx, 1000
.loop:
  dec ecx
  jnz .loop
  mov ecx, 38Fh
  xor eax, eax
  wrmsr
  cmp dword [interrupts], 1
  CHECK je, "one interrupt"
  mov eax, [failures]
  out 0F4h, eax
  hlt

set_gate:                     ; RAX is the handler of the gate at RDI
  mov [rdi], ax
  mov word [rdi + 2], 8
  mov word [rdi + 4], 8E00h
  shr rax, 16
  mov [rdi + 6], ax
  shr rax, 16
  mov [rdi + 8], rax
  ret

on_protection:
  inc dword [faults]
  add rsp, 8
  mov qword [rsp], back_from_fault
  iretq

on_counter:
  push rax
  push rcx
  push rdx
  inc dword [interrupts]
  mov ecx, 390h
  mov eax, 1
  xor edx, edx
  wrmsr
  mov ecx, 80Bh
  xor eax, eax
  wrmsr
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

failed: db "not so: ", 0
align 8
gdt:
  dq 0, 00AF9B000000FFFFh, 00CF93000000FFFFh
gdt_pointer:
  dw 23
  dq gdt
idt_pointer:
  dw 4095
  dq 0
loader_magic: dd 0
loader_information: dd 0
failures: dd 0
faults: dd 0
interrupts: dd 0
file_end:

absolute 410000h
level_2: resb 4000h
level_3: resb 1000h
level_4: resb 1000h
high_3: resb 1000h
high_2: resb 1000h
high_1: resb 1000h
elsewhere: resb 1000h
  resb 1000h
stack_top:
memory_end:
