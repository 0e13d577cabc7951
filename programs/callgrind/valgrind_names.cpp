#include "programs/callgrind/valgrind_names.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::callgrind {

Result<std::string> file_name_of(const std::string& option, const std::string& text, std::int64_t process,
                                 const Variable& variable) {
  const auto wrong = [&](const std::string& why) {
    return fail(Code::bad_usage, fmt::format("{}={}: {}", option, printable(text), why),
                "%p is the process ID, %q{NAME} an environment variable, %n a number, %% a percent sign");
  };
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name += text[i];
      continue;
    }
    const char kind = ++i < text.size() ? text[i] : '\0';
    if (kind == '%') {
      name += '%';
    } else if (kind == 'p') {
      name += std::to_string(process);
    } else if (kind == 'n') {
      name += '1';
    } else if (kind == 'q') {
      const std::size_t end = text.find('}', i);
      if (end == text.npos || text[i + 1] != '{') return wrong("%q needs a name: %q{NAME}");
      const std::string of = text.substr(i + 2, end - i - 2);
      const char* const value = variable(of);
      if (value == nullptr) return wrong(fmt::format("the environment variable {} is not set", printable(of)));
      name += value;
      i = end;
    } else {
      return wrong(kind == '\0' ? "nothing follows '%'" : fmt::format("'%{}' is unknown", printable({&kind, 1})));
    }
  }
  return name;
}

}  // namespace tally::callgrind
