// Follows RFC 2603 ("Rust Symbol Mangling v0"), and the older scheme: C++ mangling of a path that ends in a hash.
#include "tally/linux/symbol/rust_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tally::symbol {
namespace {

constexpr std::string_view digits = "0123456789", hexadecimal = "0123456789abcdef";

const char* basic_type(char letter) {
  switch (letter) {
    case 'a': return "i8";
    case 'b': return "bool";
    case 'c': return "char";
    case 'd': return "f64";
    case 'e': return "str";
    case 'f': return "f32";
    case 'h': return "u8";
    case 'i': return "isize";
    case 'j': return "usize";
    case 'l': return "i32";
    case 'm': return "u32";
    case 'n': return "i128";
    case 'o': return "u128";
    case 'p': return "_";
    case 's': return "i16";
    case 't': return "u16";
    case 'u': return "()";
    case 'v': return "...";
    case 'x': return "i64";
    case 'y': return "u64";
    case 'z': return "!";
    default: return nullptr;
  }
}

/// Parses a name character by character and writes its text. Anything unexpected ends it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    path(true);
    // The crate that requested the instance may follow.
    return good_ ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  static constexpr int most_depth = 100;
  static constexpr std::size_t most_bytes = 4000;  // a name may refer to itself repeatedly

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    const char letter = peek();
    good_ = good_ && letter != '\0';
    at_++;
    return letter;
  }
  bool take(char letter) {
    if (peek() != letter) return false;
    at_++;
    return true;
  }
  void write(std::string_view text) {
    if (is_silent_ == 0) out_ += text;
    good_ = good_ && out_.size() < most_bytes;
  }

  /// "_" is 0, "0_" 1.
  std::uint64_t base_62() {
    if (take('_')) return 0;
    std::uint64_t value = 0;
    while (good_ && peek() != '_') {
      const char c = next();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 10
                        : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                               : -1;
      good_ = good_ && digit >= 0;
      value = value * 62 + static_cast<std::uint64_t>(digit);
    }
    at_++;
    return value + 1;
  }
  std::uint64_t optional_number(char letter) { return take(letter) ? base_62() + 1 : 0; }

  std::string_view identifier() {
    take('u');
    std::size_t size = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && digits.find(peek()) != std::string_view::npos && size < text_.size())
      size = size * 10 + static_cast<std::size_t>(text_[at_++] - '0');
    good_ = good_ && at_ > begin;
    take('_');
    if (!good_ || size > text_.size() - std::min(at_, text_.size())) {
      good_ = false;
      return {};
    }
    at_ += size;
    return text_.substr(at_ - size, size);
  }

  /// Parses again from an earlier position, then returns to the current one.
  template <class Read>
  void again(Read&& read) {
    const std::size_t here = at_ - 1;  // of the letter
    const std::uint64_t to = base_62();
    const std::size_t back = at_;
    if (!good_ || to >= here || depth_ > most_depth) {
      good_ = false;
      return;
    }
    at_ = to;
    depth_++;
    read();
    depth_--;
    at_ = back;
  }

  /// `open`: omits the closing bracket of its generic arguments. Returns whether one is open.
  bool path(bool is_value, bool open = false) {
    bool is_open = false;
    if (++depth_ > most_depth) good_ = false;
    if (!good_) return false;
    switch (next()) {
      case 'C':
        optional_number('s');
        write(identifier());
        break;
      case 'M':
        impl_path();
        write("<");
        type();
        write(">");
        break;
      case 'X':
        impl_path();
        qualified();
        break;
      case 'Y': qualified(); break;
      case 'N': nested(is_value); break;
      case 'I':
        path(is_value);
        write(is_value ? "::<" : "<");
        arguments();
        if (open)
          is_open = true;
        else
          write(">");
        break;
      case 'B': again([&] { is_open = path(is_value, open); }); break;
      default: good_ = false;
    }
    depth_--;
    return is_open;
  }
  void impl_path() {
    optional_number('s');
    is_silent_++;
    path(false);
    is_silent_--;
  }
  void qualified() {
    write("<");
    type();
    write(" as ");
    path(false);
    write(">");
  }
  void nested(bool is_value) {
    const char space = next();
    path(is_value);
    const std::uint64_t number = optional_number('s');
    const std::string_view name = identifier();
    if (space >= 'A' && space <= 'Z') {
      write(space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
      if (!name.empty()) write(std::string(":") + std::string(name));
      write("#" + std::to_string(number) + "}");
    } else if (!name.empty()) {
      write("::");
      write(name);
    }
  }
  void arguments() {
    for (bool first = true; good_ && !take('E'); first = false) {
      if (!first) write(", ");
      if (peek() == 'L')
        lifetime();
      else if (take('K'))
        constant();
      else
        type();
    }
  }
  void lifetime() {
    at_++;
    base_62();
    write("'_");
  }
  void optional_lifetime() {
    if (peek() != 'L') return;
    at_++;
    base_62();
  }

  void type() {
    if (++depth_ > most_depth) good_ = false;
    if (!good_) return;
    const char letter = next();
    if (const char* const basic = basic_type(letter); basic != nullptr) {
      write(basic);
    } else {
      switch (letter) {
        case 'A':
        case 'S':
          write("[");
          type();
          if (letter == 'A') {
            write("; ");
            constant();
          }
          write("]");
          break;
        case 'T': tuple(); break;
        case 'R':
        case 'Q':
          write(letter == 'R' ? "&" : "&mut ");
          optional_lifetime();
          type();
          break;
        case 'P':
        case 'O':
          write(letter == 'P' ? "*const " : "*mut ");
          type();
          break;
        case 'F': function(); break;
        case 'D': dynamic(); break;
        case 'B': again([&] { type(); }); break;
        default: at_--; path(false);
      }
    }
    depth_--;
  }
  void tuple() {
    write("(");
    std::size_t count = 0;
    for (; good_ && !take('E'); ++count) {
      if (count > 0) write(", ");
      type();
    }
    write(count == 1 ? ",)" : ")");
  }
  void function() {
    optional_number('G');
    if (take('U')) write("unsafe ");
    if (take('K')) {
      const std::string abi = take('C') ? "C" : std::string(identifier());
      write("extern \"" + abi + "\" ");
    }
    write("fn(");
    for (bool first = true; good_ && !take('E'); first = false) {
      if (!first) write(", ");
      type();
    }
    write(")");
    if (take('u')) return;
    write(" -> ");
    type();
  }
  void dynamic() {
    optional_number('G');
    write("dyn ");
    for (bool first = true; good_ && !take('E'); first = false) {
      if (!first) write(" + ");
      bool is_open = path(false, true);
      while (good_ && take('p')) {
        write(is_open ? ", " : "<");
        is_open = true;
        write(identifier());
        write(" = ");
        type();
      }
      if (is_open) write(">");
    }
    optional_lifetime();
  }
  void constant() {
    if (take('p')) return write("_");
    if (take('B')) return again([&] { constant(); });
    const char of = next();
    if (basic_type(of) == nullptr) {
      good_ = false;
      return;
    }
    if (take('n')) write("-");
    const std::size_t begin = at_;
    while (hexadecimal.find(peek()) != std::string_view::npos && peek() != '\0') at_++;
    const std::string_view number = text_.substr(std::min(begin, text_.size()), at_ - begin);
    good_ = good_ && take('_');
    std::uint64_t value = 0;
    const bool fits = number.size() <= 16;
    std::from_chars(number.data(), number.data() + number.size(), value, 16);
    if (of == 'b')
      write(value != 0 ? "true" : "false");
    else
      write(fits ? std::to_string(value) : "0x" + std::string(number));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool good_ = true;
  int depth_ = 0, is_silent_ = 0;
};

/// Replaces escapes of characters that linkers do not accept: "$LT$", "$u20$".
std::string unescaped(std::string_view part) {
  static constexpr std::pair<std::string_view, char> letters[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
                                                                  {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
  std::string text;
  if (part.starts_with("_$")) part.remove_prefix(1);
  while (!part.empty()) {
    const std::size_t end = part.find('$', 1);
    if (part.front() == '$' && end != std::string_view::npos) {
      const std::string_view code = part.substr(1, end - 1);
      char letter = 0;
      for (const auto& [name, meaning] : letters)
        if (code == name) letter = meaning;
      unsigned number = 0;
      if (letter == 0 && code.starts_with('u')) {
        std::from_chars(code.data() + 1, code.data() + code.size(), number, 16);
        if (number >= ' ' && number < 0x7f) letter = static_cast<char>(number);
      }
      if (letter != 0) {
        text += letter;
        part.remove_prefix(end + 1);
        continue;
      }
    }
    const bool is_colons = part.starts_with("..");
    text += is_colons ? "::" : part.substr(0, 1);
    part.remove_prefix(is_colons ? 2 : 1);
  }
  return text;
}

/// "_ZN1a1f17h0123456789abcdefE": parts, each after its size.
std::optional<std::string> older_name(std::string_view name) {
  name = name.substr(0, name.find(".llvm."));
  if (!name.starts_with("_ZN") || !name.ends_with('E')) return std::nullopt;
  name = name.substr(3, name.size() - 4);
  std::string text;
  std::string_view last;
  while (!name.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
    if (error != std::errc{}) return std::nullopt;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (size == 0 || size > name.size()) return std::nullopt;
    last = name.substr(0, size);
    name.remove_prefix(size);
    if (!name.empty()) text += (text.empty() ? "" : "::") + unescaped(last);
  }
  const bool is_hash =
      last.size() == 17 && last.front() == 'h' && last.find_first_not_of(hexadecimal, 1) == std::string_view::npos;
  return is_hash && !text.empty() ? std::optional(text) : std::nullopt;
}

}  // namespace

std::optional<std::string> rust_name(std::string_view name) {
  if (!name.starts_with("_R")) return older_name(name);
  return Reader(name.substr(2, name.find('.') == std::string_view::npos ? name.npos : name.find('.') - 2)).read();
}

}  // namespace tally::symbol
