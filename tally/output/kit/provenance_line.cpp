#include "tally/output/kit/provenance_line.hpp"

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string provenance_line(const result::Provenance& provenance) {
  constexpr std::size_t digits = 12;  // of a hash: enough to be unique
  std::vector<std::string> words;
  const auto add = [&](const std::string& before, const std::string& word) {
    if (!word.empty()) words.push_back(before + word);
  };
  add("", provenance.date);
  add("label: ", provenance.label);
  add("commit ", provenance.commit.substr(0, digits));
  add("host ", provenance.host);
  return join(words, " · ");
}

}  // namespace tally::output
