// Reference implementation: the `cp2k` program of this machine (Debian packages cp2k, cp2k-data), same atoms and basis.
#include "bench/submatrix/cp2k_peer.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/submatrix/scaling.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::submatrix {

namespace {

std::string input_of(const Cp2kCell& cell, int copies, double eps, bool submatrix) {
  std::string coordinates;
  for (std::size_t a = 0; a < cell.number.size(); ++a)
    // The last word names the molecule: without it, CP2K's blocks would be atoms.
    coordinates += fmt::format("{} {:.10f} {:.10f} {:.10f} H2O\n", cell.number[a] == 8 ? "O" : "H",
                               cell.positions[3 * a], cell.positions[3 * a + 1], cell.positions[3 * a + 2]);
  const std::string method = submatrix ? "SIGN_METHOD SUBMATRIX\nSUBMATRIX_SIGN_METHOD DIRECT\nSIGN_SYMMETRIC T\n"
                                       : "SIGN_METHOD NEWTONSCHULZ\n";
  return fmt::format(
      "&GLOBAL\nPROJECT peer\nRUN_TYPE ENERGY\nPRINT_LEVEL MEDIUM\n&END GLOBAL\n&FORCE_EVAL\nMETHOD Quickstep\n&DFT\n"
      "BASIS_SET_FILE_NAME BASIS_MOLOPT\nPOTENTIAL_FILE_NAME GTH_POTENTIALS\n&MGRID\nCUTOFF 300\n&END MGRID\n"
      "&QS\nEPS_DEFAULT 1.0E-10\nLS_SCF\n&END QS\n&LS_SCF\nPURIFICATION_METHOD SIGN\n{}EPS_FILTER {:.3e}\nEPS_SCF "
      "1.0E-6\nMAX_SCF 1\n"
      "MU 0.07\nFIXED_MU T\nS_PRECONDITIONER MOLECULAR\nMATRIX_CLUSTER_TYPE MOLECULAR\n&END LS_SCF\n"
      "&XC\n&XC_FUNCTIONAL PADE\n&END XC_FUNCTIONAL\n&END XC\n&END DFT\n&SUBSYS\n&CELL\nABC {:.10f} {:.10f} "
      "{:.10f}\nMULTIPLE_UNIT_CELL {} {} {}\n&END CELL\n"
      "&TOPOLOGY\nMULTIPLE_UNIT_CELL {} {} {}\n&END TOPOLOGY\n&COORD\n{}&END COORD\n"
      "&KIND H\nBASIS_SET SZV-MOLOPT-SR-GTH\nPOTENTIAL GTH-PADE-q1\n&END KIND\n&KIND O\nBASIS_SET "
      "SZV-MOLOPT-SR-GTH\nPOTENTIAL GTH-PADE-q6\n&END KIND\n"
      "&END SUBSYS\n&END FORCE_EVAL\n",
      method, eps, cell.edge[0], cell.edge[1], cell.edge[2], copies, copies, copies, copies, copies, copies,
      coordinates);
}

/// Runs a command without the variables that MPI_Init left in our environment, with the BLAS kernels that we use.
bool run_clean(const std::string& command) {
  const char* path = std::getenv("PATH");
  const char* home = std::getenv("HOME");
  const char* core = std::getenv("OPENBLAS_CORETYPE");
  const std::string line =
      fmt::format("env -i PATH='{}' HOME='{}' OMP_NUM_THREADS=1 OPENBLAS_CORETYPE='{}' {} > /dev/null 2>&1",
                  path ? path : "", home ? home : "/", core ? core : "COOPERLAKE", command);
  return std::system(line.c_str()) == 0;
}

/// The last number of a line of CP2K's timing report: total time of the slowest rank.
void read_output(const std::string& path, Cp2kTimes& out) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, word, last;
    words >> first;
    while (words >> word) last = word;
    if (first == "matrix_sign_submatrix" || first == "matrix_sign_Newton_Schulz")
      out.sign_seconds = std::atof(last.c_str());
    if (first == "density_matrix_sign") out.density_seconds = std::atof(last.c_str());
    if (line.find("Total FORCE_EVAL") != std::string::npos) out.energy = std::atof(last.c_str());
    if (line.find("CP2K| version string:") != std::string::npos) out.version = last;
  }
  out.ran = out.sign_seconds > 0.0;
}

}  // namespace

Cp2kTimes run_cp2k(const Cp2kCell& cell, int copies, double eps, bool submatrix, const std::string& folder,
                   const Comm& comm) {
  Cp2kTimes out;
  if (comm.root()) {
    const auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    io::write_file_atomically(path("peer.inp"), input_of(cell, copies, eps, submatrix));
    std::filesystem::remove(path("peer.out"));
    const std::string launch =
        comm.size() > 1 ? fmt::format("mpirun --allow-run-as-root --oversubscribe --bind-to none -np {} ", comm.size())
                        : "";
    run_clean(fmt::format("sh -c \"cd '{}' && {}cp2k.psmp -i peer.inp -o peer.out\"", folder, launch));
    read_output(path("peer.out"), out);
  }
  sleeping_barrier(comm);
  double values[4] = {out.ran ? 1.0 : 0.0, out.sign_seconds, out.density_seconds, out.energy};
  comm.broadcast(values);
  out.ran = values[0] > 0.0;
  out.sign_seconds = values[1];
  out.density_seconds = values[2];
  out.energy = values[3];
  return out;
}

}  // namespace cambium::submatrix
