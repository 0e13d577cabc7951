// Source of the format: glibc 2.36, sysdeps/generic/dl-cache.h.
#include "tally/linux/files/library_cache.hpp"

#include <cstring>
#include <optional>
#include <vector>

namespace tally::linux {
namespace {

constexpr std::string_view magic = "glibc-ld.so.cache1.1";

/// The head of the file, and one library. Texts are named by their offset in the file.
struct Head {
  char magic[20];
  std::uint32_t libraries, text_bytes;
  std::uint8_t byte_order, padding[3];
  std::uint32_t extensions, unused[3];
};
struct Library {
  std::uint32_t kind, name, path, unused;
  std::uint64_t capabilities;
};
static_assert(sizeof(Head) == 48 && sizeof(Library) == 24);
constexpr std::uint32_t x86_64 = 0x303;

class LibraryList {
 public:
  static std::optional<LibraryList> read(std::string_view bytes) {
    LibraryList list(bytes);
    if (!bytes.starts_with(magic) || bytes.size() < sizeof(Head)) return std::nullopt;
    std::memcpy(&list.head_, bytes.data(), sizeof(Head));
    if (list.head_.libraries > (bytes.size() - sizeof(Head)) / sizeof(Library)) return std::nullopt;
    list.libraries_.resize(list.head_.libraries);
    if (!list.libraries_.empty())
      std::memcpy(list.libraries_.data(), bytes.data() + sizeof(Head), list.libraries_.size() * sizeof(Library));
    return list;
  }

  /// The directory of the C library for x86-64; empty if there is none.
  std::string_view directory_of_libc() const {
    for (const Library& library : libraries_)
      if (library.kind == x86_64 && text(library.name) == "libc.so.6")
        return text(library.path).substr(0, text(library.path).rfind('/'));
    return "";
  }

  /// The file with these libraries only.
  std::string with(const std::vector<Library>& some) const {
    Head head = head_;
    std::vector<Library> libraries = some;
    std::string texts;
    const std::size_t texts_at = sizeof(Head) + some.size() * sizeof(Library);
    const auto moved = [&](std::uint32_t at) {
      const std::size_t to = texts_at + texts.size();
      texts += std::string(text(at)) + '\0';
      return static_cast<std::uint32_t>(to);
    };
    for (Library& one : libraries) one.name = moved(one.name), one.path = moved(one.path);
    head.libraries = static_cast<std::uint32_t>(libraries.size());
    head.text_bytes = static_cast<std::uint32_t>(texts.size());
    head.extensions = 0;
    std::string made(reinterpret_cast<const char*>(&head), sizeof head);
    made.append(reinterpret_cast<const char*>(libraries.data()), libraries.size() * sizeof(Library));
    return made + texts;
  }

  const std::vector<Library>& libraries() const { return libraries_; }
  std::string_view text(std::uint32_t at) const {
    if (at >= bytes_.size()) return "";
    return bytes_.substr(at, bytes_.find('\0', at) - at);
  }

 private:
  explicit LibraryList(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
  Head head_{};
  std::vector<Library> libraries_;
};

/// Whether the path is in the directory, or in its part for some processors.
bool is_in(std::string_view path, std::string_view directory) {
  if (!path.starts_with(directory) || path.size() <= directory.size() || path[directory.size()] != '/') return false;
  const std::string_view rest = path.substr(directory.size() + 1);
  return rest.find('/') == std::string_view::npos || rest.starts_with("glibc-hwcaps/");
}

}  // namespace

std::string other_libraries(std::string_view cache) {
  const auto all = LibraryList::read(cache);
  if (!all) return "";
  const std::string directory(all->directory_of_libc());
  if (directory.empty()) return "";
  // The dynamic linker searches both, whatever is a link to the other.
  const std::string twin = directory.starts_with("/usr/") ? directory.substr(4) : "/usr" + directory;
  std::vector<Library> others;
  for (const Library& library : all->libraries()) {
    const std::string_view path = all->text(library.path);
    // Programs of other kinds do not run under the engine.
    if (library.kind != x86_64 || is_in(path, directory) || is_in(path, twin)) continue;
    if (library.capabilities != 0) return "";
    others.push_back(library);
  }
  return all->with(others);
}

}  // namespace tally::linux
