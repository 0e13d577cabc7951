#include "tally/output/analysis/python_functions.hpp"

#include <fmt/format.h>

namespace tally::output {

std::vector<std::int64_t> outside_python(const result::Profile& profile) {
  std::vector<std::int64_t> outside;
  for (const result::Event& event : profile.stat.events) outside.push_back(event.total.count.value.value_or(0));
  for (const result::PythonFunction& function : profile.python)
    for (std::size_t e = 0; e < outside.size(); ++e) outside[e] -= function.self[e];
  return outside;
}

std::string location_of(const result::PythonFunction& function) {
  return function.line == 0 ? function.file : fmt::format("{}:{}", function.file, function.line);
}

}  // namespace tally::output
