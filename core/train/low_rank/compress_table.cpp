#include "core/train/low_rank/compress_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/io/csv.hpp"
#include "core/train/low_rank/equal_time.hpp"

namespace cambium::train {

double multiplications_of(const std::vector<FactorLayer>& layers, const std::vector<std::int64_t>& ranks) {
  double sum = 0.0;
  for (std::size_t l = 0; l < layers.size(); ++l) sum += static_cast<double>(layers[l].multiplications(ranks[l]));
  return sum;
}

std::string gain_of_search(const CompressTable& table) {
  const auto row = [&](const std::string& name) {
    return std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& its) { return its.name == name; });
  };
  const auto none = table.rows.end(), chosen = row(table.chosen), equal = row("equal shares");
  if (chosen == none || equal == none) return {};
  if (chosen->ranks == equal->ranks)
    return fmt::format("the {} are those of equal shares: choosing ranks gains nothing here", table.chosen);
  auto its = row(table.chosen + ", trained on"), theirs = row("equal shares, trained on");
  if (its == none || theirs == none) its = chosen, theirs = equal;
  if (its->loss < theirs->loss) return {};
  return fmt::format("equal shares lose no more than the {} ({:.6g} and {:.6g}): choosing ranks gains nothing here",
                     table.chosen, theirs->loss, its->loss);
}

std::vector<Result> CompressTable::results() const {
  std::vector<Result> out;
  for (const auto& row : rows) {
    const auto name = key_of(row.name);
    out.push_back(in_table("loss_" + name, "loss: " + row.name, row.loss));
    out.push_back(in_table("seconds_" + name, "time of a pass: " + row.name, row.seconds));
    out.back().unit = "s";
    out.push_back(in_table("multiplications_" + name, "multiplications: " + row.name, row.multiplications));
  }
  return out;
}

std::vector<std::string> CompressTable::lines() const {
  std::vector<std::string> out;
  out.push_back(fmt::format("{:<26}{:>14}{:>18}{:>12}{:>12}{:>12}", "", "loss", "multiplications", "time (ms)",
                            "predicted", "of chosen"));
  for (const auto& row : rows)
    out.push_back(fmt::format("{:<26}{:>14.6g}{:>18.6g}{:>12.4g}{:>12}{:>12}", row.name, row.loss, row.multiplications,
                              1e3 * row.seconds, row.predicted > 0.0 ? fmt::format("{:.4g}", 1e3 * row.predicted) : "",
                              row.time_over > 0.0 ? fmt::format("{:.3f}", row.time_over) : ""));
  for (const auto& row : rows)
    if (row.time_over > 0.0 && std::abs(row.time_over - 1.0) > fair_time + 1e-9 && !row.name.ends_with("trained on"))
      out.push_back(fmt::format(
          "{}: {:.3g} of the {} of the {}, no comparison at equal {}: its steps come no nearer here", row.name,
          row.time_over, counted ? "multiplications" : "time", chosen, counted ? "cost" : "time"));
  if (const auto gain = gain_of_search(*this); !gain.empty()) out.push_back(gain);
  for (std::size_t l = 0; l < layers.size(); ++l)
    out.push_back(fmt::format("layer {:<32}{} x {}{}{}", layers[l].name, layers[l].inputs, layers[l].outputs,
                              layers[l].convolution() ? fmt::format(" x {}", layers[l].taps) : "",
                              ranks[l] > 0 ? fmt::format(", rank {}", ranks[l]) : ", full rank"));
  if (!chosen.empty()) out.push_back(fmt::format("model.h5 has the {}", chosen));
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

std::string CompressTable::json() const {
  nlohmann::ordered_json out{{counted ? "wanted_multiplications" : "wanted_seconds", wanted},
                             {"samples", samples},
                             {"batch", batch},
                             {"chosen", chosen},
                             {"problem", problem}};
  for (const auto& layer : layers)
    out["layers"].push_back({{"name", layer.name},
                             {"inputs", layer.inputs},
                             {"outputs", layer.outputs},
                             {"taps", layer.taps},
                             {"places", layer.places}});
  for (const auto& row : rows)
    out["rows"].push_back({{"name", row.name},
                           {"loss", row.loss},
                           {"seconds", row.seconds},
                           {"predicted_seconds", row.predicted},
                           {"time_over_chosen", row.time_over},
                           {"multiplications", row.multiplications},
                           {"ranks", row.ranks}});
  return out.dump(1) + "\n";
}

}  // namespace cambium::train
