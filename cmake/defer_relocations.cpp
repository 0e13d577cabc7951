// defer_relocations FILE: lets an executable start without relocating the tables of libpfm4, which it does when a name
// needs them (tally/linux/process/deferred_relocations.hpp).
//
// Moves the relative relocations of the sections libpfm_tables and libpfm_constants to the end of .rela.dyn, makes
// DT_RELASZ end before them, and writes their address and number into the section tally_deferred. Leaves a file without
// these sections as it is.
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "defer_relocations: %s\n", what.c_str());
  std::exit(1);
}

class Executable {
 public:
  explicit Executable(std::string path) : path_(std::move(path)) {
    std::ifstream in(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    if (bytes_.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
      fail(path_ + ": not an ELF file");
  }

  const Elf64_Shdr* section(const char* name) const {
    const auto* all = at<Elf64_Shdr>(header().e_shoff);
    for (int i = 0; i < header().e_shnum; ++i)
      if (std::strcmp(at<char>(all[header().e_shstrndx].sh_offset + all[i].sh_name), name) == 0) return &all[i];
    return nullptr;
  }

  void defer() {
    const Elf64_Shdr *tables = section("libpfm_tables"), *constants = section("libpfm_constants"),
                     *deferred = section("tally_deferred"), *relocations = section(".rela.dyn"),
                     *dynamic = section(".dynamic");
    if (!tables || !constants || !deferred || !relocations || !dynamic) return;
    Elf64_Dyn *bytes = nullptr, *relative = nullptr;
    for (auto* d = at<Elf64_Dyn>(dynamic->sh_offset); d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_RELASZ) bytes = d;
      if (d->d_tag == DT_RELACOUNT) relative = d;
    }
    if (!bytes || !relative) return;
    const auto contains = [](const Elf64_Shdr& s, Elf64_Addr a) { return a - s.sh_addr < s.sh_size; };
    const auto starts = [&](const Elf64_Rela& r) {
      return !is_relative(r) || !(contains(*tables, r.r_offset) || contains(*constants, r.r_offset));
    };
    auto* const first = at<Elf64_Rela>(relocations->sh_offset);
    auto* const end = first + bytes->d_un.d_val / sizeof *first;
    auto* const later = std::stable_partition(first, end, starts);
    const auto moved = static_cast<Elf64_Xword>(end - later);
    relative->d_un.d_val -= moved;
    bytes->d_un.d_val -= moved * sizeof *first;
    const Elf64_Xword found[2] = {relocations->sh_addr + bytes->d_un.d_val, moved};
    std::memcpy(at<char>(deferred->sh_offset), found, sizeof found);
    write();
  }

 private:
  const Elf64_Ehdr& header() const { return *at<Elf64_Ehdr>(0); }
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(const_cast<char*>(bytes_.data()) + offset);
  }
  bool is_relative(const Elf64_Rela& r) const {
    return ELF64_R_TYPE(r.r_info) == (header().e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
  }
  // Truncates the file and writes it at once: file systems with large folios (ext4 since Linux 6.16) then cache it in
  // these, not in the single pages of the linker's small writes. The page faults of a start in the code of tally took
  // 49 us instead of 235, and unmapping it 10 instead of 163 (Linux 6.18).
  void write() const {
    std::ofstream out(path_, std::ios::binary);
    out.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    out.close();
    if (!out) fail(path_ + ": cannot be written");
  }

  std::string path_;
  std::vector<char> bytes_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: defer_relocations FILE");
  Executable(argv[1]).defer();
}
