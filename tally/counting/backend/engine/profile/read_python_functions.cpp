#include "tally/counting/backend/engine/profile/read_python_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tally/engine/channel/python.hpp"

namespace tally::backend::engine {
namespace {

template <std::size_t n>
std::string array_text(const char (&text)[n]) {
  return {text, ::strnlen(text, n)};
}

}  // namespace

result::PythonFunction& PythonReader::function(const std::string& name, const std::string& file, std::uint32_t line) {
  const auto [place, is_new] = numbers_.try_emplace({name, file, line}, result_.python.size());
  if (is_new)
    result_.python.push_back(
        {name, file, line, 0, std::vector<std::int64_t>(events_), std::vector<std::int64_t>(events_)});
  return result_.python[place->second];
}

void PythonReader::add(std::uint32_t area) {
  const std::uint64_t begin = channel::area_offset(area);
  channel::PythonTable head{};
  if (!linux::read_at(shared_.file.get(), begin, &head, offsetof(channel::PythonTable, function))) return;
  result_.python_cut |= head.is_cut != 0;
  // The first one is what was counted outside Python functions: the rest of the total.
  const std::uint32_t count = std::min(head.functions, channel::python_function_limit + 1);
  if (count < 2 || !effort_.take_entries(count)) return;
  std::vector<channel::PythonFunction> functions(count - 1);
  const std::uint64_t first = begin + offsetof(channel::PythonTable, function) + sizeof(channel::PythonFunction);
  if (!linux::read_at(shared_.file.get(), first, functions.data(), functions.size() * sizeof functions[0])) return;
  const std::size_t events = std::min<std::size_t>(events_, channel::python_event_limit);
  for (const channel::PythonFunction& python_function : functions) {
    // In a forked child: a function that only its parent called.
    if (python_function.calls == 0 &&
        std::all_of(std::begin(python_function.self), std::end(python_function.self), [](auto n) { return n == 0; }))
      continue;
    result::PythonFunction& to =
        function(array_text(python_function.name), array_text(python_function.file), python_function.line);
    *to.calls += static_cast<std::int64_t>(python_function.calls);
    for (std::size_t e = 0; e < events; ++e) {
      to.self[e] += python_function.self[e];
      to.inclusive[e] += python_function.inclusive[e];
    }
  }
}

}  // namespace tally::backend::engine
