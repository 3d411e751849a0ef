#include "plugins/kinetic/writers/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/writers/moments.hpp"
#include "plugins/kinetic/writers/sampled.hpp"

namespace cambium::kinetic {

void PointWriter::attach(const Physics& physics) {
  physics_ = &kinetic_physics(physics, "points");
  const ConfGrid& grid = physics_->species().front()->conf();
  const auto values = physics_->values();
  for (std::size_t k = 0; k < params_.at.size(); ++k) {
    const auto& texts = params_.at[k];
    const std::string key = deck::child_path("at", k);
    Place place;
    for (std::size_t c = 0; c < texts.size(); ++c)
      place.at.push_back(
          deck::about_key("kinetic.formula", deck::child_path(key, c), [&] { return constant(texts[c], values); }));
    const auto& point = place.at;
    if (static_cast<int>(point.size()) != grid.dimensions)
      throw KeyError("points.at.count", key,
                     fmt::format("output 'points': [{}] has {} coordinates; configuration space has {} dimensions",
                                 fmt::join(point, ", "), point.size(), grid.dimensions));
    std::array<int, 3> at{0, 0, 0};
    std::array<double, 3> xi{};
    for (int d = 0; d < grid.dimensions; ++d) {
      const double steps = (point[d] - grid.lower[d]) / grid.width[d];
      if (!(steps >= 0.0 && steps <= grid.cells[d]))
        throw KeyError(
            "points.at.outside", key,
            fmt::format("output 'points': {:g} in [{}] is outside of the domain, {:g} to {:g} in dimension {}",
                        point[d], fmt::join(point, ", "), grid.lower[d], grid.lower[d] + grid.cells[d] * grid.width[d],
                        d + 1));
      at[d] = std::min(static_cast<int>(steps), grid.cells[d] - 1);
      xi[d] = 2.0 * (steps - at[d]) - 1.0;
    }
    place.cell = grid.own_index(at);
    for (const auto& e : grid.exponents) {
      double value = 1.0;
      for (int d = 0; d < grid.dimensions; ++d) value *= legendre(e[d], xi[d]);
      place.basis.push_back(value);
    }
    place_.push_back(place);
  }
}

std::vector<SeriesFile::Column> PointWriter::columns() const {
  std::vector<SeriesFile::Column> out;
  for (const auto& e : own_expansions_of(*physics_))
    out.push_back({e.name, {std::ssize(place_)}, {"point"}, meaning_of(e.name), "", shown_name(e.name)});
  return out;
}

void PointWriter::create() {
  const int dimensions = physics_->species().front()->conf().dimensions;
  std::string axes;
  for (int d = 0; d < dimensions; ++d) {
    if (d > 0) axes += ' ';
    axes += "xyz"[d];
  }
  file_.create(
      columns(), physics_->time_unit(),
      [&](io::File& file) {
        std::vector<std::int64_t> number;
        std::vector<double> positions;
        std::vector<std::vector<double>> along(dimensions);
        for (const auto& place : place_) {
          number.push_back(std::ssize(number) + 1);
          positions.insert(positions.end(), place.at.begin(), place.at.end());
          for (int d = 0; d < dimensions; ++d) along[d].push_back(place.at[d]);
        }
        io::labelled(file.write("point", number), "", "index of the point, from 1");
        for (int d = 0; d < dimensions; ++d) {
          const std::string name(1, "xyz"[d]);
          io::labelled(file.write(name, along[d]), "", name);
          file.attach_scales(name, {"point"});
        }
        file.set_attribute("at", positions);
      },
      axes);
}

void PointWriter::observe(const State&, std::int64_t step, double time) {
  if (!clock_.due(time)) return;
  std::vector<double> rows;  // each rank adds the points in its cells
  const auto all = own_expansions_of(*physics_);
  for (const auto& e : all)
    for (const auto& place : place_) {
      double sum = 0.0;
      for (std::size_t k = 0; place.cell >= 0 && k < place.basis.size(); ++k)
        sum += place.basis[k] * e.values[place.cell * place.basis.size() + k];
      rows.push_back(sum);
    }
  physics_->species().front()->ranks().row().sum(rows);
  io::on_root(context_.comm, [&] {
    if (!file_.is_open()) create();
    std::vector<const double*> values;
    for (std::size_t k = 0; k < all.size(); ++k) values.push_back(rows.data() + k * place_.size());
    file_.append(step, time, values);
    file_.flush();
  });
}

}  // namespace cambium::kinetic
