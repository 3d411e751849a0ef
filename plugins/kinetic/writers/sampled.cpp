#include "plugins/kinetic/writers/sampled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "core/base/key_error.hpp"
#include "core/io/gather.hpp"
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

GridFields::Axis cut(const std::string& name, const kinetic::Axis& a, int parts) {
  if (!a.stretched()) return cut(name, a.lower, a.width(), a.cells, parts);
  GridFields::Axis axis{name, {}};
  for (int i = 0; i < a.cells; ++i)
    for (int part = 0; part < parts; ++part) axis.faces.push_back(a.edges[i] + a.width(i) * part / parts);
  axis.faces.push_back(a.edges.back());
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
  /// Index of part q of the cell with these indices among all parts of a grid of these cells.
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
    if (name.size() == 2) {
      component = name.back() - 'x';
      name.pop_back();
    }
  } else if (name[name.size() - 2] == '_') {
    component = name.back() - 'x';
    name.resize(name.size() - 2);
  }
  std::replace(name.begin(), name.end(), '/', '_');
  return {name, component};
}
bool is_vector(const std::string& name) { return name == "E" || name == "B" || name.ends_with("_flux"); }

}  // namespace

std::vector<GridFields::Axis> sampled_axes(const ConfGrid& conf) {
  std::vector<GridFields::Axis> out;
  for (int d = 0; d < conf.dimensions; ++d)
    out.push_back(cut(names[d], conf.lower[d], conf.width[d], conf.cells[d], conf.highest() + 1));
  return out;
}

SampledBrick sampled_brick(const ConfGrid& conf, const std::vector<Expansion>& own) {
  const int parts = conf.highest() + 1;
  const Parts sampled(conf.exponents, parts);
  SampledBrick out;
  std::vector<int> cells;
  std::size_t size = 1;
  for (int d = 0; d < conf.dimensions; ++d) {
    cells.push_back(conf.own(d));
    size *= at(std::int64_t{conf.own(d)} * parts);
    out.start.insert(out.start.begin(), std::int64_t{conf.first[d]} * parts);
    out.shape.insert(out.shape.begin(), std::int64_t{conf.own(d)} * parts);
  }
  for (const auto& e : own) {
    out.fields.push_back({shown_name(e.name), std::vector<double>(size)});
    for (int cell = 0; cell < conf.count(); ++cell) {
      auto place = conf.place(cell);
      for (int d = 0; d < 3; ++d) place[d] -= conf.first[d];
      for (int q = 0; q < sampled.count(); ++q)
        out.fields.back().values[sampled.place(q, place.data(), cells)] =
            sampled.value(q, &e.values[at(std::int64_t{cell} * conf.modes())]);
    }
  }
  return out;
}

TensorRef SampledBrick::tensor(std::size_t field) const {
  TensorRef t = io::tensor_of(fields[field].values.data(), {});
  t.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int k = t.rank; k-- > 0; stride *= shape[at(k)]) {
    t.shape[k] = shape[at(k)];
    t.stride[k] = stride;
  }
  return t;
}

/// Copies a block into component `component` of a field over these axes.
static void place_block(const io::Block& block, const std::vector<GridFields::Axis>& axes, int component,
                        GridFields::Field& field) {
  const int dims = block.values.rank;
  const auto* from = static_cast<const double*>(block.values.data);
  std::int64_t index[3] = {};
  for (std::int64_t n = 0; n < block.values.elements(); ++n) {
    std::int64_t to = 0;
    for (int k = 0; k < dims; ++k)  // the slowest first, which is the last axis
      to = to * axes[at(dims - 1 - k)].cells() + block.start[at(k)] + index[k];
    field.values[at(to * field.components + component)] = from[n];
    for (int k = dims; k-- > 0 && ++index[k] == block.values.shape[k];) index[k] = 0;
  }
}

GridFields sampled_moments(const Vlasov& physics) {
  const Species& first = *physics.species().front();
  const auto own = own_expansions_of(physics);
  const SampledBrick brick = sampled_brick(first.conf(), own);
  GridFields out;
  out.axes = sampled_axes(first.conf());
  std::vector<std::pair<std::size_t, int>> target;  // field and component of an expansion
  for (const auto& e : own) {
    const auto [name, component] = vector_name(e.name);
    const auto same = [&, n = name](const auto& f) { return f.name == n; };
    const auto field = std::find_if(out.fields.begin(), out.fields.end(), same) - out.fields.begin();
    if (field == std::ssize(out.fields)) out.fields.push_back({name, "", is_vector(name) ? 3 : 1, {}});
    target.emplace_back(field, component);
  }
  const auto& ranks = first.ranks();
  if (ranks.all().root())
    for (auto& field : out.fields) field.values.assign(at(out.cells() * field.components), 0.0);
  std::size_t next = ranks.column().root() ? 0 : own.size();
  io::gather_blocks(
      ranks.all(),
      [&](io::Block& block) {
        if (next == own.size()) return false;
        block = {static_cast<int>(next), brick.start, brick.tensor(next)};
        ++next;
        return true;
      },
      [&](const io::Block& block) {
        const auto [field, component] = target[at(block.array)];
        place_block(block, out.axes, component, out.fields[field]);
      });
  return out;
}

std::string shown_name(std::string name) {
  if (name.starts_with("field/")) return name.substr(6);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
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
    throw KeyError("sampled.axes", "axes",
                   fmt::format("{}: 'axes' needs one to three different ones of {}", what, all));
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
    out.axes.push_back(cut(axis_name(grid, d), a, parts));
    cells.push_back(a.cells);
  }
  double others = 1.0;  // a mode that does not depend on xi_d has the integral sqrt(2) dz/2 over it
  for (int d = 0; d < grid.dimensions(); ++d)
    if (!shown(d)) others *= std::sqrt(0.5) * (d < grid.cdim ? grid.axis[d].width() : 1.0);
  std::vector<std::vector<int>> exponents;
  for (int k = 0; k < basis.modes; ++k) {
    bool flat = true;
    for (int d = 0; d < grid.dimensions(); ++d) flat &= shown(d) || basis.exponents[k][d] == 0;
    if (!flat) continue;
    kept.push_back(k);
    exponents.emplace_back();
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
      double volume = others;
      for (int d = grid.cdim; d < grid.dimensions(); ++d)
        if (!shown(d)) volume *= grid.axis[d].width(grid.axis[d].first + v[d - grid.cdim]);
      for (std::size_t k = 0; k < kept.size(); ++k) mine[k] = volume * f[kept[k]];
      for (int q = 0; q < sampled.count(); ++q)
        values[sampled.place(q, at.data(), cells)] += sampled.value(q, mine.data());
    }
  comm.sum(values);
  out.fields.push_back({"f", "", 1, std::move(values)});
  return out;
}

}  // namespace cambium::kinetic
