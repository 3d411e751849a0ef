#include "core/io/parity.hpp"

#include <algorithm>
#include <cmath>

#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"

namespace cambium::io {

namespace {

/// Every `width`-th number from `first` on.
template <class T>
std::vector<double> column(const std::vector<T>& values, std::size_t first, std::size_t width) {
  std::vector<double> out;
  for (std::size_t k = first; k < values.size(); k += width) out.push_back(static_cast<double>(values[k]));
  return out;
}

void write_columns(const std::string& path, const ParityQuantity& q) {
  std::vector<Column> columns;
  std::vector<std::vector<double>> values;
  for (std::size_t k = 0; k < q.places.size(); ++k) {
    columns.push_back({q.places[k], "", ""});
    values.push_back(column(q.place, k, q.places.size()));
  }
  for (const auto& [side, numbers] : {std::pair{"reference", &q.reference}, std::pair{"predicted", &q.predicted}})
    for (std::size_t k = 0; k < q.width(); ++k) {
      columns.push_back({q.components.empty() ? side : side + ("_" + q.components[k]), q.unit, ""});
      values.push_back(column(*numbers, k, q.width()));
    }
  write_csv(path, columns, values);
}

void write_group(File& file, const ParityQuantity& q) {
  Group group = file.create_group(q.name);
  const auto errors = errors_of(q);
  group.set_attribute("doc", q.doc);
  group.set_attribute("unit", q.unit);
  group.set_attribute("rmse", errors.rmse);
  group.set_attribute("mae", errors.mae);
  write_dimension(group, "row", static_cast<std::int64_t>(q.rows()));
  std::string beside;
  for (std::size_t k = 0; k < q.places.size(); ++k) {
    std::vector<std::int64_t> place;
    for (std::size_t row = 0; row < q.rows(); ++row) place.push_back(q.place[row * q.places.size() + k]);
    labelled(group.write(q.places[k], place), "", "index of the " + q.places[k]);
    group.attach_scales(q.places[k], {"row"});
    beside += (k ? " " : "") + q.places[k];
  }
  if (!q.components.empty()) labelled(group.write("component", q.components), "", "component");
  const auto rows = static_cast<std::int64_t>(q.rows()), width = static_cast<std::int64_t>(q.width());
  for (const auto& [side, numbers] : {std::pair{"reference", &q.reference}, std::pair{"predicted", &q.predicted}}) {
    Dataset array = q.components.empty() ? group.write(side, tensor_of(numbers->data(), {rows}))
                                         : group.write(side, tensor_of(numbers->data(), {rows, width}));
    array.set_attribute("unit", q.unit);
    labelled(array, q.unit, q.name + ", " + side);
    group.attach_scales(
        side, q.components.empty() ? std::vector<std::string>{"row"} : std::vector<std::string>{"row", "component"});
    if (!beside.empty()) set_coordinates(array, beside);
  }
}

}  // namespace

ParityErrors errors_of(const ParityQuantity& q) {
  if (q.reference.empty()) return {};
  double squares = 0.0, sizes = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < q.reference.size(); ++k) {
    const double error = q.predicted[k] - q.reference[k];
    squares += error * error;
    sizes += std::abs(error);
    largest = std::max(largest, std::abs(error));
  }
  const auto n = static_cast<double>(q.reference.size());
  return {std::sqrt(squares / n), sizes / n, largest};
}

std::vector<std::string> write_parity(const std::string& folder, const std::string& stem,
                                      std::span<const ParityQuantity> quantities) {
  std::vector<std::string> names;
  for (const auto& q : quantities) {
    if (q.rows() == 0) continue;
    names.push_back(stem + "_" + q.name + ".csv");
    write_columns(folder + "/" + names.back(), q);
  }
  names.push_back(stem + ".h5");
  write_h5_atomically(folder + "/" + names.back(), [&](File& file) {
    for (const auto& q : quantities)
      if (q.rows() > 0) write_group(file, q);
  });
  return names;
}

}  // namespace cambium::io
