#include "core/deck/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/text.hpp"

namespace cambium::deck {

void Problems::add(Mark mark, std::string path, std::string text) {
  for (const auto& p : all_)
    if (p.text == text && p.path == path && p.mark.text() == mark.text()) return;
  all_.push_back({std::move(mark), std::move(path), std::move(text)});
}

std::string Problems::text() const {
  auto sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
  });
  std::string out;
  std::vector<std::string> sources;
  for (const auto& p : sorted) {
    std::vector<std::string> parts;
    for (const auto& part : {p.mark.text(), p.path, p.text})
      if (!part.empty()) parts.push_back(part);
    out += join(parts, ": ") + "\n";
    if (!p.mark.source.empty() && std::find(sources.begin(), sources.end(), p.mark.source) == sources.end())
      sources.push_back(p.mark.source);
  }
  out += fmt::format("{} problem{}", all_.size(), all_.size() == 1 ? "" : "s");
  return sources.empty() ? out : out + " in " + join(sources, " and ");
}

void Problems::throw_if_any() const {
  if (!empty()) throw DeckError(text());
}

}  // namespace cambium::deck
