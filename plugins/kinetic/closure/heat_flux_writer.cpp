#include "plugins/kinetic/closure/heat_flux_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/io/provenance.hpp"
#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

static constexpr int points = 5;  // Gauss nodes of a cell along x and v
static const char* const series[] = {"wavenumber", "temperature", "velocity", "heat_flux", "step", "time"};

void HeatFluxWriter::Params::describe(deck::Describe<Params>& d) {
  d("species", &Params::species, "whose moments; the first one when absent").def("");
  d("modes", &Params::modes, "waves by the number of their periods in the domain").at_least(1).example("[1]");
  d("every", &Params::every, "steps between two outputs").at_least(1).def(1);
  d("from", &Params::from, "time of the first output; earlier ones hold what has not yet damped away").def(0.0);
}

void HeatFluxWriter::attach(const Physics& physics) {
  const auto* found = dynamic_cast<const Vlasov*>(&physics);
  if (!found || !found->fields()) throw InputError("output 'heat_flux' belongs to vlasov_poisson and vlasov_maxwell");
  for (const auto& s : found->species())
    if (!species_ && (params_.species.empty() || params_.species == s->name())) species_ = s.get();
  if (!species_) throw InputError(fmt::format("output 'heat_flux': there is no species '{}'", params_.species));
  const auto& grid = species_->solver().grid();
  if (grid.cdim != 1 || grid.vdim != 1 || grid.axis[0].low_wall != Wall::periodic)
    throw InputError("output 'heat_flux' needs one periodic dimension and one velocity");
}

std::string HeatFluxWriter::path() const { return (std::filesystem::path(context_.run_directory) / "heat_flux.h5").string(); }

std::array<std::vector<double>, 4> HeatFluxWriter::moments() const {
  const auto& solver = species_->solver();
  const auto& grid = solver.grid();
  const Projection rule(solver.basis().exponents, points);
  std::array<std::vector<double>, 4> out;
  for (auto& m : out) m.assign(static_cast<std::size_t>(grid.conf_cells()) * points, 0.0);
  std::vector<double> nodes, weights, f(rule.modes()), values(rule.nodes());
  gauss(points, nodes, weights);
  const Axis& v = grid.velocity(0);
  solver.to_host_const(0);
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    const std::size_t row = static_cast<std::size_t>(grid.conf_index(grid.local_conf(ic))) * points;
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      rule.evaluate(f.data(), values.data());
      for (int q = 0; q < rule.nodes(); ++q) {
        int place = 0;
        while (std::abs(nodes[place] - rule.xi(q, 0)) > 1e-12) ++place;
        const double speed = v.centre(v.first + iv) + 0.5 * v.width() * rule.xi(q, 1);
        double part = rule.weight(q) / weights[place] * 0.5 * v.width() * values[q];
        for (auto& m : out) m[row + place] += part, part *= speed;
      }
    }
  }
  if (context_.comm.size() > 1)
    for (auto& m : out) context_.comm.sum(m);
  return out;
}

void HeatFluxWriter::write(std::int64_t step, double time, const std::array<std::vector<double>, 4>& m) {
  if (!file_) {
    file_.emplace(io::File::create(path()));
    io::write_provenance(*file_, io::provenance_of(context_));
    for (const char* name : {"step", "time"}) file_->create_series(name, name == series[4] ? DType::i64 : DType::f64, {});
    for (int k = 0; k < 4; ++k) file_->create_series(series[k], DType::f64, std::array<std::int64_t, 1>{k ? 2 : 1});
  }
  std::vector<double> nodes, weights;
  gauss(points, nodes, weights);
  const Axis& x = species_->solver().grid().axis[0];
  const double length = x.upper - x.lower;
  const std::size_t n = m[0].size();
  std::vector<double> u(n), T(n), q(n);
  double n0 = 0.0, p0 = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    u[j] = m[1][j] / m[0][j], T[j] = m[2][j] / m[0][j] - u[j] * u[j];
    q[j] = m[3][j] - 3.0 * u[j] * m[2][j] + 3.0 * u[j] * u[j] * m[1][j] - u[j] * u[j] * u[j] * m[0][j];
    const double share = 0.5 * weights[j % points] * x.width() / length;
    n0 += share * m[0][j], p0 += share * m[0][j] * T[j];
  }
  const double vt = std::sqrt(p0 / n0), mass = species_->mass(), charge = species_->charge();
  const double debye = vt * std::sqrt(mass / (n0 * charge * charge));
  for (int mode : params_.modes) {
    const double k = 2.0 * 3.141592653589793 * mode / length, scaled = k * debye;
    std::complex<double> wave[3];
    for (std::size_t j = 0; j < n; ++j) {
      const double at = x.width() * (static_cast<double>(j / points) + 0.5 + 0.5 * nodes[j % points]);
      const auto phase = weights[j % points] * x.width() / length * std::polar(1.0, -k * at);
      wave[0] += phase * T[j] / (vt * vt), wave[1] += phase * u[j] / vt, wave[2] += phase * q[j] / (n0 * vt * vt * vt);
    }
    file_->dataset("wavenumber").append(io::tensor_of(&scaled, {1}));
    for (int c = 0; c < 3; ++c) {
      const double parts[] = {wave[c].real(), wave[c].imag()};
      file_->dataset(series[c + 1]).append(io::tensor_of(parts, {2}));
    }
    file_->dataset("step").append(io::tensor_of(&step, {}));
    file_->dataset("time").append(io::tensor_of(&time, {}));
  }
  file_->flush();
}

void HeatFluxWriter::observe(const State&, std::int64_t step, double time) {
  if (time < params_.from) return;
  const auto m = moments();
  io::on_root(context_.comm, [&] { write(step, time, m); });
}

void HeatFluxWriter::resume(std::int64_t step) {
  io::on_root(context_.comm, [&] {
    if (!std::filesystem::exists(path())) return;
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("step");
    std::int64_t rows = 0;
    while (rows < std::ssize(steps) && steps[rows] <= step) ++rows;
    for (const char* name : series) file_->dataset(name).resize(rows);
  });
}

}  // namespace cambium::kinetic
