// Build step: combines libZydis and the engine's shared object in one image, relocated to its fixed base.
//
//   make_image ENGINE.so LIBZYDIS.so OUT
//
// The image contains a header page, libZydis, the engine (its data last, so that one range is writable), and the memory
// of a new thread: zeros, and a jump table without targets. Supports four relocation types and refuses all others.
#include <elf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest_thread.hpp"

namespace {

using namespace tally::engine;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "make_image: %s\n", what.c_str());
  std::exit(1);
}

/// A shared object: its file and its position in the image.
struct Library {
  std::string path;
  std::vector<char> file;
  u64 offset = 0;
  u64 bytes = 0;
  u64 writable = 0;  // offset of the first writable page
  std::vector<Elf64_Sym> symbols;
  u64 names = 0;  // offset of the symbols' names in the file

  const char* name(const Elf64_Sym& s) const { return file.data() + names + s.st_name; }

  const Elf64_Ehdr& header() const { return *reinterpret_cast<const Elf64_Ehdr*>(file.data()); }
  const Elf64_Phdr* segments() const { return reinterpret_cast<const Elf64_Phdr*>(file.data() + header().e_phoff); }
};

Library read_library(const std::string& path) {
  Library lib;
  lib.path = path;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path + ": cannot be read");
  lib.file.assign(std::istreambuf_iterator<char>(in), {});
  if (lib.file.size() < sizeof(Elf64_Ehdr) || std::memcmp(lib.file.data(), ELFMAG, SELFMAG) != 0 ||
      lib.header().e_machine != EM_X86_64)
    fail(path + ": not an x86-64 shared object");
  for (int i = 0; i < lib.header().e_phnum; i++) {
    const Elf64_Phdr& p = lib.segments()[i];
    if (p.p_type == PT_TLS) fail(path + ": has thread-local storage, which the image cannot give it");
    if (p.p_type != PT_LOAD) continue;
    lib.bytes = std::max(lib.bytes, page_up(p.p_vaddr + p.p_memsz));
    if ((p.p_flags & PF_W) && lib.writable == 0) lib.writable = page_down(p.p_vaddr);
  }
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(lib.file.data() + lib.header().e_shoff);
  for (int i = 0; i < lib.header().e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* first = reinterpret_cast<const Elf64_Sym*>(lib.file.data() + sections[i].sh_offset);
    lib.symbols.assign(first, first + sections[i].sh_size / sizeof(Elf64_Sym));
    lib.names = sections[sections[i].sh_link].sh_offset;
  }
  return lib;
}

/// Returns the offset in the image of a symbol that one of the libraries defines, or 0 if none does.
u64 find_symbol(const std::vector<Library>& libraries, std::string_view name) {
  for (const Library& lib : libraries)
    for (const Elf64_Sym& s : lib.symbols)
      if (s.st_shndx != SHN_UNDEF && name == lib.name(s)) {
        if (ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC) fail(std::string(name) + ": chosen at run time (IFUNC)");
        return lib.offset + s.st_value;
      }
  return 0;
}

void relocate(std::vector<char>& image, const std::vector<Library>& libraries, const Library& lib) {
  char* base = image.data() + lib.offset;
  u64 tables[2] = {}, sizes[2] = {};
  for (int i = 0; i < lib.header().e_phnum; i++) {
    if (lib.segments()[i].p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<Elf64_Dyn*>(base + lib.segments()[i].p_vaddr); d->d_tag != DT_NULL; d++)
      switch (d->d_tag) {
        case DT_RELA: tables[0] = d->d_un.d_ptr; break;
        case DT_RELASZ: sizes[0] = d->d_un.d_val; break;
        case DT_JMPREL: tables[1] = d->d_un.d_ptr; break;
        case DT_PLTRELSZ: sizes[1] = d->d_un.d_val; break;
        case 36 /* DT_RELR */: fail(lib.path + ": packed relative relocations");
        default: break;
      }
  }
  for (int k = 0; k < 2; k++)
    for (u64 at = 0; at < sizes[k]; at += sizeof(Elf64_Rela)) {
      const auto& r = *reinterpret_cast<const Elf64_Rela*>(base + tables[k] + at);
      u64 value = 0;
      switch (ELF64_R_TYPE(r.r_info)) {
        case R_X86_64_RELATIVE: value = image_base + lib.offset + static_cast<u64>(r.r_addend); break;
        case R_X86_64_64:
        case R_X86_64_GLOB_DAT:
        case R_X86_64_JUMP_SLOT: {
          const Elf64_Sym& s = lib.symbols[ELF64_R_SYM(r.r_info)];
          const u64 found = find_symbol(libraries, lib.name(s));
          if (found == 0 && ELF64_ST_BIND(s.st_info) != STB_WEAK) fail(lib.path + ": needs " + lib.name(s));
          const u64 addend = ELF64_R_TYPE(r.r_info) == R_X86_64_64 ? static_cast<u64>(r.r_addend) : 0;
          value = found == 0 ? 0 : image_base + found + addend;
          break;
        }
        default: fail(lib.path + ": relocation type " + std::to_string(ELF64_R_TYPE(r.r_info)));
      }
      std::memcpy(base + r.r_offset, &value, 8);
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: make_image ENGINE.so LIBZYDIS.so OUT");
  std::vector<Library> libraries{read_library(argv[2]), read_library(argv[1])};
  u64 bytes = page_bytes;
  for (Library& lib : libraries) {
    lib.offset = bytes;
    bytes += lib.bytes;
  }
  std::vector<char> image(bytes);
  for (const Library& lib : libraries)
    for (int i = 0; i < lib.header().e_phnum; i++)
      if (const Elf64_Phdr& p = lib.segments()[i]; p.p_type == PT_LOAD)
        std::memcpy(image.data() + lib.offset + p.p_vaddr, lib.file.data() + p.p_offset, p.p_filesz);
  for (const Library& lib : libraries) relocate(image, libraries, lib);
  const u64 entry = find_symbol(libraries, "engine_entry"), no_target = find_symbol(libraries, "engine_no_target");
  if (entry == 0 || no_target == 0) fail(std::string(argv[1]) + ": not the engine");
  const Library& engine = libraries.back();
  const u64 build = tally::channel::check_of(image.data(), image.size());
  const ImageHeader header{
      image_magic, tally::channel::layout_version, 0, bytes, engine.offset + engine.writable, image_base + entry, bytes,
      build};
  std::memcpy(image.data(), &header, sizeof header);
  image.resize(bytes + counters_at);
  for (u32 i = 0; i < jump_table_entries; i++) {
    const u64 target = image_base + no_target;
    std::memcpy(image.data() + bytes + jump_table_at + i * 8, &target, 8);
  }
  std::ofstream out(argv[3], std::ios::binary);
  out.write(image.data(), static_cast<std::streamsize>(image.size()));
  out.close();
  if (!out) fail(std::string(argv[3]) + ": cannot be written");
}
