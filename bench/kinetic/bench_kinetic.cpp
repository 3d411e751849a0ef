#include "bench/kinetic/bench_kinetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/pack.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/run/advance.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/species/totals.hpp"

namespace cambium::kinetic {

using Json = nlohmann::json;

namespace {

/// CPU seconds of this process: the cost of a step even if other programs run concurrently.
double core_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Case {
  const char* name;
  std::vector<int> cells, velocity_cells;
  BasisParams basis;
  std::string collisions = "";  ///< frequency of dougherty collisions
};

/// The sizes of the published figures, and the same shapes small enough for a test.
std::vector<Case> cases(bool full) {
  const BasisParams p2{BasisParams::Family::serendipity, 2}, p1{BasisParams::Family::serendipity, 1};
  if (!full) return {{"1x1v_p2", {32}, {32}, p2}, {"1x2v_p2", {16}, {12, 12}, p2}, {"2x2v_p2", {8, 4}, {8, 8}, p2}};
  return {{"1x1v_p2", {256}, {256}, p2},       {"1x2v_p2", {64}, {48, 48}, p2},    {"2x2v_p2", {16, 16}, {24, 24}, p2},
          {"1x3v_p2", {16}, {16, 16, 16}, p2}, {"1x1v_p1", {256}, {256}, p1},      {"1x2v_p1", {64}, {48, 48}, p1},
          {"2x2v_p1", {16, 16}, {24, 24}, p1}, {"1x3v_p1", {16}, {16, 16, 16}, p1}};
}

VlasovMaxwell::Params params_of(const Case& c, Precision precision) {
  VlasovMaxwell::Params p;
  p.precision = precision;
  p.basis = c.basis;
  p.domain.cells = c.cells;
  std::string wave = "1";
  SpeciesParams s;
  s.name = "electron";
  s.charge = "-1";
  const char* names[] = {"vx", "vy", "vz"};
  for (std::size_t d = 0; d < c.cells.size(); ++d) {
    p.domain.lower.push_back("0");
    p.domain.upper.push_back("4*pi");
    wave += fmt::format(" + 0.05*cos(0.5*{})", "xyz"[d]);
  }
  s.f0 = "(" + wave + ")";
  for (std::size_t d = 0; d < c.velocity_cells.size(); ++d) {
    s.velocity.lower.push_back("-6");
    s.velocity.upper.push_back("6");
    s.f0 += c.velocity_cells.size() == 1 ? " * maxwellian(v)" : fmt::format(" * maxwellian({})", names[d]);
  }
  s.velocity.cells = c.velocity_cells;
  if (!c.collisions.empty())
    s.collisions = CollisionParams{CollisionParams::Operator::dougherty, c.collisions, CollisionScheme::implicit};
  p.species = {s};
  p.fields.light_speed = 6.0;
  p.fields.E = {"0.1*sin(0.5*x)"};
  p.fields.B = {"0", "0.05*cos(0.5*x)", "0.1 + 0.05*sin(0.5*x)"};
  return p;
}

struct Timed {
  double rate = 0.0;                     ///< cell-steps/s of all ranks, by the clock
  double core_rate = 0.0;                ///< the same by time on the core
  double flops = 0.0, bytes = 0.0;       ///< per cell-step
  double energy = 0.0, particles = 0.0;  ///< relative changes
};

Timed time_case(const Case& c, Precision precision, double seconds, Context& context) {
  VlasovMaxwell physics(params_of(c, precision), context);
  State state;
  physics.declare(state, context);
  physics.initialise(state, context);
  Schedule schedule;
  physics.schedule(schedule);
  const auto& s = *physics.species().front();
  auto energy = [&] {
    return Totals(s).kinetic_energy() + physics.fields()->electric_energy(0) + physics.fields()->magnetic_energy(0);
  };
  const double energy0 = energy(), particles0 = Totals(s).particles();
  Timing timing;
  double best = 1e300, best_core = 1e300, spent = 0.0;
  constexpr int most_steps = 400;  // the energy's error grows with them, and some machines make thousands
  for (int k = 0; k < 4 || (spent < seconds && k < most_steps); ++k) {
    context.comm.barrier();
    const double start = wall_seconds(), core = core_seconds();
    advance(schedule, physics, state, timing, false);
    const double taken = context.comm.max(wall_seconds() - start);
    const double on_core = context.comm.max(core_seconds() - core);
    if (k > 0) {
      best = std::min(best, taken);
      best_core = std::min(best_core, on_core);
    }
    spent += taken;
  }
  const auto& basis = s.solver().basis();
  Timed out;
  out.rate = static_cast<double>(s.solver().grid().cells()) / best;
  out.core_rate = static_cast<double>(s.solver().grid().cells()) / best_core;
  out.flops = 3.0 * (basis.multiplications + basis.additions + 5.0 * basis.modes);
  out.bytes = (physics.fuses() ? 5.0 : 8.0) * basis.modes * (precision == Precision::float32 ? 4.0 : 8.0);
  out.energy = energy() / energy0 - 1.0;
  out.particles = Totals(s).particles() / particles0 - 1.0;
  return out;
}

/// Multiplications and additions of an implicit collision step per cell of phase space: values at the nodes of
/// configuration space before and after, and at each node, for a line of M modes in each velocity dimension, two stages
/// with three products of M x M matrices and a combination of M values. Factorizations are shared by all lines of a
/// node.
double collision_flops(const BasisInfo& basis) {
  std::set<std::vector<int>> groups;
  for (const auto& e : basis.exponents) groups.emplace(e.begin() + basis.cdim, e.end());
  const double nodes = std::pow(basis.order + 1, basis.cdim);
  double of_node = 6.0 * basis.modes;
  for (int d = 0; d < basis.vdim; ++d)
    for (auto e : groups) {
      if (e[d] != 0) continue;
      int modes = 0;
      for (int n = 0; n < 3; ++n) modes += static_cast<int>(groups.count((e[d] = n, e)));
      of_node += 2.0 * 2.0 * 3.0 * modes * modes + 3.0 * modes;
    }
  return nodes * of_node;
}

/// Multiplications and additions per second of one core.
double arithmetic_limit() {
  using P = Pack<double, native_width<double>>;
  const P y(0.999999), z(1e-7);
  P a(0.1), b(0.2), c(0.3), d(0.4), e(0.5), f(0.6), g(0.7), h(0.8), i(0.9),
      j(1.0);  // enough chains to hide the latency
  double best = 1e300;
  constexpr int turns = 200000;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double start = core_seconds();
    for (int k = 0; k < turns; ++k) {
      a = fma(a, y, z);
      b = fma(b, y, z);
      c = fma(c, y, z);
      d = fma(d, y, z);
      e = fma(e, y, z);
      f = fma(f, y, z);
      g = fma(g, y, z);
      h = fma(h, y, z);
      i = fma(i, y, z);
      j = fma(j, y, z);
    }
    best = std::min(best, core_seconds() - start);
  }
  const double kept = sum(a + b + c + d + e + f + g + h + i + j);  // keeps the work from being optimised away
  return (kept < 1e300 ? 2.0 : 0.0) * 10 * P::width * turns / best;
}

/// Bytes per second of a[i] = b[i] + 0.5 c[i] on arrays that no cache holds, without write allocation.
double memory_limit() {
  const int n = 8 << 20;
  Kokkos::View<double*, MemSpace> a("bench: a", n), b("bench: b", n), c("bench: c", n);
  double best = 1e300;
  for (int repeat = 0; repeat < 4; ++repeat) {
    const double start = core_seconds();
    Kokkos::parallel_for(
        "bench: triad", Range(0, n), KOKKOS_LAMBDA(int i) { a(i) = b(i) + 0.5 * c(i); });
    Kokkos::fence();
    best = std::min(best, core_seconds() - start);
  }
  return 3.0 * sizeof(double) * n / best;
}

}  // namespace

static Json measure_kinetic(const BenchOptions& options, Context& context) {
  const double seconds = options.number("seconds");
  const bool full = options.integer("size") != 0;
  const std::string only = options.text("only");
  const int ranks = context.comm.size();
  const double peak = arithmetic_limit() * ranks, memory = memory_limit() * ranks;
  Json out;
  out["ranks"] = ranks;
  out["gflops_limit"] = 1e-9 * peak;
  out["memory_limit_gb_per_s"] = 1e-9 * memory;
  double worst_particles = 0.0, worst_energy = 0.0, single = 0.0;
  for (const auto& c : cases(full)) {
    const std::string name = c.name;
    if (only != "all" && only != name) continue;
    const Timed t = time_case(c, Precision::float64, seconds, context);
    const int modes =
        find_built(static_cast<int>(c.cells.size()), static_cast<int>(c.velocity_cells.size()), c.basis.order, false)
            .info.modes;
    out["m_cell_steps_" + name] = 1e-6 * t.rate;
    out["core_m_cell_steps_" + name] = 1e-6 * t.core_rate;
    out["m_dof_steps_" + name] = 1e-6 * t.rate * modes;
    out["arithmetic_share_" + name] = t.core_rate * t.flops / peak;
    out["memory_share_" + name] = t.core_rate * t.bytes / memory;
    worst_particles = std::max(worst_particles, std::abs(t.particles));
    worst_energy = std::max(worst_energy, std::abs(t.energy));
    if (name == "1x2v_p2" || name == "2x2v_p2") {
      Case colliding = c;
      colliding.collisions = "1";
      const Timed lbo = time_case(colliding, Precision::float64, seconds, context);
      const double flops = collision_flops(find_built(static_cast<int>(c.cells.size()), 2, 2, false).info);
      out["lbo_step_over_collisionless_" + name] = t.rate / lbo.rate;
      out["core_lbo_step_over_collisionless_" + name] = t.core_rate / lbo.core_rate;
      out["lbo_flops_over_collisionless_" + name] = (t.flops + flops) / t.flops;
      worst_particles = std::max(worst_particles, std::abs(lbo.particles));
      context.log.info(
          fmt::format("{}: a step with implicit collisions takes {:.2f} times one without", name, t.rate / lbo.rate));
    }
    if (name == "2x2v_p2") {
      const Timed f = time_case(c, Precision::float32, seconds, context);
      out["float32_m_cell_steps_2x2v_p2"] = 1e-6 * f.rate;
      out["float32_ratio_2x2v_p2"] = f.rate / t.rate;
      out["core_float32_ratio_2x2v_p2"] = f.core_rate / t.core_rate;
      single = std::abs(f.particles);
    }
    context.log.info(
        fmt::format("{}: {:.3g} M cell-steps/s, {:.0f} % of the arithmetic and {:.0f} % of the memory limit", name,
                    1e-6 * t.rate, 100.0 * t.core_rate * t.flops / peak, 100.0 * t.core_rate * t.bytes / memory));
  }
  out["check"] = fmt::format("{}: particles changed by {:.1e} (float32 {:.1e}), energy by {:.1e}",
                             worst_particles < 1e-12 && single < 1e-5 && worst_energy < 1e-4 ? "ok" : "WRONG",
                             worst_particles, single, worst_energy);
  return out;
}

Bench bench_kinetic() {
  std::vector<std::string> names{"all"};
  for (const auto& c : cases(true)) names.push_back(c.name);
  return {"kinetic",
          "full Vlasov-Maxwell steps of several configurations",
          measure_kinetic,
          {{"only", "which configuration", "all", names},
           {"seconds", "for each configuration", 2.0},
           {"size", "1: as quoted; 0: fewer and smaller ones, for tests", 1}},
          {"seconds=0.3"}};
}

}  // namespace cambium::kinetic
