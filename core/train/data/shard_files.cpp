#include "core/train/data/shard_files.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

bool is_pattern(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Natural sort order: runs of digits compare as integers.
bool before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    auto end_of = [](const std::string& text, std::size_t from) {
      while (from < text.size() && is_digit(text[from])) ++from;
      return from;
    };
    const std::size_t p = end_of(a, i), q = end_of(b, j);
    std::string left = a.substr(i, p - i), right = b.substr(j, q - j);
    left.erase(0, left.find_first_not_of('0'));
    right.erase(0, right.find_first_not_of('0'));
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
    i = p;
    j = q;
  }
  return a.size() - i < b.size() - j;
}

/// A name split at its last number: "run/part_07.h5" is "run/part_", 7 (two digits wide), ".h5".
struct Numbered {
  std::string head, tail;
  long number = 0;
  int width = 0;
};

std::optional<Numbered> numbered(const std::string& path) {
  const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot < name) dot = path.size();
  std::size_t end = dot;
  while (end > name && !is_digit(path[end - 1])) --end;
  std::size_t begin = end;
  while (begin > name && is_digit(path[begin - 1])) --begin;
  if (begin == end || end - begin > 9) return {};
  return Numbered{path.substr(0, begin), path.substr(end), std::stol(path.substr(begin, end - begin)),
                  static_cast<int>(end - begin)};
}

/// Throws if files that differ in one number only have a gap in their numbering.
void require_no_gap(const std::string& pattern, const std::vector<std::string>& files) {
  for (std::size_t k = 1; k < files.size(); ++k) {
    const auto a = numbered(files[k - 1]), b = numbered(files[k]);
    if (!a || !b || a->head != b->head || a->tail != b->tail || b->number <= a->number + 1) continue;
    throw InputError(
        fmt::format("shard '{}{:0{}}{}' is missing between '{}' and '{}' of '{}'; copy it again, or list the files by "
                    "name to train without it",
                    a->head, a->number + 1, a->width, a->tail, files[k - 1], files[k], pattern));
  }
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> out;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (out.empty())
    throw InputError(fmt::format(
        "no file matches '{}'; check the path (relative paths start at the folder where the program was started)",
        pattern));
  std::sort(out.begin(), out.end(), before);
  require_no_gap(pattern, out);
  return out;
}

}  // namespace

/// Samples that occur twice count double, and could be held out and trained on at once.
static void require_different(const std::vector<std::string>& files) {
  std::set<std::filesystem::path> known;
  for (const auto& file : files)
    if (!known.insert(std::filesystem::path(file).lexically_normal()).second)
      throw InputError(
          fmt::format("'{}' is listed twice; remove it, or let its samples recur by weights (data set mixture)", file));
}

std::vector<std::string> shard_files(std::span<const std::string> names) {
  std::vector<std::string> out;
  for (const auto& name : names) {
    if (!is_pattern(name)) {
      out.push_back(name);
      continue;
    }
    const auto found = matches(name);
    out.insert(out.end(), found.begin(), found.end());
  }
  require_different(out);
  return out;
}

}  // namespace cambium::train
