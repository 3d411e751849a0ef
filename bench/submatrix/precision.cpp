#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/submatrix/measure.hpp"
#include "bench/submatrix/scaling.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::submatrix {

namespace {

/// GFLOP/s of one rank's matrix products of 1,024 rows while all ranks run them, fastest of five.
template <class T>
double product_speed(const Comm& comm) {
  const int n = 1024;
  std::vector<T> a(n * n, T(0.5)), b(a), c(a);
  double best = 0.0;
  for (int k = 0; k < 5; ++k) {
    comm.barrier();
    const double started = wall_seconds();
    host_gemm<T>(false, false, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
    best = std::max(best, 2e-9 * n * n * n / (wall_seconds() - started));
  }
  return comm.sum(best) / comm.size();
}

struct Variant {
  const char* name;
  SolverKind solver;
  Precision precision;
};

constexpr Variant variants[] = {{"diagonalise_float64", SolverKind::diagonalise, Precision::float64},
                                {"lanczos_float64", SolverKind::lanczos, Precision::float64},
                                {"lanczos_float32", SolverKind::lanczos, Precision::float32},
                                {"newton_schulz_float64", SolverKind::newton_schulz, Precision::float64},
                                {"newton_schulz_float32", SolverKind::newton_schulz, Precision::float32},
                                {"newton_schulz_bfloat16", SolverKind::newton_schulz, Precision::bfloat16},
                                {"pade_float32", SolverKind::pade, Precision::float32}};

}  // namespace

static nlohmann::json measure_precision(const BenchOptions& options, Context& context) {
  const std::filesystem::path folder = water_folder(options);
  const int copies = options.integer("copies");
  const double eps = options.number("eps");
  nlohmann::json out;
  out["ranks"] = context.comm.size();
  const double speed64 = product_speed<double>(context.comm), speed32 = product_speed<float>(context.comm);
  out["gemm_gflops_float64"] = speed64;
  out["gemm_gflops_float32"] = speed32;
  double worst = 0.0;
  for (const char* set : {"iter1", "scf"}) {
    const MatrixSystem system =
        load_water((folder / fmt::format("h2o32_szv_lattice_{}.h5", set)).string(), copies, context.comm);
    double reference = 0.0, krylov = 0.0;
    for (const Variant& variant : variants) {
      DensityOptions o = bench_options(system, eps, variant.solver);
      o.precision = variant.precision;
      o.krylov_tolerance = 0.1 * eps;
      // The iterations work at one mu; all others get the same.
      o.mu = 0.5 * (*system.reference.homo + *system.reference.lumo);
      const Measured m = measure(system, o, 1, context);
      if (variant.solver == SolverKind::diagonalise) reference = m.grand_mev;
      if (std::string(variant.name) == "lanczos_float64") krylov = m.grand_mev;
      if (std::string(variant.name) == "lanczos_float32") worst = std::max(worst, std::abs(m.grand_mev - krylov));
      const double share =
          m.column_gflops / context.comm.size() / (variant.precision == Precision::float64 ? speed64 : speed32);
      out[set][variant.name] = {{"seconds", m.seconds},
                                {"error_mev", m.error_mev},
                                {"grand_error_mev", m.grand_mev},
                                {"off_diagonalisation_mev", m.grand_mev - reference},
                                {"steps", m.steps},
                                {"residual", m.residual},
                                {"gflops", m.column_gflops},
                                {"share_of_gemm", share}};
      context.log.info(
          fmt::format("{:<5} {:<23}{:8.3f} s  E - mu N {:+.2e} meV/atom, {:+.2e} from diagonalisation; {:4.1f} steps, "
                      "residual {:.1e}; {:6.1f} GFLOP/s, {:3.0f} % of a product",
                      set, variant.name, m.seconds, m.grand_mev, m.grand_mev - reference, m.steps, m.residual,
                      m.column_gflops, 100.0 * share));
    }
  }
  out["float32_off_float64_mev"] = worst;
  out["check"] =
      fmt::format("{}: Lanczos in float32 is within {:.1e} meV/atom of float64", worst < 0.01 ? "ok" : "WRONG", worst);
  return out;
}

Bench bench_precision() {
  return {
      "submatrix_precision",
      "every solver in every precision: error, and share of the speed of a matrix product",
      measure_precision,
      {{"data", "folder of h2o32_szv_lattice_iter1.h5 and _scf.h5; submatrix in CAMBIUM_DATA when none is given", ""},
       {"copies", "of the cell of 32 molecules along each edge", 2},
       {"eps", "filter threshold", 1e-5}}};
}

}  // namespace cambium::submatrix
