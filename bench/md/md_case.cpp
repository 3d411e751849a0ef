#include "bench/md/md_case.hpp"

#include <fmt/format.h>

#include "core/base/constants.hpp"
#include "core/deck/node.hpp"
#include "core/io/structures/lammps_data_writer.hpp"
#include "core/run/advance.hpp"

namespace cambium::md {

namespace {

Md::Params params_from(const std::string& text) { return deck::read<Md::Params>(deck::parse(text, "bench")); }

}  // namespace

MdCase argon_case(int edge) {
  constexpr double epsilon = 0.010323, sigma = 3.405;  // eV, Å
  const double a = sigma * std::cbrt(4.0 / 0.8442);
  const double temperature = 1.44 * epsilon / constants::boltzmann;
  MdCase c;
  c.key = "lj";
  c.params = params_from(fmt::format(R"(
structure: {{lattice: {{type: fcc, a: {1:.17g}, cells: [{0}, {0}, {0}], species: [Ar]}}}}
potential: {{type: lennard_jones, epsilon: {2}, sigma: {3}, cutoff: {4:.17g}, truncation: plain}}
initial_temperature: {5:.17g}
timestep: 0.0108
skin: {6:.17g}
)",
                                     20 * edge, a, epsilon, sigma, 2.5 * sigma, temperature, 0.3 * sigma));
  c.lammps_pair = fmt::format("pair_style lj/cut {:.17g}\npair_coeff 1 1 {} {}\n", 2.5 * sigma, epsilon, sigma);
  c.lammps_suffix = "-sf opt";
  return c;
}

MdCase silicon_case(int edge) {
  MdCase c;
  c.key = "sw";
  c.params = params_from(fmt::format(R"(
structure: {{lattice: {{type: diamond, a: 5.431, cells: [{0}, {0}, {0}], species: [Si]}}}}
potential: {{type: stillinger_weber}}
initial_temperature: 1000
timestep: 0.001
skin: 1.0
)",
                                     16 * edge));
  c.lammps_pair = "pair_style sw\npair_coeff * * Si.sw Si\n";
  return c;
}

MdTimes run_cambium(const MdCase& c, const std::string& data_file, Context& context) {
  Md md(c.params, context);
  State state;
  Schedule schedule;
  md.declare(state, context);
  md.initialise(state, context);
  md.schedule(schedule);
  if (!data_file.empty()) io::write_lammps_data(data_file, state.particles, context.comm);
  std::vector<double> values(md.observables().size());
  auto total = [&] { return md.measure(state, context, values), values[2] + values[3]; };
  MdTimes out;
  out.start_total = total();
  out.start_energy = values[2];
  out.start_pressure = values[1];
  for (int k = 0; k < c.warm_up; ++k) advance(schedule, md, state, context.timing, false);
  context.timing.reset();
  context.comm.barrier();
  const double start = wall_seconds();
  for (int k = 0; k < c.steps; ++k) advance(schedule, md, state, context.timing, k + 1 == c.steps);
  context.comm.barrier();
  const double seconds = context.comm.max(wall_seconds() - start);
  out.atom_steps_per_s = static_cast<double>(state.particles.nglobal) * c.steps / seconds;
  out.end_energy = total();
  out.ran = true;
  return out;
}

}  // namespace cambium::md
