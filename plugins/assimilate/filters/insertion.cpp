#include "plugins/assimilate/filters/insertion.hpp"

#include <fmt/format.h>

#include <map>

#include "core/base/error.hpp"
#include "plugins/assimilate/filters/gaspari_cohn.hpp"

extern "C" {
void dposv_(const char*, const int*, const int*, double*, const int*, double*, const int*, int*);
}

namespace cambium::assimilate {
namespace {

std::vector<double> misfit(std::span<const double> state, const Network& network, std::span<const double> observed) {
  std::vector<double> out(network.size());
  network.apply(state, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = observed[i] - out[i];
  return out;
}

bool on_wall(const StateSpace& space, std::size_t field, std::size_t column, std::size_t row) {
  const auto& f = space.fields[field];
  return (f.wall_below && row == 0) || (f.wall_at_left && column == 0);
}

bool on_wall(const StateSpace& space, std::size_t element) {
  return on_wall(space, element / space.places(), element % space.places() / space.nz(), element % space.nz());
}

}  // namespace

void insert(std::span<double> state, const Network& network, std::span<const double> observed,
            const StateSpace& space) {
  auto v = misfit(state, network, observed);
  const auto p = network.size();
  std::map<std::size_t, std::vector<std::pair<std::size_t, double>>> column;  // of H by elements
  for (std::size_t i = 0; i < p; ++i)
    for (const auto& [element, weight] : network.list[i].row) column[element].emplace_back(i, weight);
  std::vector<double> square(p * p, 0.0);
  for (const auto& [element, entries] : column)
    for (const auto& [i, a] : entries)
      for (const auto& [j, b] : entries) square[i * p + j] += a * b;
  const int rows = static_cast<int>(p), one = 1;
  int info = 0;
  std::vector<double> length(p);
  for (std::size_t i = 0; i < p; ++i) length[i] = square[i * p + i];
  dposv_("L", &rows, &one, square.data(), &rows, v.data(), &rows, &info);
  for (std::size_t i = 0; i < p && info == 0; ++i)  // what is left of a row without those before it
    if (square[i * p + i] * square[i * p + i] < 1e-12 * length[i]) info = static_cast<int>(i) + 1;
  if (info != 0)
    throw NumericalError(fmt::format(
        "direct insertion: observation {} repeats others, so that no state has them all; thin out the observations",
        info));
  for (std::size_t i = 0; i < p; ++i)
    for (const auto& [element, weight] : network.list[i].row)
      if (!on_wall(space, element)) state[element] += weight * v[i];
}

void nudge(std::span<double> state, const Network& network, std::span<const double> observed, const StateSpace& space,
           double gain, double half_width) {
  const auto v = misfit(state, network, observed);
  for (std::size_t f = 0; f < space.fields.size(); ++f)
    for (std::size_t i = 0; i < space.nx(); ++i)
      for (std::size_t k = 0; k < space.nz(); ++k) {
        if (on_wall(space, f, i, k)) continue;
        double sum = 0.0, weights = 0.0;
        for (std::size_t o = 0; o < network.size(); ++o) {
          const auto& one = network.list[o];
          if (one.field != f) continue;
          const double w =
              gaspari_cohn(distance(space, space.fields[f].x[i], space.fields[f].z[k], one.x, one.z), half_width);
          sum += w * v[o];
          weights += w;
        }
        if (weights > 0.0) state[(f * space.nx() + i) * space.nz() + k] += gain * sum / weights;
      }
}

}  // namespace cambium::assimilate
