#include "plugins/deepmd/tasks/rows.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace cambium::deepmd {

std::size_t sampled_width(std::size_t atoms) { return 19 + 3 * atoms; }

void pack(const Configuration& c, double deviation, double* row) {
  row = std::copy_n(&c.box.h[0][0], 9, row);
  row = std::copy_n(&c.axes.q[0][0], 9, row);
  for (const auto& x : c.x) row = std::copy(x.begin(), x.end(), row);
  *row = deviation;
}

Configuration unpacked(const double* row, const Configuration& start) {
  Configuration c = start;
  std::copy_n(row, 9, &c.box.h[0][0]);
  std::copy_n(row + 9, 9, &c.axes.q[0][0]);
  row += 18;
  for (auto& x : c.x)
    for (double& value : x) value = *row++;
  return c;
}

std::size_t label_width(std::size_t atoms) { return 11 + 3 * atoms; }

void pack(const LabelledFrame& f, double error, double* row) {
  *row++ = *f.energy;
  row = std::copy(f.virial.begin(), f.virial.end(), row);
  for (const auto& force : f.force) row = std::copy(force.begin(), force.end(), row);
  *row = error;
}

LabelledFrame labelled(const Configuration& c, const double* row) {
  LabelledFrame f;
  f.box = c.box;
  f.axes = c.axes;
  f.x = c.x;
  f.energy = *row++;
  f.virial.assign(row, row + 9);
  row += 9;
  for (std::size_t i = 0; i < c.x.size(); ++i, row += 3) f.force.push_back({row[0], row[1], row[2]});
  return f;
}

double force_squares(const LabelledFrame& a, const LabelledFrame& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.force.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) sum += std::pow(a.force[i][k] - b.force[i][k], 2);
  return sum;
}

std::size_t hash_of(const std::vector<double>& numbers) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
}

std::vector<double> row_of(const Configuration& c) {
  std::vector<double> row(sampled_width(c.x.size()));
  pack(c, 0.0, row.data());
  return row;
}

}  // namespace cambium::deepmd
