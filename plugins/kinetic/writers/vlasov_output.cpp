// Results of a kinetic run: observables, the stage summary, citations.
#include <fmt/format.h>

#include <array>
#include <span>

#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/species/first_state.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "plugins/kinetic/writers/sampled.hpp"

namespace cambium::kinetic {

static const char* axis_name(int d) { return d == 0 ? "x" : d == 1 ? "y" : "z"; }

std::vector<Observable> Vlasov::observables() const {
  std::vector<Observable> out;
  if (fields()) {
    out.push_back({"electric_energy", "", "energy of the electric field", true});
    out.push_back({"magnetic_energy", "", "energy of the magnetic field", true});
    for (const auto& r : fields()->readings()) out.push_back({r.name, "", r.meaning, false});
  }
  out.push_back({"kinetic_energy", "", "of all species", true});
  out.push_back({"total_energy", "", "kinetic and field energy", true});
  out.push_back({"particles", "", "number of all species", true});
  for (int d = 0; d < species().front()->solver().grid().vdim; ++d)
    out.push_back({fmt::format("momentum_{}", axis_name(d)), "", "of all species", false});
  for (const auto& s : species()) {
    out.push_back({"particles_" + s->name(), "", "number", false});
    out.push_back({"kinetic_energy_" + s->name(), "", "", false});
    out.push_back({"temperature_" + s->name(), "", "per degree of freedom, without the domain's mean drift", false});
    out.push_back({"square_" + s->name(), "", "integral of f^2 over phase space", false});
    if (common_.observables.entropy) out.push_back({"entropy_" + s->name(), "", "minus the integral of f ln f", false});
  }
  for (const auto& s : fluids()) {
    out.push_back({"particles_" + s->name(), "", "number", false});
    for (int d = 0; d < 3; ++d)
      out.push_back({fmt::format("momentum_{}_{}", axis_name(d), s->name()), "", "of the fluid", false});
    out.push_back({"kinetic_energy_" + s->name(), "", "of flow and heat", false});
    out.push_back({"pressure_" + s->name(), "", "mean over the domain", false});
  }
  for (const auto& r : plasma_.exchanges().readings()) out.push_back({r.name, "", r.meaning, false});
  return out;
}

void Vlasov::measure(const State&, Context&, std::span<double> values) {
  std::size_t n = 0;
  auto put = [&](double value) { values[n++] = value; };
  double kinetic = 0.0, particles = 0.0, field = 0.0;
  std::vector<Totals> totals;
  std::vector<std::array<double, 6>> of_fluids;
  for (const auto& s : species()) {
    totals.emplace_back(*s);
    kinetic += totals.back().kinetic_energy();
    particles += totals.back().particles();
  }
  for (const auto& s : fluids()) {
    of_fluids.push_back(s->totals());
    plasma_.ranks().row().sum(std::span<double>(of_fluids.back()));
    kinetic += of_fluids.back()[4];
    particles += of_fluids.back()[0];
  }
  if (fields()) {
    const double electric = fields()->electric_energy(0), magnetic = fields()->magnetic_energy(0);
    put(electric);
    put(magnetic);
    field = electric + magnetic;
    for (const auto& r : fields()->readings()) put(r.value);
  }
  const double total = kinetic + field;
  put(kinetic);
  put(total);
  put(particles);
  for (int d = 0; d < species().front()->solver().grid().vdim; ++d) {
    double momentum = 0.0;
    for (std::size_t s = 0; s < totals.size(); ++s)
      if (d < species()[s]->solver().grid().vdim) momentum += totals[s].momentum(d);
    for (const auto& of : of_fluids) momentum += of[1 + d];
    put(momentum);
  }
  for (const Totals& of : totals) {
    put(of.particles());
    put(of.kinetic_energy());
    put(of.temperature());
    put(of.square_integral());
    if (common_.observables.entropy) put(of.entropy());
  }
  const ConfGrid& conf = plasma_.conf();
  for (const auto& of : of_fluids) {
    for (int c = 0; c < 5; ++c) put(of[c]);
    put(of[5] / (conf.whole_count() * conf.cell_volume()));
  }
  for (const auto& r : plasma_.exchanges().readings()) put(r.value);
  if (!measured_) {
    first_energy_ = total;
    first_particles_ = particles;
  }
  measured_ = true;
  last_energy_ = total;
  last_particles_ = particles;
}

std::optional<GridFields> Vlasov::grid_fields(const State&, const Comm&) const { return sampled_moments(*this); }

Physics::Work Vlasov::work(const State&) const {
  std::int64_t cells = 0;
  for (const auto& s : species()) cells += s->solver().grid().cells();
  return {cells, "cell"};
}

std::vector<Result> Vlasov::results() const {
  std::vector<Result> out;
  if (growth_) out = growth_->results(growth_->fit());
  if (measured_) {
    const std::string head = "changed by, relative, over this run: ";
    out.push_back({.key = "total_energy_changed_by",
                   .label = head + "total energy",
                   .value = last_energy_ / first_energy_ - 1.0,
                   .digits = 3});
    out.push_back({.key = "particles_by",
                   .label = head + "particles",
                   .value = last_particles_ / first_particles_ - 1.0,
                   .digits = 3});
  }
  append(out, plasma_.exchanges().results());
  for (const auto& s : species()) append(out, s->limiter_results());
  out.push_back({.key = "last_step", .label = "last step", .value = last_step_, .digits = 4});
  out.push_back({"steps_begun_again", "steps begun again because a later stage needed a shorter one",
                 static_cast<double>(step_size_.repeated())});
  return out;
}

std::vector<std::string> Vlasov::report() const {
  std::vector<std::string> out;
  if (growth_) {
    const auto fit = growth_->fit();
    if (const auto text = growth_->excuse(fit); !text.empty()) out.push_back(text);
    if (const auto text = growth_->doubts(fit); !text.empty()) context_.log.warn(text);
  }
  for (auto& line : plasma_.exchanges().report()) out.push_back(std::move(line));
  for (const auto& s : species())
    if (const auto line = s->limiter_report(); !line.empty()) out.push_back(line);
  for (const auto& s : species())
    if (const auto text = s->limiter_warning(); !text.empty()) context_.log.warn(text);
  for (const auto& s : species()) warn_of_extent(*s, context_.log);
  return out;
}

std::vector<Citation> Vlasov::citations() const {
  std::vector<Citation> out{{"juno2018",
                             "@article{juno2018, author = {Juno, J. and Hakim, A. and TenBarge, J. and Shi, E. and "
                             "Dorland, W.}, title = {Discontinuous Galerkin algorithms for fully kinetic plasmas}, "
                             "journal = {J. Comput. Phys.}, volume = {353}, pages = {110--147}, year = {2018}}"},
                            {"hakim2020",
                             "@inproceedings{hakim2020, author = {Hakim, A. and Juno, J.}, title = {Alias-free, "
                             "matrix-free, and quadrature-free discontinuous Galerkin algorithms for (plasma) kinetic "
                             "equations}, booktitle = {SC20}, year = {2020}, note = {arXiv:2004.09019}}"}};
  if (cross_collisions_.any())
    out.push_back(
        {"greene1973",
         "@article{greene1973, author = {Greene, J. M.}, title = {Improved Bhatnagar-Gross-Krook model of electron-ion "
         "collisions}, journal = {Phys. Fluids}, volume = {16}, pages = {2022--2023}, year = {1973}}"});
  if (!fluids().empty())
    out.push_back({"wang2015",
                   "@article{wang2015, author = {Wang, L. and Hakim, A. H. and Bhattacharjee, A. and Germaschewski, "
                   "K.}, title = {Comparison of multi-fluid moment models with particle-in-cell simulations of "
                   "collisionless magnetic reconnection}, journal = {Phys. Plasmas}, volume = {22}, pages = {012108}, "
                   "year = {2015}}"});
  return out;
}

std::string Vlasov::summary() const {
  std::string out = fmt::format("{}: {}", name(), common_.precision == Precision::float32 ? "float32" : "float64");
  for (const auto& s : species()) {
    const auto& grid = s->solver().grid();
    std::string cells, ranks;
    for (int d = 0; d < grid.dimensions(); ++d) {
      cells += fmt::format("{}{}", d ? " x " : "", grid.axis[d].cells);
      ranks += fmt::format("{}{}", d ? " x " : "", grid.axis[d].ranks);
    }
    const auto& basis = s->solver().basis();
    out +=
        fmt::format("\n  {}: {} cells, {} ({} modes, {} flop per cell and right-hand side), {:.1f} MiB here, ranks {}",
                    s->name(), cells, basis.name, basis.modes, basis.multiplications + basis.additions,
                    static_cast<double>(s->solver().bytes(fuses())) / 1048576.0, ranks);
  }
  for (const auto& s : fluids()) out += "\n  " + s->summary();
  return out;
}

}  // namespace cambium::kinetic
