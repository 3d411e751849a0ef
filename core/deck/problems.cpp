#include "core/deck/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/text.hpp"

namespace cambium::deck {

namespace {

void add_once(std::vector<Problem>& all, Problem problem) {
  for (const auto& p : all)
    if (p.text == problem.text && p.path == problem.path && p.mark.text() == problem.mark.text()) return;
  all.push_back(std::move(problem));
}

}  // namespace

std::string Problem::line() const {
  std::vector<std::string> parts;
  for (const auto& part : {mark.text(), path, text})
    if (!part.empty()) parts.push_back(part);
  return join(parts, ": ");
}

void Problems::add(Mark mark, std::string path, std::string text) {
  add_once(all_, {std::move(mark), std::move(path), std::move(text)});
}

void Problems::hint(Mark mark, std::string path, std::string text) {
  add_once(hints_, {std::move(mark), std::move(path), std::move(text)});
}

std::string Problems::text() const {
  auto sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
  });
  std::string out;
  std::vector<std::string> sources;
  for (const auto& p : sorted) {
    out += p.line() + "\n";
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
