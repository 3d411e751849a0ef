#include "apps/cambium/sweep/page_scalars.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/base/text.hpp"
#include "core/base/units.hpp"

namespace cambium {

namespace {

constexpr std::size_t most_words = 5;

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::optional<double> number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.ends_with('%')) word.remove_suffix(1);
  const auto value = parse_number(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Without what stands in round brackets after a blank; sqrt(x) stays.
std::string without_remarks(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '(' || (at > 0 && line[at - 1] != ' ')) {
      out += line[at];
      continue;
    }
    for (int depth = 1; depth > 0 && ++at < line.size();) depth += line[at] == '(' ? 1 : line[at] == ')' ? -1 : 0;
  }
  return out;
}

std::vector<std::string> split(const std::string& text, const std::vector<std::string>& marks) {
  std::vector<std::string> out(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto mark =
        std::find_if(marks.begin(), marks.end(), [&](const auto& m) { return text.compare(at, m.size(), m) == 0; });
    if (mark == marks.end()) {
      out.back() += text[at];
    } else {
      at += mark->size() - 1;
      out.emplace_back();
    }
  }
  return out;
}

/// Words as the name of a variable; numbers among them are left out.
std::string slug(const std::string& text) {
  std::string out;
  for (const auto& word : words_of(text)) {
    if (number(word)) continue;
    std::string part;
    for (const char c : word)
      part += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
    out += (out.empty() ? "" : "_") + part;
  }
  std::string tidy;
  for (const char c : out)
    if (c != '_' || (!tidy.empty() && tidy.back() != '_')) tidy += c;
  while (tidy.ends_with('_')) tidy.pop_back();
  return tidy.empty() || std::isalpha(static_cast<unsigned char>(tidy[0])) ? tidy : "x_" + tidy;
}

/// "averages over 2 lines" says of which lines; what they are is "averages".
std::string head_of(const std::string& text) {
  const auto over = text.find(" over ");
  return over == std::string::npos ? text : text.substr(0, over);
}

struct Found {
  std::string name, unit;
  double value = 0.0;
  bool equation = false;
};

std::string unit_in(const std::vector<std::string>& words, std::size_t at) {
  if (words[at].ends_with('%') || (at + 1 < words.size() && words[at + 1] == "%")) return "%";
  return at + 1 < words.size() && parse_unit(words[at + 1]) ? words[at + 1] : "";
}

std::optional<Found> in_piece(const std::string& piece) {
  Found out;
  if (const auto equals = piece.rfind(" = "); equals != std::string::npos) {
    const auto words = words_of(piece.substr(equals + 3));
    const auto value = words.empty() ? std::nullopt : number(words[0]);
    if (!value) return {};
    return Found{piece.substr(0, equals), unit_in(words, 0), *value, true};
  }
  const auto words = words_of(piece);
  const auto at = static_cast<std::size_t>(
      std::find_if(words.begin(), words.end(), [](const auto& w) { return number(w).has_value(); }) - words.begin());
  if (at == words.size()) return {};
  out.value = *number(words[at]);
  out.unit = unit_in(words, at);
  std::size_t begin = 0, end = at;
  if (at == 0) {
    begin = out.unit.empty() ? 1 : words.size();
    end = words.size();
  }
  if (end - begin > most_words) end = begin + most_words;
  for (std::size_t k = begin; k < end; ++k) out.name += (out.name.empty() ? "" : " ") + words[k];
  return out;
}

void read_line(const std::string& line, const std::string& stage, std::vector<PageScalar>& out) {
  const std::string text = without_remarks(line);
  const auto colon = text.find(": ");
  const std::string head = colon == std::string::npos ? "" : text.substr(0, colon);
  for (const auto& piece : split(colon == std::string::npos ? text : text.substr(colon + 2), {", ", "; "})) {
    const auto found = in_piece(piece);
    if (!found) continue;
    const std::string own = slug(found->name);
    const std::string whole = slug(head_of(head) + " " + found->name);
    const std::string name = found->equation && !own.empty() ? own : whole;
    if (name.empty()) continue;
    const auto same = [&](const auto& s) { return s.stage == stage && s.name == name; };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    const std::string words(trim(found->name));
    const std::string description = head.empty() ? words : words.empty() ? head : head + ": " + words;
    out.push_back({stage, name, description, found->unit, found->value});
  }
}

/// A row of the timing table: a name and four numbers.
bool is_section(const std::string& line) {
  const auto words = words_of(line);
  if (words.size() >= 5 && words[0] == "section") return true;
  return words.size() >= 5 &&
         std::all_of(words.end() - 4, words.end(), [](const auto& w) { return number(w).has_value(); });
}

void read_page(const std::vector<std::string>& lines, const std::string& stage, std::vector<PageScalar>& out) {
  std::size_t begin = lines.size();
  for (std::size_t k = 0; k < lines.size(); ++k)
    if (lines[k].starts_with("Loop ") || lines[k].starts_with("Stage ")) begin = k;
  if (begin == lines.size()) return;
  if (const auto seconds = number(words_of(lines[begin]).at(1)))
    out.push_back({stage, "seconds", "wall time of the stage's last call", "s", *seconds});
  for (std::size_t k = begin + 1; k < lines.size(); ++k) {
    const std::string& line = lines[k];
    if (line.starts_with("written in ") || line.starts_with("warning (") || line.starts_with("cite: ")) break;
    const bool rate = k == begin + 1 && line.find("/s") != std::string::npos;
    // The process' peak of memory belongs to all runs that it has carried out.
    if (!rate && !is_section(line) && !line.starts_with("peak memory")) read_line(line, stage, out);
  }
}

}  // namespace

std::vector<PageScalar> page_scalars(const std::string& log) {
  std::vector<std::pair<std::string, std::vector<std::string>>> stages;
  std::vector<std::string>* lines = nullptr;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("--- stage ") && line.find(" -> ") != std::string::npos) {
      const std::string folder = line.substr(line.find_last_of('/') + 1);
      auto known = std::find_if(stages.begin(), stages.end(), [&](const auto& s) { return s.first == folder; });
      if (known == stages.end()) known = stages.insert(stages.end(), {folder, {}});
      known->second.clear();
      lines = &known->second;
    } else if (lines) {
      lines->push_back(line);
    }
  }
  std::vector<PageScalar> out;
  for (const auto& [stage, text] : stages) read_page(text, stage, out);
  return out;
}

}  // namespace cambium
