#include "core/plugin/result.hpp"

#include <fmt/format.h>

#include <cctype>

namespace cambium {

namespace {

struct LabelParts {
  std::string head, name;
};

LabelParts label_parts(const std::string& label) {
  const auto colon = label.find(": ");
  return colon == std::string::npos ? LabelParts{"", label}
                                    : LabelParts{label.substr(0, colon), label.substr(colon + 2)};
}

std::string result_text(const Result& result, const LabelParts& label) {
  const char* between = label.name == result.key ? " = " : label.head.empty() ? ": " : " ";
  std::string out = fmt::format("{}{}{:.{}g}", label.name, between, result.value, result.digits);
  if (result.uncertainty) out += fmt::format(" +- {:.2g}", *result.uncertainty);
  if (!result.unit.empty()) out += " " + result.unit;
  if (!result.remark.empty()) out += " (" + result.remark + ")";
  return out;
}

}  // namespace

std::vector<std::string> result_lines(std::span<const Result> results) {
  std::vector<std::string> out;
  std::string head;
  for (const auto& result : results) {
    if (result.digits == 0) continue;
    const LabelParts label = label_parts(result.label);
    const std::string text = result_text(result, label);
    if (!label.head.empty() && label.head == head)
      out.back() += ", " + text;
    else
      out.push_back(label.head.empty() ? text : label.head + ": " + text);
    head = label.head;
  }
  return out;
}

std::string key_of(std::string_view words) {
  std::string out;
  for (const char c : words) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter))
      out += static_cast<char>(std::tolower(letter));
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out.empty() || std::isalpha(static_cast<unsigned char>(out[0])) ? out : "x_" + out;
}

}  // namespace cambium
