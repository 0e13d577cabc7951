// The tables of docs/reference/registers.md: printed by a hidden option, compared by a test.
#include <fmt/format.h>

#include <string>

#include "programs/register/register_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::registers {
namespace {

using pmu::Field;
using pmu::Model;
using pmu::Register;
using pmu::RegisterInstance;

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped.empty() ? "–" : escaped;
}

std::string sentence(std::string_view text) {
  std::string line(text);
  const bool name = line.size() > 1 && line[1] >= 'A' && line[1] <= 'Z';
  if (!line.empty() && !name && line[0] >= 'a' && line[0] <= 'z') line[0] = static_cast<char>(line[0] - 'a' + 'A');
  return line + ". ";
}

// "PERFEVTSEL0 to 7": the first and the last register of a row.
std::string heading(const Model& model, const Register& reg) {
  const RegisterInstance first{&model, &reg, 0};
  if (reg.count == 1) return name(first);
  return fmt::format("{} to {}", name(first), reg.first + reg.count - 1);
}

std::string addresses(const Model& model, const Register& reg) {
  const RegisterInstance first{&model, &reg, 0};
  if (reg.space == pmu::Space::operand) return "operand of an instruction";
  if (reg.count == 1) return address(first);
  return fmt::format("{} to {}", address(first), address(RegisterInstance{&model, &reg, reg.count - 1}));
}

std::string bits_of(const Field& field) {
  std::string text =
      field.width == 1 ? fmt::format("{}", field.lsb) : fmt::format("{}:{}", field.lsb + field.width - 1, field.lsb);
  if (pmu::is_run(field)) return fmt::format("{}:{}", field.lsb + field.count - 1, field.lsb);
  if (field.count > 1) text += fmt::format(", every {} bits", field.stride);
  if (field.upper_width != 0) {
    text += fmt::format(" and {}:{}", field.upper_lsb + field.upper_width - 1, field.upper_lsb);
  }
  return text;
}

std::string field_name(const Field& field) {
  if (field.count == 1) return std::string(field.name);
  const pmu::Slot first{&field, 0};
  return fmt::format("{} to {}", first.name(), field.first + field.count - 1);
}

std::string meaning(const Field& field) {
  std::string text(field.text);
  std::vector<std::string> values;
  for (const pmu::Meaning& one : field.values) values.push_back(fmt::format("{:#x} {}", one.value, one.text));
  if (!values.empty()) text += (text.empty() ? "" : ": ") + join(values, ", ");
  return text;
}

std::string register_section(const Model& model, const Register& reg) {
  std::string text = fmt::format("{}: {}. {}", addresses(model, reg), reg.text,
                                 reg.width == 64 ? "" : fmt::format("{} bits. ", reg.width));
  const std::string versions = pmu::version_text(model, reg.since, reg.until);
  if (!versions.empty()) text += fmt::format("Exists {}. ", versions);
  if (!reg.reset.empty()) text += fmt::format("Reset: {}. ", reg.reset);
  if (reg.access == pmu::Access::read_only) text += "Read-only. ";
  if (!reg.note.empty()) text += sentence(reg.note);
  text += fmt::format("Source: {}, {}.", reg.source.document, reg.source.section);
  constexpr std::size_t columns = 120;
  text = fmt::format("### {}\n\n{}\n\n| bits | field | versions | meaning |\n|---|---|---|---|\n", heading(model, reg),
                     join(wrapped(text, columns), "\n"));
  for (const Field& field : reg.fields) {
    text += fmt::format("| {} | `{}` | {} | {} |\n", bits_of(field), field_name(field),
                        cell(field.since <= reg.since && field.until == pmu::newest
                                 ? ""
                                 : pmu::version_text(model, field.since, field.until)),
                        cell(meaning(field)));
  }
  return text + "\n";
}

}  // namespace

std::string register_reference() {
  std::string text;
  for (const Model* model : pmu::models()) {
    text += fmt::format("## {}: {}\n\n", model->name, model->title);
    for (const Register& reg : model->registers) text += register_section(*model, reg);
  }
  text.pop_back();  // no empty line at the end of the page
  return text;
}

}  // namespace tally::registers
