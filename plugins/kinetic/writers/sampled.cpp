#include "plugins/kinetic/writers/sampled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/writers/moments.hpp"

namespace cambium::kinetic {
namespace {

const char* const names[] = {"x", "y", "z"};

std::string axis_name(const PhaseGrid& grid, int d) {
  return d < grid.cdim ? names[d] : std::string("v") + names[d - grid.cdim];
}

GridFields::Axis cut(const std::string& name, double lower, double width, int cells, int parts) {
  GridFields::Axis axis{name, {}};
  for (int i = 0; i <= cells * parts; ++i) axis.faces.push_back(lower + width * i / parts);
  return axis;
}

/// Values of modes at the centres of the parts of a cell: [part][mode], the first dimension fastest.
class Parts {
 public:
  Parts(const std::vector<std::vector<int>>& exponents, int parts) : parts_(parts), modes_(exponents.size()) {
    const int dims = static_cast<int>(exponents.front().size());
    for (int d = 0; d < dims; ++d) count_ *= parts;
    for (int q = 0; q < count_; ++q)
      for (const auto& e : exponents) {
        double value = 1.0;
        for (int d = 0, rest = q; d < dims; ++d, rest /= parts)
          value *= legendre(e[d], (2.0 * (rest % parts) + 1.0) / parts - 1.0);
        values_.push_back(value);
      }
  }
  int count() const { return count_; }
  double value(int q, const double* coefficients) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < modes_; ++k) sum += values_[q * modes_ + k] * coefficients[k];
    return sum;
  }
  /// Of part q of the cell with these indices, its place among all parts of a grid of these cells.
  std::size_t place(int q, const int* at, const std::vector<int>& cells) const {
    std::size_t index = 0;
    std::vector<int> part;
    for (std::size_t d = 0; d < cells.size(); ++d, q /= parts_) part.push_back(at[d] * parts_ + q % parts_);
    for (std::size_t d = cells.size(); d-- > 0;) index = index * cells[d] * parts_ + part[d];
    return index;
  }

 private:
  int parts_, count_ = 1;
  std::size_t modes_;
  std::vector<double> values_;
};

/// "electron/flux_y" -> ("electron_flux", 1), "field/Bz" -> ("B", 2), "electron/density" -> ("electron_density", 0).
std::pair<std::string, int> vector_name(std::string name) {
  int component = 0;
  if (name.starts_with("field/")) {
    name = name.substr(6);
    if (name.size() == 2) component = name.back() - 'x', name.pop_back();
  } else if (name[name.size() - 2] == '_') {
    component = name.back() - 'x';
    name.resize(name.size() - 2);
  }
  std::replace(name.begin(), name.end(), '/', '_');
  return {name, component};
}
bool is_vector(const std::string& name) { return name == "E" || name == "B" || name.ends_with("_flux"); }

}  // namespace

GridFields sampled_moments(const Vlasov& physics) {
  const ConfGrid conf = physics.species().front()->conf().whole();
  const int parts = conf.highest() + 1;
  const Parts sampled(conf.exponents, parts);
  GridFields out;
  std::vector<int> cells;
  for (int d = 0; d < conf.dimensions; ++d) {
    out.axes.push_back(cut(names[d], conf.lower[d], conf.width[d], conf.cells[d], parts));
    cells.push_back(conf.cells[d]);
  }
  for (const auto& e : expansions_of(physics)) {
    const auto [name, component] = vector_name(e.name);
    auto field =
        std::find_if(out.fields.begin(), out.fields.end(), [&, n = name](const auto& f) { return f.name == n; });
    if (field == out.fields.end()) {
      const int components = is_vector(name) ? 3 : 1;
      out.fields.push_back({name, "", components, std::vector<double>(out.cells() * components, 0.0)});
      field = out.fields.end() - 1;
    }
    for (int cell = 0; cell < conf.count(); ++cell) {
      const auto at = conf.place(cell);
      for (int q = 0; q < sampled.count(); ++q)
        field->values[sampled.place(q, at.data(), cells) * field->components + component] =
            sampled.value(q, &e.values[static_cast<std::size_t>(cell) * conf.modes()]);
    }
  }
  return out;
}

std::string shown_name(std::string name) {
  if (name.starts_with("field/")) return name.substr(6);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

SampledMoments sampled_components(const Vlasov& physics) {
  const GridFields all = sampled_moments(physics);
  SampledMoments out{all.axes, {}};
  for (const auto& e : own_expansions_of(physics)) {  // for the names
    const auto [name, component] = vector_name(e.name);
    const auto field =
        std::find_if(all.fields.begin(), all.fields.end(), [&, n = name](const auto& f) { return f.name == n; });
    std::vector<double> values;
    for (std::size_t k = component; k < field->values.size(); k += field->components)
      values.push_back(field->values[k]);
    out.fields.push_back({shown_name(e.name), std::move(values)});
  }
  return out;
}

std::vector<int> axes_of(const PhaseGrid& grid, const std::vector<std::string>& wanted, const std::string& what) {
  std::vector<int> out;
  std::string all;
  for (int d = 0; d < grid.dimensions(); ++d) all += (d ? ", " : "") + axis_name(grid, d);
  if (wanted.empty())
    for (int d = 0; d < grid.dimensions(); ++d) out.push_back(d);
  for (const auto& name : wanted)
    for (int d = 0; d < grid.dimensions(); ++d)
      if (name == axis_name(grid, d) && std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
  if (out.size() > 3 || (!wanted.empty() && out.size() != wanted.size()))
    throw InputError(fmt::format("{}: 'axes' needs one to three different ones of {}", what, all));
  return out;
}

GridFields sampled_distribution(const Species& species, const std::vector<int>& axes, const Comm& comm) {
  const Solver& solver = species.solver();
  const PhaseGrid& grid = solver.grid();
  const BasisInfo& basis = solver.basis();
  const int parts = basis.order + 1;
  auto shown = [&](int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
  GridFields out;
  std::vector<int> cells, kept;
  for (int d : axes) {
    const Axis& a = grid.axis[d];
    out.axes.push_back(cut(axis_name(grid, d), a.lower, a.width(), a.cells, parts));
    cells.push_back(a.cells);
  }
  double others = 1.0;  // a mode that does not depend on xi_d has the integral sqrt(2) dz/2 over it
  for (int d = 0; d < grid.dimensions(); ++d)
    if (!shown(d)) others *= std::sqrt(0.5) * grid.axis[d].width();
  std::vector<std::vector<int>> exponents;
  for (int k = 0; k < basis.modes; ++k) {
    bool flat = true;
    for (int d = 0; d < grid.dimensions(); ++d) flat &= shown(d) || basis.exponents[k][d] == 0;
    if (!flat) continue;
    kept.push_back(k), exponents.emplace_back();
    for (int d : axes) exponents.back().push_back(basis.exponents[k][d]);
  }
  const Parts sampled(exponents, parts);
  std::vector<double> values(out.cells(), 0.0), f(basis.modes), mine(kept.size());
  solver.to_host_const(0);
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      const auto c = grid.local_conf(ic), v = grid.local_velocity(iv);
      std::vector<int> at;
      for (int d : axes) at.push_back(grid.axis[d].first + (d < grid.cdim ? c[d] : v[d - grid.cdim]));
      solver.get(0, ic, iv, f.data());
      for (std::size_t k = 0; k < kept.size(); ++k) mine[k] = others * f[kept[k]];
      for (int q = 0; q < sampled.count(); ++q)
        values[sampled.place(q, at.data(), cells)] += sampled.value(q, mine.data());
    }
  comm.sum(values);
  out.fields.push_back({"f", "", 1, std::move(values)});
  return out;
}

}  // namespace cambium::kinetic
