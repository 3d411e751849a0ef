#include "plugins/deepmd/tasks/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace fs = std::filesystem;

namespace {

/// FNV-1a over the bytes of a file, continued from `sum`.
std::uint64_t sum_of_file(const fs::path& path, std::uint64_t sum) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 1 << 16> part{};
  while (in.read(part.data(), part.size()), in.gcount() > 0)
    for (std::streamsize k = 0; k < in.gcount(); ++k)
      sum = (sum ^ static_cast<unsigned char>(part[k])) * 1099511628211ULL;
  return sum;
}

std::uint64_t sum_of(const fs::path& path) {
  std::uint64_t sum = 14695981039346656037ULL;
  if (!fs::is_directory(path)) return sum_of_file(path, sum);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) sum = sum_of_file(file, sum);
  return sum;
}

void add_sources(const deck::Node& node, std::vector<Source>& out) {
  for (const auto& item : node.items()) add_sources(item, out);
  for (const auto& entry : node.entries()) add_sources(entry.value, out);
  if (!node.is_scalar() || node.text().empty()) return;
  const fs::path path = node.text().substr(0, node.text().find('#'));  // FILE#/GROUP: the file
  std::error_code none;
  if (fs::is_regular_file(path, none) || fs::is_regular_file(path / "type.raw", none))
    out.push_back({path.string(), sum_of(path)});
}

/// Prefix of a source in a journal's first line.
std::string name_of(const Source& source) { return fmt::format("'{}' ", source.path); }

}  // namespace

std::vector<Source> sources_of(const deck::Node& keys) {
  std::vector<Source> out;
  add_sources(keys, out);
  return out;
}

std::string text_of(const std::vector<Source>& sources) {
  std::string out;
  for (const Source& source : sources)
    out += fmt::format("{}{}{:016x}", out.empty() ? ", read from " : ", ", name_of(source), source.sum);
  return out;
}

void require_unchanged(const std::vector<Source>& sources, const std::string& journal) {
  std::ifstream in(journal, std::ios::binary);
  std::string line;
  if (!std::getline(in, line)) return;
  for (const Source& source : sources) {
    const std::string name = name_of(source), sum = fmt::format("{:016x}", source.sum);
    const auto at = line.find(name);
    if (at == std::string::npos || line.compare(at + name.size(), sum.size(), sum) == 0) continue;
    throw InputError(
        fmt::format("label: '{}' has changed since '{}' was begun, whose finished pieces depend on its old content; "
                    "restore it, or remove the journal to compute all pieces again",
                    source.path, journal));
  }
}

}  // namespace cambium::deepmd
