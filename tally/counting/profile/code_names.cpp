#include "tally/counting/profile/code_names.hpp"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/debug_files.hpp"
#include "tally/counting/profile/debug_info.hpp"
#include "tally/counting/profile/file_bounds.hpp"
#include "tally/counting/profile/function_of.hpp"
#include "tally/counting/profile/linked_functions.hpp"
#include "tally/linux/symbol/clones.hpp"
#include "tally/linux/symbol/frames.hpp"
#include "tally/linux/symbol/names.hpp"
#include "tally/linux/symbol/other_names.hpp"
#include "tally/output/analysis/profile_objects.hpp"

namespace tally::profile {
namespace {

struct Symbol {
  std::uint64_t address, bytes;
  std::string_view name;
  int binding;
  std::uint32_t unit;  // of a local symbol: the index of its STT_FILE symbol
  bool is_ifunc;
};

// A malicious file may make its names larger than itself: with many symbols of one long name, or countless sections.
constexpr std::size_t most_name = 4096, most_name_bytes = 128 << 20, most_sections = 4096;

/// Ranks the names of one address: visible to other files first, then without underscores, then short.
auto rank(const Symbol& s) {
  const int by_binding = s.binding == STB_GLOBAL ? 0 : s.binding == STB_WEAK ? 1 : 2;
  const std::size_t underlines = std::min(s.name.find_first_not_of('_'), s.name.size());
  // A mangled name starts with an underscore.
  const bool is_mangled = s.name.starts_with("_Z");
  return std::tuple(s.bytes == 0, by_binding, is_mangled ? 0 : underlines, s.name.size(), s.name);
}

class Names final : public CodeNames {
 public:
  ~Names() override {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  Result<void> open(const std::string& path, int fd) {
    file_ = path.substr(path.rfind('/') + 1);
    static char* no_path = nullptr;  // path of debug files: the default directories
    static const Dwfl_Callbacks callbacks{nullptr, find_debug_file, dwfl_offline_section_address, &no_path};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr) return fail(Code::bad_usage, dwfl_errmsg(-1));
    dwfl_report_begin(dwfl_);
    // The addresses are those in the file.
    const int own = fd < 0 ? -1 : dup(fd);
    module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), own, 0, true);
    if (module_ == nullptr && own >= 0) close(own);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    GElf_Addr bias = 0;
    elf_ = module_ == nullptr ? nullptr : dwfl_module_getelf(module_, &bias);
    if (elf_ == nullptr) return fail(Code::bad_usage, std::string(dwfl_errmsg(-1)));
    const FileBounds bounds = bounds_of(elf_);
    if (!bounds.symbols.empty()) return fail(Code::bad_usage, "tally does not read them: " + bounds.symbols);
    debug_ =
        std::make_unique<DebugInfo>(module_, fd < 0 ? linux::file_state(path) : linux::file_state(fd), bounds.debug);
    read_parts();
    read_symbols();
    return {};
  }

  std::optional<std::uint64_t> address_of(std::uint64_t offset) const override {
    for (const GElf_Phdr& part : parts_)
      if (offset - part.p_offset < part.p_filesz) return offset - part.p_offset + part.p_vaddr;
    return std::nullopt;
  }

  std::string_view bytes() const override {
    std::size_t size = 0;
    const char* const bytes = elf_rawfile(elf_, &size);
    return bytes == nullptr ? std::string_view() : std::string_view(bytes, size);
  }

  std::string build_id() const override {
    const void* bits = nullptr;
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf_, &bits);
    std::string text;
    for (ssize_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", static_cast<const unsigned char*>(bits)[i]);
    return text;
  }

  Part executable() const override {
    for (const GElf_Phdr& part : parts_)
      if (part.p_flags & PF_X) return {part.p_vaddr, part.p_memsz, part.p_offset};
    return {};
  }

  const std::vector<NamedCode>& functions() const override { return functions_; }

  NamedCode section_of(std::uint64_t address) const override {
    for (const NamedCode& section : sections_)
      if (address - section.address < section.bytes) return section;
    return {"[no section]", address, 1, true};
  }

  std::optional<SourceLine> line_of(std::uint64_t address) const override { return debug_->line_of(address); }
  std::optional<SourceLine> beginning_of(std::uint64_t address) const override { return debug_->beginning_of(address); }
  std::optional<SourceLine> declaration_of(std::uint64_t address) const override {
    return debug_->declaration_of(address);
  }
  std::vector<SourceLine> lines_with_code() const override { return debug_->lines_with_code(); }
  void keep() const override { debug_->keep(); }
  std::uint32_t inlined_at(std::uint64_t address) const override { return debug_->inlined_at(address); }
  std::string over_limit() const override { return over_limit_.empty() ? debug_->over_limit() : over_limit_; }
  const std::vector<InlinedCode>& inlined() const override { return debug_->inlined(); }
  std::vector<std::string> unread() const override { return {debug_->unread().begin(), debug_->unread().end()}; }

 private:
  void read_parts() {
    std::size_t parts = 0;
    elf_getphdrnum(elf_, &parts);
    for (std::size_t i = 0; i < parts; ++i) {
      GElf_Phdr part;
      if (gelf_getphdr(elf_, static_cast<int>(i), &part) != nullptr && part.p_type == PT_LOAD) parts_.push_back(part);
    }
    std::size_t names = 0;
    elf_getshdrstrndx(elf_, &names);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr head;
      if (gelf_getshdr(section, &head) == nullptr) continue;
      const char* const name = elf_strptr(elf_, names, head.sh_name);
      if ((head.sh_flags & SHF_EXECINSTR) && head.sh_size > 0 && sections_.size() < most_sections)
        sections_.push_back({std::string("[") + (name == nullptr ? "" : name) + "]", head.sh_addr, head.sh_size, true});
    }
  }

  void read_symbols() {
    const int count = dwfl_module_getsymtab(module_);
    std::vector<Symbol> symbols;
    std::uint32_t unit = 0;
    bool has_ada = false;
    for (int i = 1; i < count; ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* const name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (name != nullptr && type == STT_FILE) unit = static_cast<std::uint32_t>(i);
      // The runtime of GNAT.
      has_ada = has_ada || (name != nullptr && std::string_view(name).starts_with("__gnat_"));
      // Functions in assembly may have no type.
      const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && is_executable(address));
      if (name == nullptr || *name == 0 || !is_code || symbol.st_shndx == SHN_UNDEF) continue;
      const int binding = GELF_ST_BIND(symbol.st_info);
      symbols.push_back({address,
                         symbol.st_size,
                         {name, strnlen(name, most_name)},
                         binding,
                         binding == STB_LOCAL ? unit : 0,
                         type == STT_GNU_IFUNC});
    }
    std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
      return a.address != b.address ? a.address < b.address : rank(a) < rank(b);
    });
    std::size_t name_bytes = 0;
    std::vector<NamedCode> linked = linked_functions(elf_);
    std::size_t next_linked = 0;
    std::vector<symbol::CloneSymbol> own;  // of functions_ that are no linkage table entries
    std::vector<std::size_t> own_indices;
    // Adds linkage table entries without a symbol of their own, up to an address.
    const auto add_linked = [&](std::uint64_t end) {
      for (; next_linked < linked.size() && linked[next_linked].address <= end; ++next_linked)
        if (linked[next_linked].address != end) functions_.push_back(std::move(linked[next_linked]));
    };
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (i > 0 && symbols[i].address == symbols[i - 1].address) continue;
      if ((name_bytes += symbols[i].name.size()) > most_name_bytes) {
        over_limit_ = fmt::format("the names of its functions take more than {}", bytes_text(most_name_bytes));
        break;
      }
      add_linked(symbols[i].address);
      std::string_view name = symbols[i].name;
      // Without its version.
      name = name.substr(0, name.find('@', 1));
      auto ada = has_ada ? symbol::ada_name(name) : std::nullopt;
      functions_.push_back(
          {ada ? *std::move(ada) : symbol::demangled(name), symbols[i].address, symbols[i].bytes, false});
      if (symbols[i].is_ifunc) functions_.back().name += ifunc_suffix;
      if (functions_.back().name != name) functions_.back().linker_name = name;
      own.push_back({name, symbols[i].address, symbols[i].unit});
      own_indices.push_back(functions_.size() - 1);
    }
    add_linked(~std::uint64_t{0});
    const std::vector<std::uint64_t> clones = symbol::functions_of_clones(own);
    for (std::size_t i = 0; i < own.size(); ++i) functions_[own_indices[i]].clone_of = clones[i];
    const std::vector<symbol::Frame> frames = symbol::frames_of(bytes());
    const auto frame_after = [&](std::uint64_t address) {
      return std::upper_bound(frames.begin(), frames.end(), address,
                              [](std::uint64_t at, const symbol::Frame& frame) { return at < frame.address; });
    };
    // A function without a size extends to the next one, or to the end of its section.
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      NamedCode& one = functions_[i];
      if (one.bytes != 0) continue;
      const NamedCode section = section_of(one.address);
      std::uint64_t end = section.address + section.bytes;
      if (i + 1 < functions_.size()) end = std::min(end, functions_[i + 1].address);
      if (const auto frame = frame_after(one.address); frame != frames.end()) end = std::min(end, frame->address);
      one.bytes = end > one.address ? end - one.address : 1;
    }
    add_frames(frames);
  }

  /// Adds functions without a name, named after their start: "libz.so.1+0x2a40". BOLT leaves old copies of functions in
  /// a section of their own, without symbols.
  void add_frames(const std::vector<symbol::Frame>& frames) {
    std::vector<NamedCode> nameless;
    for (const symbol::Frame& frame : frames) {
      // A linkage table has one frame for all entries.
      const std::string section = section_of(frame.address).name;
      if (function_of(*this, frame.address) != nullptr || section.starts_with("[.plt")) continue;
      const bool is_old = section == output::section_before_bolt;
      nameless.push_back({fmt::format("{}+{:#x}{}", file_, frame.address, is_old ? " " + section : ""), frame.address,
                          frame.bytes, false});
    }
    if (nameless.empty()) return;
    const auto named = static_cast<std::ptrdiff_t>(functions_.size());
    functions_.insert(functions_.end(), std::make_move_iterator(nameless.begin()),
                      std::make_move_iterator(nameless.end()));
    std::inplace_merge(functions_.begin(), functions_.begin() + named, functions_.end(),
                       [](const NamedCode& a, const NamedCode& b) { return a.address < b.address; });
  }

  bool is_executable(std::uint64_t address) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const NamedCode& s) { return address - s.address < s.bytes; });
  }

  std::string file_;  // without directories
  std::string over_limit_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  ::Elf* elf_ = nullptr;
  std::vector<GElf_Phdr> parts_;
  std::vector<NamedCode> sections_, functions_;
  std::unique_ptr<DebugInfo> debug_;
};

}  // namespace

Result<std::unique_ptr<CodeNames>> CodeNames::open(const std::string& path, int fd) {
  auto names = std::make_unique<Names>();
  if (auto opened = names->open(path, fd); !opened) return fail(opened.error());
  return names;
}

}  // namespace tally::profile
