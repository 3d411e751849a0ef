// Writes one of every output file into the folder named on the command line, from particles that are plain functions of
// their ids (tests/sample_particles.hpp), for read_back.py to check.
#include <cstdio>

#include "core/io/checkpoint.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/particles/tensor_of_view.hpp"
#include "core/run/thermo_file.hpp"
#include "core/run/trajectory_writers.hpp"
#include "plugins/md/writers/msd.hpp"
#include "plugins/md/writers/rdf.hpp"
#include "plugins/md/writers/vacf.hpp"
#include "tests/sample_particles.hpp"

using namespace cambium;

namespace {

std::vector<std::unique_ptr<Writer>> make_writers(Context& context) {
  std::vector<std::unique_ptr<Writer>> writers;
  H5mdWriter::Params h5md;
  h5md.velocities = h5md.forces = true;
  ExtxyzWriter::Params extxyz;
  extxyz.velocities = extxyz.forces = true;
  md::Rdf::Params rdf;
  rdf.bins = 50;
  md::Msd::Params msd;
  msd.length = 3;
  md::Vacf::Params vacf;
  vacf.length = 3;
  writers.push_back(std::make_unique<H5mdWriter>(h5md, context));
  writers.push_back(std::make_unique<ExtxyzWriter>(extxyz, context));
  writers.push_back(std::make_unique<md::Rdf>(rdf, context));
  writers.push_back(std::make_unique<md::Msd>(msd, context));
  writers.push_back(std::make_unique<md::Vacf>(vacf, context));
  return writers;
}

void write_all(Context& context) {
  const std::vector<Observable> observables{{"temperature", "K", "of the particles"},
                                            {"potential_energy", "eV", ""},
                                            {"kinetic_energy", "eV", ""},
                                            {"pressure", "bar", "from the virial"}};
  ThermoFile thermo(context, observables, "ps");
  auto writers = make_writers(context);
  for (std::int64_t step = 0; step <= 500; step += 100) {
    const State state = sample_state(context.comm, step, true);
    const double t = static_cast<double>(step);
    thermo.append(step, state.time, std::vector<double>{300.0 + t, -10.0 + 0.01 * t, 2.0 - 0.01 * t, 3.0 * t});
    for (auto& writer : writers) writer->observe(state, step, state.time);
    if (step == 500)
      for (auto& writer : writers) writer->finish(state);
  }
  State state = sample_state(context.comm, 500, true);
  state.add({"velocity", At::particle, "angstrom/ps", "", true,
             [&state] { return tensor_of(state.particles.v, state.particles.nlocal); }});
  state.add(
      {"tag", At::particle, "", "", true, [&state] { return tensor_of(state.particles.tag, state.particles.nlocal); }});
  const auto provenance = io::provenance_of(context);
  io::write_checkpoint(context.run_directory + "/restart.500.h5", state, context.comm, provenance, [](io::Group&) {});
  if (context.comm.root())
    io::write_file_atomically(context.run_directory + "/provenance.yaml", io::provenance_yaml(provenance));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    Comm comm;
    Log log;
    Timing timing;
    Context context{comm, log, timing};
    context.run_directory = argc > 1 ? argv[1] : ".";
    context.resolved_deck = "run:\n  name: sample\n";
    context.command_line = "write_samples";
    context.seed = 7;
    write_all(context);
  }
  MPI_Finalize();
}
