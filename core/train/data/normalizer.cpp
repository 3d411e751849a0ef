#include "core/train/data/normalizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"

namespace cambium::train {

namespace {

/// Statistics of values: count, mean, sum of squared deviations from it, and range.
struct Moments {
  double n = 0.0, mean = 0.0, squares = 0.0;
  double lowest = std::numeric_limits<double>::max(), highest = std::numeric_limits<double>::lowest();

  void add(double x) {
    n += 1.0;
    const double before = x - mean;
    mean += before / n;
    squares += before * (x - mean);
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  /// Merges both (Chan, Golub and LeVeque 1983).
  void add(const Moments& other) {
    if (other.n == 0.0) return;
    const double all = n + other.n, apart = other.mean - mean;
    squares += other.squares + apart * apart * n * other.n / all;
    mean += apart * other.n / all;
    n = all;
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
  }
};

constexpr std::int64_t blocks = 16;        ///< reduced separately, whatever the number of ranks
constexpr std::int64_t read_at_once = 64;  ///< samples

const TensorRef& field_of(const Sample& sample, const std::string& name) {
  const auto found = sample.fields.find(name);
  if (found != sample.fields.end()) return found->second;
  std::string known;
  for (const auto& [other, tensor] : sample.fields) known += (known.empty() ? "" : ", ") + other;
  throw InputError(fmt::format("the samples have no field '{}'; they have: {}", name, known));
}

/// Statistics of the samples [first, last), per value of a sample or one for all.
void look_at(Dataset& data, const std::string& field, bool each, std::int64_t first, std::int64_t last,
             std::vector<Moments>& out) {
  std::vector<double> row;
  for (std::int64_t at = first; at < last; at += read_at_once) {
    std::vector<std::int64_t> ids(std::min(read_at_once, last - at));
    std::iota(ids.begin(), ids.end(), at);
    for (const auto& sample : data.read(ids)) {
      const TensorRef& tensor = field_of(*sample, field);
      row.resize(tensor.elements());
      copy_numbers<double>(tensor, row);
      if (each && row.size() != out.size())
        throw InputError(fmt::format("field '{}' has {} values in sample {} and {} in others: scale it as a whole",
                                     field, row.size(), sample->id, out.size()));
      for (std::size_t k = 0; k < row.size(); ++k) out[each ? k : 0].add(row[k]);
    }
  }
}

/// Merges the blocks of all ranks in a fixed order; the result is on every rank.
std::vector<Moments> together(std::vector<std::vector<Moments>>& table, const Comm& comm) {
  std::vector<Moments> out(table.front().size());
  std::vector<double> flat(5 * out.size());
  for (std::int64_t b = 0; b < blocks; ++b) {
    auto& block = table[b];
    const bool mine = b % comm.size() == comm.rank();
    for (std::size_t k = 0; k < block.size(); ++k) {
      const Moments& m = block[k];
      const double values[5] = {m.n, m.mean, m.squares, m.n > 0 ? m.lowest : 0.0, m.n > 0 ? m.highest : 0.0};
      for (std::size_t i = 0; i < 5; ++i) flat[5 * k + i] = mine ? values[i] : 0.0;
    }
    comm.sum(flat);
    for (std::size_t k = 0; k < block.size(); ++k)
      out[k].add(Moments{flat[5 * k], flat[5 * k + 1], flat[5 * k + 2], flat[5 * k + 3], flat[5 * k + 4]});
  }
  return out;
}

}  // namespace

Normalizer Normalizer::fit(Dataset& data, const std::string& field, Method method, Per per, Context& context) {
  Normalizer out;
  if (method == Method::none || data.size() == 0) return out;
  const std::int64_t zero = 0;
  const std::int64_t width = per == Per::each ? field_of(*data.read(std::span(&zero, 1)).front(), field).elements() : 1;
  std::vector<std::vector<Moments>> table(blocks, std::vector<Moments>(width));
  for (std::int64_t b = context.comm.rank(); b < blocks; b += context.comm.size())
    look_at(data, field, per == Per::each, data.size() * b / blocks, data.size() * (b + 1) / blocks, table[b]);
  out.shift_.clear();
  out.scale_.clear();
  for (const Moments& m : together(table, context.comm)) {
    const double spread = method == Method::standard ? std::sqrt(m.squares / m.n) : m.highest - m.lowest;
    out.shift_.push_back(method == Method::standard ? m.mean : m.lowest);
    out.scale_.push_back(spread > 0.0 ? spread : 1.0);
  }
  return out;
}

template <class T>
void Normalizer::apply(std::span<T> values) const {
  const bool each = shift_.size() > 1;
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<T>((static_cast<double>(values[k]) - shift_[each ? k : 0]) / scale_[each ? k : 0]);
}

template <class T>
void Normalizer::invert(std::span<T> values) const {
  const bool each = shift_.size() > 1;
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<T>(static_cast<double>(values[k]) * scale_[each ? k : 0] + shift_[each ? k : 0]);
}

template void Normalizer::apply(std::span<double>) const;
template void Normalizer::apply(std::span<float>) const;
template void Normalizer::invert(std::span<double>) const;
template void Normalizer::invert(std::span<float>) const;

std::string Normalizer::text() const { return nlohmann::json{{"shift", shift_}, {"scale", scale_}}.dump(); }

Normalizer Normalizer::from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  Normalizer out;
  in.at("shift").get_to(out.shift_);
  in.at("scale").get_to(out.scale_);
  return out;
}

}  // namespace cambium::train
