#include "plugins/kinetic/species/regrid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"

namespace cambium::kinetic {

AxisMap::AxisMap(const Axis& from, const Axis& to) : overlaps_(to.cells) {
  std::vector<double> nodes, weights;
  gauss(3, nodes, weights);  // products of two modes have degree 4
  const double nothing = 1e-12 * std::min(from.narrowest(), to.narrowest());
  for (int i = 0, first = 0; i < to.cells; ++i) {
    const double centre = to.centre(i), width = to.width(i), half = 0.5 * width;
    while (first < from.cells && from.centre(first) + 0.5 * from.width(first) < centre - half) ++first;
    for (int j = first; j < from.cells; ++j) {
      const double old_centre = from.centre(j), old_half = 0.5 * from.width(j);
      const double low = std::max(centre - half, old_centre - old_half);
      const double high = std::min(centre + half, old_centre + old_half);
      if (old_centre - old_half > centre + half) break;
      if (high - low <= nothing) continue;
      Overlap o{j, {}};
      for (std::size_t q = 0; q < nodes.size(); ++q) {
        const double z = 0.5 * (low + high) + 0.5 * (high - low) * nodes[q];
        const double weight = weights[q] * (high - low) / width;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            o.mode[a][b] += weight * legendre(a, (z - centre) / half) * legendre(b, (z - old_centre) / old_half);
      }
      overlaps_[i].push_back(o);
    }
  }
}

StoredGrid::StoredGrid(const io::Dataset& set) : cdim(set.attribute<int>("cdim")), vdim(set.attribute<int>("vdim")) {
  const auto flat = set.attribute<std::vector<int>>("exponents"), cells = set.attribute<std::vector<int>>("cells");
  const auto lower = set.attribute<std::vector<double>>("lower"), upper = set.attribute<std::vector<double>>("upper");
  const int dims = cdim + vdim;
  axis.resize(dims);
  for (int d = 0; d < dims; ++d) {
    axis[d].lower = lower[d];
    axis[d].upper = upper[d];
    axis[d].cells = axis[d].count = cells[d];
    if (d >= cdim) axis[d].edges = stored_edges(set, d - cdim, cells[d]);
  }
  for (std::size_t k = 0; k + dims <= flat.size(); k += dims) {
    exponents.emplace_back(flat.begin() + k, flat.begin() + k + dims);
    const auto& e = exponents.back();
    if (std::all_of(e.begin() + cdim, e.end(), [](int n) { return n == 0; }))
      conf_exponents.emplace_back(e.begin(), e.begin() + cdim);
  }
}

int StoredGrid::conf_cells() const {
  int n = 1;
  for (int d = 0; d < cdim; ++d) n *= axis[d].cells;
  return n;
}

Regrid::Regrid(std::vector<AxisMap> maps, std::vector<std::vector<int>> from, std::vector<std::vector<int>> to)
    : maps_(std::move(maps)), from_(std::move(from)), to_(std::move(to)) {
  for (std::size_t d = 0; d < maps_.size(); ++d) size_ *= 3;
}

/// Dimension by dimension, on the tensor of all degrees.
void Regrid::add(const AxisMap::Overlap* const* overlap, const double* old, double* out) const {
  std::vector<double> tensor(size_, 0.0);
  auto place = [](const std::vector<int>& exponents) {
    int index = 0;
    for (int n : exponents) index = 3 * index + n;
    return index;
  };
  for (std::size_t k = 0; k < from_.size(); ++k) tensor[place(from_[k])] = old[k];
  int stride = 1;
  for (int d = static_cast<int>(maps_.size()) - 1; d >= 0; --d, stride *= 3)
    for (int i = 0; i < size_; ++i) {
      if (i / stride % 3) continue;
      const double x[3] = {tensor[i], tensor[i + stride], tensor[i + 2 * stride]};
      for (int a = 0; a < 3; ++a) {
        const auto& m = overlap[d]->mode[a];
        tensor[i + a * stride] = m[0] * x[0] + m[1] * x[1] + m[2] * x[2];
      }
    }
  for (std::size_t k = 0; k < to_.size(); ++k) out[k] += tensor[place(to_[k])];
}

namespace {

void require_same_domain(const StoredGrid& from, const PhaseGrid& to, const std::string& name) {
  if (from.cdim != to.cdim || from.vdim != to.vdim)
    throw InputError(
        fmt::format("start_from: species '{}' was stored with {} and {} dimensions of configuration and velocity "
                    "space, this deck has {} and {}",
                    name, from.cdim, from.vdim, to.cdim, to.vdim));
  for (int d = 0; d < to.cdim; ++d) {
    const Axis& a = to.axis[d];
    const Axis& old = from.axis[d];
    const double small = 1e-9 * (a.upper - a.lower);
    if (std::abs(a.lower - old.lower) > small || std::abs(a.upper - old.upper) > small)
      throw InputError(
          fmt::format("start_from: dimension {} of the domain goes from {:g} to {:g} there and from {:g} to {:g} here; "
                      "only the cells and the velocities may differ",
                      d + 1, old.lower, old.upper, a.lower, a.upper));
  }
}

std::vector<AxisMap> maps_of(const StoredGrid& from, const PhaseGrid& to, int dimensions) {
  std::vector<AxisMap> out;
  for (int d = 0; d < dimensions; ++d) out.emplace_back(from.axis[d], to.axis[d]);
  return out;
}

/// Rows of a stored distribution function, one per cell of configuration space, read on request.
class Rows {
 public:
  Rows(const io::Dataset& set, const StoredGrid& grid) : set_(set), grid_(grid) {
    for (int d = grid.cdim; d < grid.cdim + grid.vdim; ++d) velocity_cells_ *= grid.axis[d].cells;
    for (int v = 0; v < velocity_cells_; ++v) {  // a mode that does not depend on velocity has this integral
      double volume = 1.0;
      for (int d = grid.cdim + grid.vdim - 1, rest = v; d >= grid.cdim; rest /= grid.axis[d--].cells)
        volume *= std::sqrt(0.5) * grid.axis[d].width(rest % grid.axis[d].cells);
      volumes_.push_back(volume);
    }
  }
  int conf(const std::array<int, 6>& at) const {
    int index = 0;
    for (int d = 0; d < grid_.cdim; ++d) index = index * grid_.axis[d].cells + at[d];
    return index;
  }
  const double* cell(const std::array<int, 6>& at) {
    int index = 0;
    for (int d = grid_.cdim; d < grid_.cdim + grid_.vdim; ++d) index = index * grid_.axis[d].cells + at[d];
    return &row(conf(at))[static_cast<std::size_t>(index) * grid_.exponents.size()];
  }
  /// Sum over velocity cells of the modes that do not depend on velocity.
  std::vector<double> density(int conf) {
    std::vector<double> out;
    const auto& f = row(conf);
    const std::size_t modes = grid_.exponents.size();
    for (std::size_t k = 0; k < modes; ++k) {
      const auto& e = grid_.exponents[k];
      if (!std::all_of(e.begin() + grid_.cdim, e.end(), [](int n) { return n == 0; })) continue;
      double sum = 0.0;
      for (int v = 0; v < velocity_cells_; ++v) sum += volumes_[v] * f[v * modes + k];
      out.push_back(sum);
    }
    return out;
  }

 private:
  const std::vector<double>& row(int conf) {
    if (const auto found = rows_.find(conf); found != rows_.end()) return found->second;
    if (rows_.size() > 64) rows_.clear();
    auto& row = rows_[conf];
    std::vector<std::int64_t> start(grid_.vdim + 2, 0), shape{1};
    start[0] = conf;
    for (int d = grid_.cdim; d < grid_.cdim + grid_.vdim; ++d) shape.push_back(grid_.axis[d].cells);
    shape.push_back(static_cast<std::int64_t>(grid_.exponents.size()));
    row.resize(static_cast<std::size_t>(velocity_cells_) * grid_.exponents.size());
    TensorRef tensor;
    tensor.data = row.data();
    tensor.rank = static_cast<int>(shape.size());
    std::int64_t stride = 1;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      tensor.shape[d] = shape[d];
      tensor.stride[d] = stride;
      stride *= shape[d];
    }
    set_.read_block(start, tensor);
    return row;
  }

  const io::Dataset& set_;
  const StoredGrid& grid_;
  int velocity_cells_ = 1;
  std::vector<double> volumes_;
  std::map<int, std::vector<double>> rows_;
};

}  // namespace

double read_regridded(const io::Group& group, const std::string& name, Solver& solver, const ConfGrid& conf,
                      const Comm& column) {
  if (!group.exists(name + "/f"))
    throw InputError(fmt::format("start_from: the file holds no distribution function of a species '{}'", name));
  const io::Dataset set = group.dataset(name + "/f");
  const StoredGrid from(set);
  const PhaseGrid& grid = solver.grid();
  require_same_domain(from, grid, name);
  const BasisInfo& basis = solver.basis();
  const Regrid phase(maps_of(from, grid, grid.dimensions()), from.exponents, basis.exponents);
  const Regrid space(maps_of(from, grid, grid.cdim), from.conf_exponents, basis.conf_exponents);
  Rows rows(set, from);
  std::vector<double> f(basis.modes), wanted(grid.local_conf_cells()), density;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    const auto c = grid.local_conf(ic);
    int at[6] = {};
    for (int d = 0; d < grid.cdim; ++d) at[d] = grid.axis[d].first + c[d];
    std::vector<double> n(basis.conf, 0.0);
    space.cell(
        at, [&](const std::array<int, 6>& old) { return (density = rows.density(rows.conf(old))).data(); }, n.data());
    wanted[ic] = n[0];
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      const auto v = grid.local_velocity(iv);
      for (int d = 0; d < grid.vdim; ++d) at[grid.cdim + d] = grid.velocity(d).first + v[d];
      std::fill(f.begin(), f.end(), 0.0);
      phase.cell(
          at, [&](const std::array<int, 6>& old) { return rows.cell(old); }, f.data());
      solver.set(0, ic, iv, f.data());
    }
  }
  solver.to_device(0);
  std::vector<double> moments(conf.size() * (grid.vdim + 2), 0.0);
  solver.moments(0, moments);
  column.sum(moments);
  double outside = 0.0;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    const double found = moments[static_cast<std::size_t>(ic) * (grid.vdim + 2) * conf.modes()];
    const double missing = 1.0 - found / wanted[ic];
    outside = std::max(outside, missing);
    if (!(std::abs(missing) > 1e-13) || !(found > 0.0)) continue;
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      for (auto& x : f) x *= wanted[ic] / found;
      solver.set(0, ic, iv, f.data());
    }
  }
  solver.to_device(0);
  return outside;
}

std::vector<double> regrid_field(const StoredGrid& from, const std::vector<double>& values, const ConfGrid& to) {
  std::vector<AxisMap> maps;
  for (int d = 0; d < to.dimensions; ++d) {
    Axis axis;
    axis.lower = to.lower[d];
    axis.upper = to.lower[d] + to.cells[d] * to.width[d];
    axis.cells = to.cells[d];
    maps.emplace_back(from.axis[d], axis);
  }
  const Regrid space(std::move(maps), from.conf_exponents, to.exponents);
  std::vector<double> out(to.size(), 0.0);
  for (int cell = 0; cell < to.count(); ++cell) {
    const auto at = to.place(cell);
    space.cell(
        at.data(),
        [&](const std::array<int, 6>& old) {
          int index = 0;
          for (int d = 0; d < to.dimensions; ++d) index = index * from.axis[d].cells + old[d];
          return &values[static_cast<std::size_t>(index) * from.conf_exponents.size()];
        },
        &out[static_cast<std::size_t>(cell) * to.modes()]);
  }
  return out;
}

}  // namespace cambium::kinetic
