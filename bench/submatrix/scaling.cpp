#include "bench/submatrix/scaling.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "bench/submatrix/measure.hpp"
#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

double peak_megabytes(const Comm& comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return comm.max(static_cast<double>(usage.ru_maxrss) / 1024.0);
}

/// Seconds of the same step on rank 0 only, with the others asleep; the same value on every rank. Its phases on rank 0.
double alone(const std::string& file, int copies, double eps, int repeat, std::map<std::string, double>& phases,
             Context& context) {
  double seconds = 0.0;
  if (context.comm.root()) {
    Comm self(MPI_COMM_SELF);
    Context inner{self, context.log, context.timing};
    const MatrixSystem system = load_water(file, copies, self);
    const Measured m = measure(system, bench_options(system, eps, SolverKind::lanczos), repeat, inner);
    seconds = m.seconds;
    phases = m.phases;
  }
  sleeping_barrier(context.comm);
  return context.comm.sum(seconds);
}

}  // namespace

std::string water_folder(const BenchOptions& options) {
  const char* data = std::getenv("CAMBIUM_DATA");
  std::string folder = options.text("data");
  if (data && folder.empty()) folder = std::string(data) + "/submatrix";
  if (folder.empty() || !std::filesystem::exists(std::filesystem::path(folder) / "h2o32_szv_lattice_iter1.h5"))
    throw InputError(
        "bench submatrix needs h2o32_szv_lattice_iter1.h5 and _scf.h5: name their folder with data=FOLDER");
  return folder;
}

void sleeping_barrier(const Comm& comm) {
  MPI_Request request;
  MPI_Ibarrier(comm.handle(), &request);
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

static nlohmann::json measure_scaling(const BenchOptions& options, Context& context) {
  const std::string file = (std::filesystem::path(water_folder(options)) / "h2o32_szv_lattice_iter1.h5").string();
  const int from = options.integer("from"), to = options.integer("to"), repeat = options.integer("repeat");
  if (from < 1 || to < from)
    throw InputError(
        fmt::format("bench submatrix_scaling: from={} to={} holds no size; give 1 <= from <= to", from, to));
  const double eps = options.number("eps");
  nlohmann::json out, rows = nlohmann::json::array();
  double least = 1e300, most = 0.0;
  for (int copies = from; copies <= to; ++copies) {
    const MatrixSystem system = load_water(file, copies, context.comm);
    const Measured m = measure(system, bench_options(system, eps, SolverKind::lanczos), repeat, context);
    const double molecules = system.layout->blocks(), each = 1e3 * m.seconds / molecules,
                 peak = peak_megabytes(context.comm);
    least = std::min(least, each);
    most = std::max(most, each);
    rows.push_back({{"molecules", molecules},
                    {"seconds", m.seconds},
                    {"ms_per_molecule", each},
                    {"own_mib_per_rank", m.own_megabytes},
                    {"peak_mib_per_rank", peak},
                    {"received_mib", m.megabytes},
                    {"error_mev", m.error_mev},
                    {"phases", m.phases}});
    context.log.info(
        fmt::format("{:6.0f} molecules: {:7.3f} s, {:.4f} ms per molecule; H, S, D of a rank {:.0f} MiB ({:.1f} kiB "
                    "per molecule), peak {:.0f} MiB; E {:+.1e} meV/atom",
                    molecules, m.seconds, each, m.own_megabytes,
                    1024.0 * m.own_megabytes * context.comm.size() / molecules, peak, m.error_mev));
  }
  out["scaling"] = rows;
  out["ranks"] = context.comm.size();
  out["eps"] = eps;
  out["scaling_spread"] = most / least - 1.0;
  if (context.comm.size() > 1) {
    std::map<std::string, double> phases;
    const double one = alone(file, from, eps, repeat, phases, context), all = rows[0]["seconds"].get<double>();
    out["seconds_one_rank"] = one;
    out["speedup"] = one / all;
    out["phases_one_rank"] = phases;
    for (const auto& [name, seconds] : phases)
      context.log.info(fmt::format("  {:<12}{:8.3f} s alone,{:8.3f} s on {} ranks", name, seconds,
                                   rows[0]["phases"].value(name, 0.0), context.comm.size()));
    context.log.info(fmt::format("{} ranks: {:.3f} s, rank 0 alone {:.3f} s, {:.2f} times", context.comm.size(), all,
                                 one, one / all));
  }
  const double error = rows.back()["error_mev"].get<double>();
  out["check"] = fmt::format("{}: E of the largest system differs from the exact one by {:+.1e} meV/atom",
                             std::abs(error) < 0.05 ? "ok" : "WRONG", error);
  return out;
}

Bench bench_scaling() {
  return {
      "submatrix_scaling",
      "seconds and memory per molecule from 864 to 6,912 molecules, and one rank beside all",
      measure_scaling,
      {{"data", "folder of h2o32_szv_lattice_iter1.h5 and _scf.h5; submatrix in CAMBIUM_DATA when none is given", ""},
       {"from", "copies of the cell of 32 molecules along each edge", 3},
       {"to", "copies, the largest", 6},
       {"repeat", "runs, of which the fastest counts", 2},
       {"eps", "filter threshold", 1e-4}}};
}

}  // namespace cambium::submatrix
