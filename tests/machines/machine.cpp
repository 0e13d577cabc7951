#include "tests/machines/machine.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tally/core/base/text.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Sections = std::map<std::string, std::string>;

// "-- name --" begins a section; the text before the first is a comment.
Sections sections_of(const std::string& path) {
  std::ifstream file(path);
  Sections sections;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("-- ") && line.ends_with(" --")) {
      name = line.substr(3, line.size() - 6);
      sections[name];
    } else if (!name.empty()) {
      sections[name] += line + "\n";
    }
  }
  return sections;
}

linux::Survey read_watched_machine(const Sections& sections) {
  std::string pattern = (fs::temp_directory_path() / "tally-machine-XXXXXX").string();
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  for (const auto& [name, text] : sections) {
    if (name == "cpuid" || name == "probes") continue;
    fs::create_directories((fs::path(pattern) / name).parent_path());
    std::ofstream(fs::path(pattern) / name) << text;
  }
  linux::Survey survey = linux::read_counting(pattern);
  fs::remove_all(pattern);
  return survey;
}

// In the format of `cpuid -1 -r`.
std::optional<pmu::Processor> processor_of(const Sections& sections) {
  if (!sections.contains("cpuid")) return std::nullopt;
  std::map<std::pair<std::uint32_t, std::uint32_t>, pmu::CpuidLeaf> leaves;
  std::istringstream text(sections.at("cpuid"));
  for (std::string line; std::getline(text, line);) {
    unsigned leaf = 0, subleaf = 0;
    pmu::CpuidLeaf r;
    if (sscanf(line.c_str(), " 0x%x 0x%x: eax=0x%x ebx=0x%x ecx=0x%x edx=0x%x", &leaf, &subleaf, &r.eax, &r.ebx, &r.ecx,
               &r.edx) == 6) {
      leaves[{leaf, subleaf}] = r;
    }
  }
  return pmu::describe_processor([&](std::uint32_t leaf, std::uint32_t subleaf) {
    const auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? pmu::CpuidLeaf{} : found->second;
  });
}

int errno_of(const std::string& word) {
  static const std::map<std::string, int> known{{"works", 0},       {"EPERM", EPERM},   {"ENOENT", ENOENT},
                                                {"EACCES", EACCES}, {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}};
  EXPECT_TRUE(known.contains(word)) << word;
  return known.contains(word) ? known.at(word) : -1;
}

// "EACCES", or "works VALUE ENABLED_NS RUNNING_NS".
linux::Attempt attempt_of(std::istringstream& words) {
  std::string answer;
  words >> answer;
  linux::Attempt attempt{errno_of(answer), std::nullopt};
  std::uint64_t value = 0;
  std::int64_t enabled = 0, running = 0;
  if (words >> value >> enabled >> running) {
    attempt.counted = linux::PerfValue{value, Nanoseconds(enabled), Nanoseconds(running)};
  }
  return attempt;
}

// "branches 500 550 VALUE": the count, after its permitted minimum and maximum.
linux::KnownWork known_work_of(const std::string& event, std::istringstream& words) {
  linux::KnownWork work;
  work.event = event == "branches" ? "branches" : "instructions";
  std::uint64_t value = 0;
  words >> work.least >> work.most >> value;
  work.value = linux::PerfValue{value, Nanoseconds(1000), Nanoseconds(1000)};
  return work;
}

void read_probes(const std::string& text, doctor::Facts& facts) {
  linux::Probes& probes = facts.probes;
  const auto rest_of = [](std::istringstream& words) {
    std::string rest;
    std::getline(words, rest);
    return trimmed(rest);
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    if (name == "core") {
      probes.cores.push_back(attempt_of(words));
    } else if (name == "with_kernel") {
      probes.with_kernel = attempt_of(words);
    } else if (name == "software") {
      probes.software = attempt_of(words);
    } else if (name == "software_user") {
      probes.software_user = attempt_of(words);
    } else if (name == "event_names") {
      facts.event_names = rest_of(words);
    } else if (words >> word; name == "gate") {
      probes.gate_errno = errno_of(word);
    } else if (name == "whole_processor") {
      probes.whole_processor_errno = errno_of(word);
    } else if (name == "memory_file") {
      probes.memory_file_errno = errno_of(word);
    } else if (name == "ptrace") {
      probes.trace_errno = errno_of(word);
    } else if (name == "user_reads") {
      probes.user_reads = linux::UserReads{word == "yes" || word == "no" ? 0 : errno_of(word), word == "yes"};
    } else if (name == "known_work") {
      probes.known_work.push_back(known_work_of(word, words));
    } else if (name == "time_stamp_hertz") {
      probes.time_stamp_hertz = static_cast<std::uint64_t>(parse_integer(word).value_or(0));
    } else if (name == "trial" && word != "-") {
      facts.trial.instructions = parse_integer(word);
    } else if (name == "trial") {
      facts.trial.problem = rest_of(words);
    } else {
      ADD_FAILURE() << "not a probe: " << line;
    }
  }
}

}  // namespace

std::string machine_file(const std::string& name) { return std::string(TALLY_MACHINES "/") + name; }

std::vector<std::string> all_machines() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(TALLY_MACHINES)) {
    if (entry.path().extension() == ".machine") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

doctor::Facts facts_of(const std::string& machine) {
  const Sections sections = sections_of(machine_file(machine + ".machine"));
  EXPECT_TRUE(sections.contains("probes")) << machine;
  doctor::Facts facts;
  facts.survey = read_watched_machine(sections);
  facts.processor = processor_of(sections);
  read_probes(sections.at("probes"), facts);
  return facts;
}

}  // namespace tally::test
