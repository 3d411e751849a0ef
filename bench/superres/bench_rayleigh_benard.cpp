#include "bench/superres/bench_rayleigh_benard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/timing.hpp"
#include "core/deck/node.hpp"
#include "core/io/gather.hpp"
#include "core/run/advance.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"

namespace cambium::superres {
namespace {

/// Convection at Ra 1e6 on nx x nz (or nx x ny x nz) cells of a layer four heights wide and, in three dimensions, as
/// deep, from a regular disturbance.
class Case {
 public:
  Case(const std::vector<int>& cells, Context& context) : context_(context), physics_(params(cells), context) {
    physics_.declare(state_, context);
    physics_.schedule(schedule_);
    physics_.initialise(state_, context);
  }
  void advance() { cambium::advance(schedule_, physics_, state_, context_.timing, false); }
  void run() {
    while (!physics_.finished()) advance();
  }
  /// b by (z, x) on rank 0.
  std::vector<double> buoyancy() {
    std::vector<double> all;
    io::gather_rows(context_.comm, state_.find("b")->tensor(), [&](std::int64_t, const TensorRef& piece) {
      const auto* values = static_cast<const double*>(piece.data);
      all.insert(all.end(), values, values + piece.elements());
    });
    return all;
  }
  const Grid& grid() { return physics_.run().grid(); }
  double divergence() { return physics_.run().divergence(); }
  std::int64_t steps() const { return state_.step; }

 private:
  static RayleighBenard::Params params(const std::vector<int>& cells) {
    const auto text = fmt::format(
        "{{rayleigh: 1e6, width: 4, cells: [{}], end_time: 10, initial: {{noise: 0, amplitude: 0.05, wavelengths: "
        "2}}}}",
        fmt::join(cells, ", "));
    return deck::read<RayleighBenard::Params>(deck::parse(text, "bench"));
  }
  Context& context_;
  RayleighBenard physics_;
  State state_;
  Schedule schedule_;
};

/// Relative L2 difference of b between a grid and one twice as fine, whose cells are averaged two by two.
double difference(const Grid& grid, const std::vector<double>& coarse, const Grid& fine_grid,
                  const std::vector<double>& fine) {
  double error = 0.0, size = 0.0;
  for (int k = 0; k < grid.nz; ++k)
    for (int i = 0; i < grid.nx; ++i) {
      double mean = 0.0;
      for (int half = 0; half < 2; ++half) {
        const auto row = static_cast<std::size_t>(2 * k + half) * fine_grid.nx + 2 * i;
        mean += 0.5 * (fine[row] + fine[row + 1]) * fine_grid.height(2 * k + half) / grid.height(k);
      }
      const double b = coarse[static_cast<std::size_t>(k) * grid.nx + i];
      error += (b - mean) * (b - mean) * grid.height(k);
      size += mean * mean * grid.height(k);
    }
  return std::sqrt(error / size);
}

double best_rate(const std::vector<int>& cells, int steps, int repeat, Context& context, double& divergence) {
  Case timed(cells, context);
  for (int k = 0; k < 20; ++k) timed.advance();
  double best = 0.0;
  for (int r = 0; r < repeat; ++r) {
    context.comm.barrier();
    const double start = wall_seconds();
    for (int k = 0; k < steps; ++k) timed.advance();
    const double seconds = context.comm.max(wall_seconds() - start);
    best = std::max(best, static_cast<double>(timed.grid().cells()) * steps / seconds / 1e6);
  }
  divergence = std::max(divergence, timed.divergence());
  return best;
}

}  // namespace

static nlohmann::json measure_rayleigh_benard(const BenchOptions& options, Context& context) {
  const int steps = options.integer("steps");
  const int repeat = options.integer("repeat");
  double divergence = 0.0;
  const double total = best_rate({512, 128}, steps, repeat, context, divergence);
  nlohmann::json out;
  out["ranks"] = context.comm.size();
  out["m_cell_steps_per_s"] = total / context.comm.size();
  out["m_cell_steps_per_s_all_ranks"] = total;
  out["stages_per_step"] = Stepper::stage_count;
  out["poisson_solutions_per_step"] = Stepper::stage_count;
  bool good = divergence < 1e-12;
  std::string check = fmt::format("largest |div u| {:.1e}", divergence);
  context.log.info(fmt::format("512 x 128: {:.2f} M cell-steps/s per core, {} stages and Poisson solutions a step",
                               total / context.comm.size(), Stepper::stage_count));
  if (options.yes("accuracy")) {
    Case coarse({512, 128}, context);
    const double start = wall_seconds();
    coarse.run();
    out["seconds_to_t10"] = context.comm.max(wall_seconds() - start);
    out["steps_to_t10"] = coarse.steps();
    Case fine({1024, 256}, context);
    fine.run();
    const auto b = coarse.buoyancy(), reference = fine.buoyancy();
    const double error = context.comm.root() ? difference(coarse.grid(), b, fine.grid(), reference) : 0.0;
    out["error_against_1024x256"] = error;
    good = good && error < 0.02;
    check += fmt::format(", b at t = 10 within {:.2e} of 1024 x 256 cells", error);
    context.log.info(fmt::format("t = 10 at Ra 1e6: {:.2f} s, {} steps, error {:.2e}",
                                 out["seconds_to_t10"].get<double>(), coarse.steps(), error));
  }
  out["check"] = (good ? "ok: " : "WRONG: ") + check;
  return out;
}

Bench bench_rayleigh_benard() {
  return {"rayleigh_benard",
          "cell-steps per second of convection, and the time to a given accuracy",
          measure_rayleigh_benard,
          {{"steps", "timed steps", 100},
           {"repeat", "timings, of which the fastest counts", 5},
           {"accuracy", "run to t = 10 and compare with 1024 x 256 cells", true}},
          {"steps=50", "repeat=3", "accuracy=no"}};
}

static nlohmann::json measure_rayleigh_benard_3d(const BenchOptions& options, Context& context) {
  double divergence = 0.0;
  const double total =
      best_rate({64, 64, 64}, options.integer("steps"), options.integer("repeat"), context, divergence);
  const double each = total / context.comm.size();
  context.log.info(fmt::format("64 x 64 x 64: {:.2f} M cell-steps/s per core, {} stages and Poisson solutions a step",
                               each, Stepper::stage_count));
  const char* const verdict = divergence < 1e-12 ? "ok" : "WRONG";
  return {{"ranks", context.comm.size()},
          {"m_cell_steps_per_s", each},
          {"m_cell_steps_per_s_all_ranks", total},
          {"stages_per_step", Stepper::stage_count},
          {"poisson_solutions_per_step", Stepper::stage_count},
          {"check", fmt::format("{}: largest |div u| {:.1e}", verdict, divergence)}};
}

Bench bench_rayleigh_benard_3d() {
  return {"rayleigh_benard_3d",
          "cell-steps per second of convection in three dimensions",
          measure_rayleigh_benard_3d,
          {{"steps", "timed steps", 25}, {"repeat", "timings, of which the fastest counts", 5}},
          {"steps=10", "repeat=3"}};
}

}  // namespace cambium::superres
