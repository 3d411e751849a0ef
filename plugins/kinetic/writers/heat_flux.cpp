#include "plugins/kinetic/writers/heat_flux.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

static constexpr int points = 5;  // Gauss nodes of a cell along x and v
static const std::vector<SeriesFile::Column> columns{
    {"wavenumber", {1}, {"wave"}, "wave number times the Debye length"},
    {"temperature", {2}, {"part"}, "Fourier coefficient of the temperature over T0"},
    {"velocity", {2}, {"part"}, "Fourier coefficient of the velocity over vt"},
    {"heat_flux", {2}, {"part"}, "Fourier coefficient of the heat flux over n0 T0 vt"}};

void HeatFluxWriter::attach(const Physics& physics) {
  const auto* found = dynamic_cast<const Vlasov*>(&physics);
  if (!found || !found->fields()) throw InputError("output 'heat_flux' belongs to vlasov_poisson and vlasov_maxwell");
  for (const auto& s : found->species())
    if (!species_ && (params_.species.empty() || params_.species == s->name())) species_ = s.get();
  if (!species_)
    throw KeyError("heat_flux.species", "species",
                   fmt::format("output 'heat_flux': there is no species '{}'", params_.species));
  const auto& grid = species_->solver().grid();
  if (grid.cdim != 1 || grid.vdim != 1 || grid.axis[0].low_wall != Wall::periodic)
    throw InputError("output 'heat_flux' needs one periodic dimension and one velocity");
}

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
      const double centre = v.centre(v.first + iv), half = 0.5 * v.width(v.first + iv);
      solver.get(0, ic, iv, f.data());
      rule.evaluate(f.data(), values.data());
      for (int q = 0; q < rule.nodes(); ++q) {
        int place = 0;
        while (std::abs(nodes[place] - rule.xi(q, 0)) > 1e-12) ++place;
        const double speed = centre + half * rule.xi(q, 1);
        double part = rule.weight(q) / weights[place] * half * values[q];
        for (auto& m : out) {
          m[row + place] += part;
          part *= speed;
        }
      }
    }
  }
  if (context_.comm.size() > 1)
    for (auto& m : out) context_.comm.sum(m);
  return out;
}

void HeatFluxWriter::write(std::int64_t step, double time, const std::array<std::vector<double>, 4>& m) {
  if (!file_.is_open())
    file_.create(columns, "1/omega", [](io::File& file) {
      io::write_dimension(file, "wave", 1);
      io::labelled(file.write("part", std::vector<std::string>{"real", "imaginary"}), "", "part of a complex number");
    });
  std::vector<double> nodes, weights;
  gauss(points, nodes, weights);
  const Axis& x = species_->solver().grid().axis[0];
  const double length = x.upper - x.lower;
  const std::size_t n = m[0].size();
  std::vector<double> u(n), T(n), q(n);
  double n0 = 0.0, p0 = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    u[j] = m[1][j] / m[0][j];
    T[j] = m[2][j] / m[0][j] - u[j] * u[j];
    q[j] = m[3][j] - 3.0 * u[j] * m[2][j] + 3.0 * u[j] * u[j] * m[1][j] - u[j] * u[j] * u[j] * m[0][j];
    const double share = 0.5 * weights[j % points] * x.width() / length;
    n0 += share * m[0][j];
    p0 += share * m[0][j] * T[j];
  }
  const double vt = std::sqrt(p0 / n0), mass = species_->mass(), charge = species_->charge();
  const double debye = vt * std::sqrt(mass / (n0 * charge * charge));
  for (int mode : params_.modes) {
    const double k = 2.0 * constants::pi * mode / length, scaled = k * debye;
    std::complex<double> wave[3];
    for (std::size_t j = 0; j < n; ++j) {
      const double at = x.width() * (static_cast<double>(j / points) + 0.5 + 0.5 * nodes[j % points]);
      const auto phase = weights[j % points] * x.width() / length * std::polar(1.0, -k * at);
      wave[0] += phase * T[j] / (vt * vt);
      wave[1] += phase * u[j] / vt;
      wave[2] += phase * q[j] / (n0 * vt * vt * vt);
    }
    double parts[3][2];
    for (int c = 0; c < 3; ++c) {
      parts[c][0] = wave[c].real();
      parts[c][1] = wave[c].imag();
    }
    file_.append(step, time, std::array<const double*, 4>{&scaled, parts[0], parts[1], parts[2]});
  }
  file_.flush();
}

void HeatFluxWriter::observe(const State&, std::int64_t step, double time) {
  if (time < params_.from) return;
  const auto m = moments();
  io::on_root(context_.comm, [&] { write(step, time, m); });
}

void HeatFluxWriter::resume(std::int64_t step) { file_.resume(step, columns); }

}  // namespace cambium::kinetic
