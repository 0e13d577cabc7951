#include "programs/workload/image.hpp"

#include <elf.h>

#include <bit>
#include <cstring>
#include <optional>

// The tables in shipped.S.
struct TallyProgram {
  uint32_t code;    // offsets of its first byte and its first value
  uint32_t values;  // both end where the next entry's begin
  char name[24];    // empty: end of the table
};
struct TallyValue {
  uint32_t code_offset;  // of the value in the code
  uint32_t value;
};
extern "C" {
extern const uint8_t tally_code[];
extern const TallyValue tally_values[];
extern const TallyProgram tally_programs[];
}

namespace tally::workload {
namespace {

// The same numbers as in shipped.h.
enum Value : uint32_t { n, first, second, third, bytes, stride, steps, cells, row, k, seed, last, rounds, pages };

constexpr uint64_t code_address = 0x400000;
constexpr uint64_t page = 4096;
constexpr uint64_t memory_end = 0x7fff0000;  // addresses are 31-bit immediates

Buffers buffers_of(const Workload& workload, const Parameters& p) {
  return workload.buffers ? workload.buffers(p) : Buffers{};
}

uint64_t value_of(uint32_t value, const Buffers& buffers, const Parameters& p) {
  switch (static_cast<Value>(value)) {
    case n: return p.n;
    case first: return memory_address;
    case second: return memory_address + buffers[0];
    case third: return memory_address + buffers[0] + buffers[1];
    case bytes: return buffers[0] + buffers[1] + buffers[2];
    case stride: return p.stride;
    case steps: return p.stride ? p.bytes / p.stride : 0;
    case cells: return p.n * p.n;
    case row: return 4 * p.n;
    case k: return p.k;
    case seed: return p.seed;
    case last: return p.n - 1;
    case rounds: return p.n * p.k;
    case pages: return p.bytes / page;
  }
  return 0;
}

const TallyProgram* shipped(std::string_view name) {
  for (const TallyProgram* one = tally_programs; one->name[0]; ++one) {
    if (name == one->name) return one;
  }
  return nullptr;
}

#if defined(__aarch64__)
constexpr Elf64_Half machine = EM_AARCH64;
// A value is in the immediates of a movz and the following movk (bits 20:5): its lower and upper half.
void fill_in(std::string& code, uint32_t code_offset, uint64_t value) {
  for (int half = 0; half < 2; ++half) {
    uint32_t word = 0;
    char* at = code.data() + code_offset + 4 * half;
    std::memcpy(&word, at, sizeof word);
    word = (word & ~(0xffffu << 5)) | static_cast<uint32_t>((value >> (16 * half) & 0xffff) << 5);
    std::memcpy(at, &word, sizeof word);
  }
}
#else
constexpr Elf64_Half machine = EM_X86_64;
void fill_in(std::string& code, uint32_t code_offset, uint64_t value) {
  const auto word = static_cast<uint32_t>(value);
  std::memcpy(code.data() + code_offset, &word, sizeof word);
}
#endif

std::string code_of(const TallyProgram& program, const Workload& workload, const Parameters& p) {
  const TallyProgram& next = (&program)[1];
  std::string code(reinterpret_cast<const char*>(tally_code) + program.code, next.code - program.code);
  const Buffers buffers = buffers_of(workload, p);
  for (uint32_t i = program.values / sizeof(TallyValue); i < next.values / sizeof(TallyValue); ++i) {
    fill_in(code, tally_values[i].code_offset - program.code, value_of(tally_values[i].value, buffers, p));
  }
  return code;
}

template <class T>
void append(std::string& file, const T& part) {
  file.append(reinterpret_cast<const char*>(&part), sizeof part);
}

// Section names, for tools that disassemble by section.
constexpr char section_names[] = "\0.text\0.bss\0.shstrtab";

Elf64_Shdr section(Elf64_Word name, Elf64_Word type, Elf64_Xword flags, Elf64_Addr address, Elf64_Off offset,
                   Elf64_Xword size) {
  return {name, type, flags, address, offset, size, 0, 0, 16, 0};
}

std::string elf(const std::string& code, uint64_t memory) {
  const uint64_t programs = memory ? 3 : 2;
  const uint64_t start = sizeof(Elf64_Ehdr) + programs * sizeof(Elf64_Phdr);
  const uint64_t names = start + code.size();
  const uint64_t sections = (names + sizeof section_names + 7) / 8 * 8;
  std::string file;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_entry = code_address + start;
  header.e_phoff = sizeof header;
  header.e_shoff = sections;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(programs);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  append(file, header);
  append(file, Elf64_Phdr{PT_LOAD, PF_R | PF_X, 0, code_address, code_address, names, names, page});
  if (memory) append(file, Elf64_Phdr{PT_LOAD, PF_R | PF_W, 0, memory_address, memory_address, 0, memory, page});
  append(file, Elf64_Phdr{PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16});
  file += code;
  file.append(section_names, sizeof section_names);
  file.resize(sections);
  append(file, Elf64_Shdr{});
  append(file, section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code_address + start, start, code.size()));
  append(file, section(7, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, memory_address, names, memory));
  append(file, section(12, SHT_STRTAB, 0, 0, names, sizeof section_names));
  return file;
}

}  // namespace

std::string why_not(const Workload& workload, const Parameters& p) {
  const std::string name(workload.name);
  if (!shipped(workload.name)) return "this build of tally has no " + name;
  if (takes(workload, "n") && p.n < workload.least_n)
    return name + ": n is at least " + std::to_string(workload.least_n);
  for (const Named& one : fields()) {
    if (!takes(workload, one.name)) continue;
    const uint64_t most = one.name == "seed" ? 0xffffffff : 0x7fffffff;
    if (p.*one.field > most) return name + ": " + std::string(one.name) + " is at most " + std::to_string(most);
    if (one.name != "n" && p.*one.field == 0) return name + ": " + std::string(one.name) + " is at least 1";
  }
  if (workload.name == "chase" && (!std::has_single_bit(p.n) || p.n * p.k > 0x7fffffff)) {
    return name + ": n is a power of two, and n k less than 2^31";
  }
  if (workload.name == "matmul" && p.n > 10'000) return name + ": n is at most 10000";
  if (workload.name == "stride" &&
      (!std::has_single_bit(p.bytes) || !std::has_single_bit(p.stride) || p.stride > p.bytes)) {
    return name + ": bytes and stride are powers of two, and stride is not larger than bytes";
  }
  const Buffers buffers = buffers_of(workload, p);
  if (buffers[0] + buffers[1] + buffers[2] > memory_end - memory_address) return name + ": it takes too much memory";
  return {};
}

std::string image(const Workload& workload, const Parameters& p) {
  if (!why_not(workload, p).empty()) return {};
  const Buffers buffers = buffers_of(workload, p);
  return elf(code_of(*shipped(workload.name), workload, p), buffers[0] + buffers[1] + buffers[2]);
}

}  // namespace tally::workload
