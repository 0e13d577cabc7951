#include "programs/verify_output/verify_format.hpp"

namespace tally::output {
namespace {

std::string verify_object(const result::Verify& verify, bool, std::size_t) { return verify_json(verify); }

std::string verify_html(const result::Verify& verify, bool, std::size_t) {
  return html_page({{"", page_section(verify)}});
}

constexpr VerifyFormat rows[] = {
    {table_of(Kind::verify), verify_text},
    {{Kind::verify, "json", ".json", "one JSON object"}, verify_object},
    {page_of(Kind::verify, ".html", "a page"), verify_html},
};

}  // namespace

std::span<const VerifyFormat> verify_formats() { return rows; }

}  // namespace tally::output
