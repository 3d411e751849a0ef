#include "core/train/low_rank/compress_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/tables/csv.hpp"

namespace cambium::train {

double multiplications_of(const std::vector<FactorLayer>& layers, const std::vector<std::int64_t>& ranks) {
  double sum = 0.0;
  for (std::size_t l = 0; l < layers.size(); ++l) sum += static_cast<double>(layers[l].multiplications(ranks[l]));
  return sum;
}

std::vector<std::size_t> equal_shares(const CostTable& table, double seconds) {
  std::size_t most = 0;
  for (const auto& list : table.candidates) most = std::max(most, list.size());
  // Lists are as long as a layer has different ranks: the k-th of `most` shares is the nearest of a shorter list.
  for (std::size_t k = most; k-- > 0;) {
    std::vector<std::size_t> choice;
    for (const auto& list : table.candidates)
      choice.push_back(most > 1 ? (k * (list.size() - 1) + (most - 1) / 2) / (most - 1) : 0);
    if (table.predicted(choice) <= seconds) return choice;
  }
  return {};
}

std::vector<std::string> CompressTable::lines() const {
  std::vector<std::string> out;
  out.push_back(fmt::format("{:<26}{:>14}{:>18}{:>12}{:>12}", "", "loss", "multiplications", "time (ms)", "predicted"));
  for (const auto& row : rows)
    out.push_back(fmt::format("{:<26}{:>14.6g}{:>18.6g}{:>12.4g}{:>12}", row.name, row.loss, row.multiplications,
                              1e3 * row.seconds,
                              row.predicted > 0.0 ? fmt::format("{:.4g}", 1e3 * row.predicted) : ""));
  for (std::size_t l = 0; l < layers.size(); ++l)
    out.push_back(fmt::format("layer {:<20}{} x {}{}{}", layers[l].name, layers[l].inputs, layers[l].outputs,
                              layers[l].convolution() ? fmt::format(" x {}", layers[l].taps) : "",
                              ranks[l] > 0 ? fmt::format(", rank {}", ranks[l]) : ", whole"));
  out.push_back(
      fmt::format("losses over {} samples, times of a pass over {} of them, multiplications of one", samples, batch));
  return out;
}

void CompressTable::write(const std::string& path) const {
  std::vector<io::Column> columns{{"layer", "", ""}, {"inputs", "", ""},          {"outputs", "", ""}, {"taps", "", ""},
                                  {"rank", "", ""},  {"multiplications", "", ""}, {"whole", "", ""}};
  std::vector<std::vector<double>> values(columns.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& layer = layers[l];
    const double row[] = {static_cast<double>(l),
                          static_cast<double>(layer.inputs),
                          static_cast<double>(layer.outputs),
                          static_cast<double>(layer.taps),
                          static_cast<double>(ranks[l]),
                          static_cast<double>(layer.multiplications(ranks[l])),
                          static_cast<double>(layer.multiplications(0))};
    for (std::size_t c = 0; c < columns.size(); ++c) values[c].push_back(row[c]);
  }
  io::write_csv(path, columns, values);
}

}  // namespace cambium::train
