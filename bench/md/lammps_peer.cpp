// Reference implementation: the `lmp` program of this machine on the same atoms.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/md/md_case.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::md {

namespace {

/// Stillinger-Weber parameters in LAMMPS's file format, as published (F. H. Stillinger and T. A. Weber, PRB 31, 5262
/// (1985)) with the energy unit of our own potential.
constexpr const char* sw_file =
    "# UNITS: metal\nSi Si Si 2.1683 2.0951 1.80 21.0 1.20 -0.333333333333 7.049556277 0.6022245584 4.0 0.0 0.0\n";

std::string input_of(const MdCase& c, const std::string& data_file) {
  return fmt::format(
      "units metal\natom_style atomic\nread_data {}\n{}neighbor {:.17g} bin\nneigh_modify delay 0 every 1 check yes\n"
      "timestep {:.17g}\nfix 1 all nve\nthermo_style custom step pe etotal press\nthermo_modify format float %.15g\n"
      "thermo {}\nrun {}\nrun {}\n",
      data_file, c.lammps_pair, c.params.skin, c.params.timestep, c.warm_up + c.steps, c.warm_up, c.steps);
}

/// Output of a command run without the variables that MPI_Init left in our environment; empty when it failed.
std::string output_of(const std::string& command) {
  const char* path = std::getenv("PATH");
  const char* home = std::getenv("HOME");
  const std::string line = fmt::format("env -i PATH='{}' HOME='{}' OMP_NUM_THREADS=1 {} 2>/dev/null", path ? path : "",
                                       home ? home : "/", command);
  std::FILE* pipe = popen(line.c_str(), "r");
  if (!pipe) return {};
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  return pclose(pipe) == 0 ? text : std::string();
}

}  // namespace

MdTimes run_lammps(const MdCase& c, const std::string& folder, const std::string& data_file, int ranks) {
  const auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  io::write_file_atomically(path("in.peer"), input_of(c, data_file));
  io::write_file_atomically(path("Si.sw"), sw_file);
  const std::string launch = ranks > 1 ? fmt::format("mpirun --allow-run-as-root --oversubscribe -np {} ", ranks) : "";
  const std::string text =
      output_of(fmt::format("sh -c \"cd '{}' && {}lmp -in in.peer -log none {}\"", folder, launch, c.lammps_suffix));
  MdTimes out;
  std::istringstream in(text);
  double seconds = 0.0;
  int atoms = 0;
  bool first = true;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("LAMMPS (")) out.version = line;
    double step, energy, total, pressure;
    std::sscanf(line.c_str(), "Loop time of %lf on %*d procs for %*d steps with %d atoms", &seconds, &atoms);
    std::istringstream row(line);
    std::string rest;
    if (!(row >> step >> energy >> total >> pressure) || (row >> rest)) continue;
    if (first) {
      out.start_energy = energy;
      out.start_total = total;
      out.start_pressure = pressure;
    }
    first = false;
    out.end_energy = total;
  }
  out.ran = seconds > 0.0 && !first;
  if (out.ran) out.atom_steps_per_s = static_cast<double>(atoms) * c.steps / seconds;
  return out;
}

}  // namespace cambium::md
