#include "apps/cambium/bench/figures.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

namespace cambium {

namespace {

std::vector<std::string> words_of(const std::string& figure) {
  std::string spaced = figure;
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  std::istringstream in(spaced);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

template <std::size_t N>
bool any_of(const std::vector<std::string>& words, const std::array<std::string_view, N>& known) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

/// True if `second` follows `first` in the name.
bool holds(const std::vector<std::string>& words, std::string_view first, std::string_view second) {
  const auto at = std::adjacent_find(words.begin(), words.end(),
                                     [&](const auto& a, const auto& b) { return a == first && b == second; });
  return at != words.end();
}

constexpr std::array<std::string_view, 21> others{
    "lammps", "pytorch", "cp2k",    "peer",  "sgemm",  "sgemv", "gemm",   "limit",       "peak", "floor",    "ratio",
    "share",  "error",   "speedup", "times", "spread", "below", "nested", "utilisation", "bits", "reference"};
constexpr std::array<std::string_view, 9> costs{"seconds", "ms", "us", "ns", "mib", "kib", "bytes", "megabytes", "kB"};
constexpr std::array<std::string_view, 3> rates{"gflops", "gbs", "throughput"};

void collect(const nlohmann::json& value, const std::string& path, std::map<std::string, double>& out) {
  if (value.is_number()) out[path] = value.get<double>();
  if (!value.is_structured()) return;
  int index = 0;
  for (const auto& [key, inner] : value.items()) {
    const std::string name = value.is_array() ? std::to_string(index++) : key;
    if (!name.starts_with("measured")) collect(inner, path.empty() ? name : path + "." + name, out);
  }
}

}  // namespace

Better better_when(const std::string& figure) {
  const auto words = words_of(figure);
  if (any_of(words, others)) return Better::neither;
  const bool counted = std::find(words.begin(), words.end(), "m") != words.end() &&
                       std::find(words.begin(), words.end(), "steps") != words.end();
  if (counted || any_of(words, rates) || holds(words, "per", "s") || holds(words, "per", "hour")) return Better::higher;
  return any_of(words, costs) ? Better::lower : Better::neither;
}

std::map<std::string, double> numbers_of(const nlohmann::json& figures) {
  std::map<std::string, double> out;
  collect(figures, "", out);
  return out;
}

}  // namespace cambium
