#include "bench/deepmd/bench_deepmd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/timing.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/packed_gemm.hpp"
#include "core/parallel/random.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/model/random_model.hpp"

namespace cambium::deepmd {

using Json = nlohmann::json;
using Position = std::array<double, 3>;

namespace {

/// Fastest of repeated calls, in seconds.
template <class F>
double fastest(double least_seconds, const F& call) {
  double best = 1e300, spent = 0.0;
  call();
  for (int k = 0; k < 3 || (spent < least_seconds && k < 1000); ++k) {
    Kokkos::fence();
    const double start = wall_seconds();
    call();
    Kokkos::fence();
    const double seconds = wall_seconds() - start;
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

/// Rate of a square matrix product that is large enough for any blocking, or for all parts of a device, flop/s.
template <class T>
double gemm_peak() {
  constexpr int n = device_is_host ? 768 : 8192;
  Kokkos::View<T*, MemSpace> a("bench: a", n * n), b("bench: b", n * n), c("bench: c", n * n);
  Kokkos::deep_copy(a, T(1));
  Kokkos::deep_copy(b, T(1));
  const double seconds = fastest(0.3, [&] { gemm<T>(false, n, n, n, a.data(), n, b.data(), n, T(0), c.data(), n); });
  return 2.0 * n * n * n / seconds;
}

/// How much faster a packed matrix multiplies than BLAS in the shape of the first fitting layer, 128 atoms at a time.
template <class T>
double packed_ratio() {
  constexpr int m = 128, k = 1480, n = 240;
  Kokkos::View<T*, MemSpace> a("bench: a", m * k), b("bench: b", k * n), c("bench: c", m * n);
  Kokkos::deep_copy(a, T(1));
  Kokkos::deep_copy(b, T(1));
  const std::vector<T> ones(static_cast<std::size_t>(k) * n, T(1));
  const PackedMatrix<T> packed(false, k, n, ones.data(), n);
  const double blas = fastest(0.2, [&] { gemm<T>(false, m, n, k, a.data(), k, b.data(), n, T(0), c.data(), n); });
  return blas / fastest(0.2, [&] { packed.multiply(m, a.data(), k, false, c.data(), n); });
}

struct Water {
  std::vector<Position> x;
  std::vector<int> types;
  Box box;
};

/// Directions of a molecule's two O-H bonds, 104.5 degrees apart and turned at random.
std::array<Position, 2> bond_directions(const Random4& random) {
  const double z = 2.0 * random.uniform(0) - 1.0, phi = 6.283185307179586 * random.uniform(1);
  const double q = std::sqrt(1.0 - z * z), twist = 6.283185307179586 * random.uniform(2);
  const Position u = {q * std::cos(phi), q * std::sin(phi), z};
  const Position e1 = {-std::sin(phi), std::cos(phi), 0.0};  // perpendicular to u, as is e2 = u x e1
  const Position e2 = {-z * std::cos(phi), -z * std::sin(phi), q};
  const double angle = 1.8238691;
  Position v;
  for (std::size_t k = 0; k < 3; ++k)
    v[k] = std::cos(angle) * u[k] + std::sin(angle) * (std::cos(twist) * e1[k] + std::sin(twist) * e2[k]);
  return {u, v};
}

/// n^3 molecules at 33.4 per nm^3: oxygens on a jittered cubic lattice, hydrogens at 0.96 and 1.0 Å.
Water water(int n) {
  const double edge = std::cbrt(1000.0 / 33.4);
  Water w;
  w.box = Box::orthogonal(n * edge, n * edge, n * edge);
  std::uint64_t id = 0;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      for (int c = 0; c < n; ++c, ++id) {
        const Random4 jitter(1, Stream::lattice_noise, id, 0);
        const Position o = {(a + 0.1 * jitter.uniform(0)) * edge, (b + 0.1 * jitter.uniform(1)) * edge,
                            (c + 0.1 * jitter.uniform(2)) * edge};
        w.x.push_back(o);
        w.types.push_back(0);
        double length = 0.96;
        for (const Position& bond : bond_directions(Random4(1, Stream::lattice_noise, id, 1))) {
          w.x.push_back({o[0] + length * bond[0], o[1] + length * bond[1], o[2] + length * bond[2]});
          w.types.push_back(1);
          length += 0.04;
        }
      }
  return w;
}

struct Timed {
  double us = 0.0;
  std::size_t bytes = 0;
  std::vector<double> force;
};

Timed time_engine(Engine& engine, const ImageSystem& system, double seconds) {
  View<int*> types("bench: types", 2);
  auto host = Kokkos::create_mirror_view(types);
  host(0) = 0;
  host(1) = 1;
  Kokkos::deep_copy(types, host);
  EngineOutput out;
  out.f = View<double* [3]>("bench: forces", static_cast<std::size_t>(system.particles().total()));
  const EngineInput input{system.particles(), system.list(), types, false, {}};
  Timed result;
  result.us = 1e6 * fastest(seconds, [&] { engine.compute(input, out); }) / system.particles().nlocal;
  result.bytes = engine.bytes();
  Kokkos::deep_copy(out.f, 0.0);
  engine.compute(input, out);
  auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  result.force.assign(f.data(), f.data() + f.size());
  return result;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  return worst;
}

struct Settings {
  double tolerance, skin, seconds;
  double peak64, peak32;  ///< flop/s
};

/// One engine on one system.
Timed run(const DeepPotentialModel& model, const ImageSystem& system, EnginePrecision precision, bool compress,
          const Settings& settings) {
  EngineOptions options;
  options.precision = precision;
  options.compress_tolerance = compress ? settings.tolerance : 0.0;
  auto engine = make_engine(model, options);
  return time_engine(*engine, system, settings.seconds);
}

/// Operations of the fitting networks per atom of water.
double fitting_flops(const DeepPotentialModel& model) {
  const auto engine = make_engine(model, {});
  return (engine->fitting_flops(0) + 2.0 * engine->fitting_flops(1)) / 3.0;
}

struct SizeResult {
  std::size_t atoms = 0;
  Json figures;                                 ///< of this size, by key
  double table_error = 0.0, mixed_error = 0.0;  ///< largest force differences over the largest force
};

SizeResult bench_size(int n, const DeepPotentialModel& model, const Settings& settings) {
  const Water w = water(n);
  const std::vector<Species> species = {{"O", 15.999}, {"H", 1.008}};
  const ImageSystem system(w.x, w.types, w.box, species, model.rcut, settings.skin);
  const Timed exact = run(model, system, EnginePrecision::float64, false, settings);
  const Timed mixed = run(model, system, EnginePrecision::mixed, false, settings);
  const Timed table = run(model, system, EnginePrecision::float64, true, settings);
  const Timed mixed_table = run(model, system, EnginePrecision::mixed, true, settings);
  const double flops = fitting_flops(model);
  double scale = 0.0;
  for (double f : exact.force) scale = std::max(scale, std::abs(f));
  SizeResult out;
  out.atoms = w.x.size();
  out.table_error = largest_difference(table.force, exact.force) / scale;
  out.mixed_error =
      std::max(largest_difference(mixed.force, exact.force), largest_difference(mixed_table.force, exact.force)) /
      scale;
  out.figures = {{"float64_compressed_us", table.us},
                 {"mixed_compressed_us", mixed_table.us},
                 {"float64_us", exact.us},
                 {"mixed_us", mixed.us},
                 {"bytes_per_atom", static_cast<double>(table.bytes) / static_cast<double>(w.x.size())},
                 {"gemm_share", flops / (1e-6 * table.us) / settings.peak64},
                 {"mixed_gemm_share", flops / (1e-6 * mixed_table.us) / settings.peak32}};
  return out;
}

}  // namespace

static Json measure_deepmd(const BenchOptions& options, Context& context) {
  const DeepPotentialModel model = random_model({});
  const Settings settings{options.number("tolerance"), options.number("skin"), options.number("seconds"),
                          gemm_peak<double>(), gemm_peak<float>()};
  std::vector<int> sizes = {8, 16};
  if (const int given = options.integer("molecules"); given > 0) sizes = {given};
  Json out;
  double table_error = 0.0, mixed_error = 0.0;
  for (int n : sizes) {
    const SizeResult result = bench_size(n, model, settings);
    table_error = std::max(table_error, result.table_error);
    mixed_error = std::max(mixed_error, result.mixed_error);
    for (const auto& [key, value] : result.figures.items()) {
      out[fmt::format("{}_{}", key, result.atoms)] = value;
      const bool share = key.find("share") != std::string::npos;
      const double now = value.get<double>(), before = out.value(key, now);
      out[key] = share ? std::min(before, now) : std::max(before, now);
    }
    context.log.info(fmt::format("{} atoms: {:.1f} us compressed, {:.1f} us mixed and compressed", result.atoms,
                                 result.figures["float64_compressed_us"].get<double>(),
                                 result.figures["mixed_compressed_us"].get<double>()));
  }
  out["gemm_peak_gflops"] = 1e-9 * settings.peak64;
  out["mixed_gemm_peak_gflops"] = 1e-9 * settings.peak32;
  out["packed_ratio"] = packed_ratio<double>();
  out["mixed_packed_ratio"] = packed_ratio<float>();
  const bool ok = table_error < 10.0 * settings.tolerance && mixed_error < 1e-5;
  out["check"] = fmt::format(
      "{}: forces differ from the float64 networks' by {:.1e} (compressed) and {:.1e} (mixed) of the largest force",
      ok ? "ok" : "WRONG", table_error, mixed_error);
  return out;
}

Bench bench_deepmd() {
  return {"deepmd",
          "a Deep Potential of the water example's size: float64, mixed, compressed",
          measure_deepmd,
          {{"molecules", "molecules along an edge; 0: 8, then 16", 0},
           {"tolerance", "of the compression", 1e-8},
           {"skin", "of the neighbour list, Å", 2.0},
           {"seconds", "at least, for each engine and size", 1.0}},
          {"molecules=8", "seconds=0.3"}};
}

}  // namespace cambium::deepmd
