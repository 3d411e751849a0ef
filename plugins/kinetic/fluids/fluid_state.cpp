// First state, files and results of a fluid species.
#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/cells_file.hpp"
#include "plugins/kinetic/fluids/fluid.hpp"

namespace cambium::kinetic {

static double constant_of(const char* key, const std::string& text, const std::map<std::string, double>& values) {
  return deck::about_key("kinetic.formula", key, [&] { return constant(text, values); });
}

static std::unique_ptr<MomentEquations> equations_of(const FluidParams& p,
                                                     const std::map<std::string, double>& values) {
  if (p.equation == FluidParams::Equation::ten_moment) {
    const double k0 = p.k0.empty() ? 0.0 : constant_of("k0", p.k0, values);
    if (!(k0 >= 0.0))
      throw KeyError("kinetic.fluid.k0", "k0",
                     fmt::format("fluid species '{}': k0 = {:g} must not be negative", p.name, k0));
    return ten_moments(k0);
  }
  const double gamma =
      p.adiabatic_index.empty() ? 5.0 / 3.0 : constant_of("adiabatic_index", p.adiabatic_index, values);
  if (!(gamma > 1.0))
    throw KeyError("kinetic.fluid.adiabatic_index", "adiabatic_index",
                   fmt::format("fluid species '{}': adiabatic_index = {:g} must be larger than 1", p.name, gamma));
  return five_moments(gamma);
}

Fluid::Fluid(const FluidParams& params, const std::map<std::string, double>& values, const ConfGrid& conf, int order,
             const ConfRanks* ranks)
    : params_(params), values_(values), charge_(constant_of("charge", params.charge, values)),
      mass_(constant_of("mass", params.mass, values)), equations_(equations_of(params, values)), conf_(conf),
      ranks_(ranks), cells_(conf, params.subcells.value_or(order + 1)) {
  if (!(mass_ > 0.0))
    throw KeyError("kinetic.fluid.mass", "mass",
                   fmt::format("fluid species '{}': mass = {:g} must be positive", params.name, mass_));
  const auto components = static_cast<std::size_t>(equations_->components());
  for (auto& slot : state_) slot.assign(components, std::vector<double>(cells_.count(), 0.0));
  rate_ = state_[0];
  ghost_.assign(components, std::vector<double>(static_cast<std::size_t>(conf.ghosts() * cells_.per_cell()), 0.0));
  frequency_.assign(cells_.count(), 0.0);
}

/// Values of a formula at the points of quadrature of each subcell: [cell][subcell][point].
static std::vector<double> at_points(const Formula& formula, const ConfGrid& conf, const Subcells& cells,
                                     std::vector<double>& weights) {
  std::vector<double> nodes, line, out;
  gauss(3, nodes, line);
  int points = 1;
  for (int d = 0; d < conf.dimensions; ++d) points *= 3;
  weights.assign(static_cast<std::size_t>(points), 1.0);
  std::vector<double> z(static_cast<std::size_t>(conf.dimensions), 0.0);
  for (int cell = 0; cell < conf.count(); ++cell) {
    const auto at = conf.place(cell);
    for (int s = 0; s < cells.per_cell(); ++s)
      for (int q = 0; q < points; ++q) {
        double weight = 1.0;
        for (int d = 0, sub = s, point = q; d < conf.dimensions; ++d, sub /= cells.per_side(), point /= 3) {
          const double inside = sub % cells.per_side() + 0.5 + 0.5 * nodes[point % 3];
          z[d] = conf.lower[d] + at[d] * conf.width[d] + inside * cells.width(d);
          weight *= 0.5 * line[point % 3];
        }
        weights[q] = weight;
        out.push_back(formula(z));
      }
  }
  return out;
}

void Fluid::initialise() {
  const auto variables = conf_variables(conf_.dimensions);
  std::vector<double> weights;
  const auto ask = [&](const std::string& key, const std::string& text) {
    return deck::about_key("kinetic.formula", key,
                           [&] { return at_points(Formula(text, variables, values_), conf_, cells_, weights); });
  };
  const auto density = ask("density", params_.density);
  std::vector<std::vector<double>> w(static_cast<std::size_t>(equations_->components()),
                                     std::vector<double>(density.size(), 0.0));
  for (std::size_t k = 0; k < density.size(); ++k) w[0][k] = mass_ * density[k];
  for (std::size_t d = 0; d < params_.velocity.size(); ++d)
    w[1 + d] = ask(deck::child_path("velocity", d), params_.velocity[d]);
  for (std::size_t c = 0; c < params_.pressure_tensor.size(); ++c)
    w[4 + c] = ask(deck::child_path("pressure_tensor", c), params_.pressure_tensor[c]);
  if (!params_.pressure.empty()) {
    w[4] = ask("pressure", params_.pressure);
    if (w.size() == 10) w[7] = w[9] = w[4];
  }
  for (std::size_t k = 0; k < cells_.count(); ++k) {
    Row mean{};
    for (std::size_t point = 0; point < weights.size(); ++point) {
      Row one{}, q{};
      for (std::size_t c = 0; c < w.size(); ++c) one[c] = w[c][k * weights.size() + point];
      if (!equations_->physical(one.data())) {
        const bool dilute = !(one[0] > 0.0);
        throw KeyError("kinetic.fluid.positive",
                       dilute                     ? "density"
                       : params_.pressure.empty() ? "pressure_tensor"
                                                  : "pressure",
                       fmt::format("fluid species '{}': the {} is not positive everywhere: see cell {}", params_.name,
                                   dilute ? "density" : "pressure", place_of(k)));
      }
      equations_->to_conserved(one.data(), q.data());
      for (std::size_t c = 0; c < w.size(); ++c) mean[c] += weights[point] * q[c];
    }
    for (std::size_t c = 0; c < w.size(); ++c) state_[0][c][k] = mean[c];
  }
}

std::string Fluid::place_of(std::size_t at) const {
  const auto per_cell = static_cast<std::size_t>(cells_.per_cell());
  const auto cell = static_cast<int>(at / per_cell);
  int sub = static_cast<int>(at % per_cell);
  std::string numbers, where;
  for (int d = 0; d < conf_.dimensions; ++d, sub /= cells_.per_side()) {
    const int place = conf_.place(cell)[d];
    numbers += fmt::format("{}{}", d ? ", " : "", place);
    where += fmt::format("{}{} = {:.6g}", d ? ", " : "", "xyz"[d],
                         conf_.lower[d] + place * conf_.width[d] + (sub % cells_.per_side() + 0.5) * cells_.width(d));
  }
  return fmt::format("[{}] ({})", numbers, where);
}

std::string Fluid::broken_place() const {
  for (int slot : {1, 2, 0})
    for (std::size_t k = 0; k < cells_.count(); ++k)
      if (!equations_->physical(primitive(slot, k).data())) return place_of(k);
  return {};
}

std::array<double, 6> Fluid::totals() const {
  std::array<double, 6> out{};
  for (std::size_t k = 0; k < cells_.count(); ++k) {
    Row q{}, w{};
    for (int c = 0; c < equations_->components(); ++c) q[c] = state_[0][c][k];
    equations_->to_primitive(q.data(), w.data());
    out[0] += q[0] / mass_;
    for (int d = 0; d < 3; ++d) out[1 + d] += q[1 + d];
    out[4] += equations_->energy(q.data());
    out[5] += equations_->pressure(w.data());
  }
  for (double& sum : out) sum *= cells_.volume();
  return out;
}

std::vector<Fluid::Named> Fluid::output() const {
  std::vector<Named> out;
  const auto add = [&](const std::string& name, auto&& value) {
    std::vector<double> means(cells_.count());
    for (std::size_t k = 0; k < means.size(); ++k) {
      Row q{}, w{};
      for (int c = 0; c < equations_->components(); ++c) q[c] = state_[0][c][k];
      equations_->to_primitive(q.data(), w.data());
      means[k] = value(q, w);
    }
    out.push_back({name, cells_.expansion(means)});
  };
  add("density", [&](const Row& q, const Row&) { return q[0] / mass_; });
  for (int d = 0; d < 3; ++d)
    add(fmt::format("flux_{}", "xyz"[d]), [&, d](const Row& q, const Row&) { return q[1 + d] / mass_; });
  add("energy", [&](const Row& q, const Row&) { return 2.0 * equations_->energy(q.data()) / mass_; });
  if (equations_->components() == 5) add("pressure", [&](const Row&, const Row& w) { return w[4]; });
  for (int c = 0; c < 6 && equations_->components() == 10; ++c)
    add(std::string("pressure_") + tensor_names[c], [&, c](const Row&, const Row& w) { return w[4 + c]; });
  return out;
}

std::string Fluid::summary() const {
  return fmt::format("{}: fluid of {} moments, {} finite volumes to a cell", params_.name, equations_->components(),
                     cells_.per_cell());
}

double Fluid::bytes() const { return 8.0 * 4.0 * equations_->components() * static_cast<double>(cells_.count()); }

void Fluid::save(io::Group& group) const {
  const auto components = state_[0].size(), per_cell = static_cast<std::size_t>(cells_.per_cell());
  std::vector<double> rows(components * cells_.count());
  for (std::size_t k = 0; k < cells_.count(); ++k)
    for (std::size_t c = 0; c < components; ++c)
      rows[(k / per_cell * components + c) * per_cell + k % per_cell] = state_[0][c][k];
  const std::string name = params_.name + "/fluid";
  if (ranks_)
    write_cells(group, name, *ranks_, conf_, rows, static_cast<int>(components * per_cell));
  else
    group.write(name, rows);
}

void Fluid::load(const io::Group& group) {
  const auto components = state_[0].size(), per_cell = static_cast<std::size_t>(cells_.per_cell());
  const std::string name = params_.name + "/fluid";
  const auto found = static_cast<std::size_t>(group.dataset(name).elements()),
             count = static_cast<std::size_t>(conf_.whole_count()) * components * per_cell;
  if (found != count)
    throw InputError(
        fmt::format("'{}': fluid species '{}' has {} values, expected {}; the file is damaged or was changed, resume "
                    "from another one",
                    group.file(), params_.name, found, count));
  const auto rows = read_cells(group, name, conf_, static_cast<int>(components * per_cell));
  for (std::size_t k = 0; k < cells_.count(); ++k)
    for (std::size_t c = 0; c < components; ++c)
      state_[0][c][k] = rows[(k / per_cell * components + c) * per_cell + k % per_cell];
}

}  // namespace cambium::kinetic
