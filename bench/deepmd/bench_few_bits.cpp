#include "bench/deepmd/bench_few_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/timing.hpp"
#include "core/parallel/random.hpp"
#include "plugins/deepmd/engine/few_bits.hpp"
#include "plugins/deepmd/model/fitting_net.hpp"

namespace cambium::deepmd {

using Json = nlohmann::json;

namespace {

/// Three hidden tanh layers, the second and third of which add their input, as a model's energy network.
Network random_network(int inputs, int width) {
  Network net;
  const int sizes[] = {inputs, width, width, width, 1};
  for (std::uint64_t k = 0; k < 4; ++k) {
    Layer layer;
    layer.in = sizes[k];
    layer.out = sizes[k + 1];
    const double deviation = 1.0 / std::sqrt(layer.in + layer.out);
    for (std::uint64_t at = 0; at < static_cast<std::uint64_t>(layer.in) * static_cast<std::uint64_t>(layer.out); ++at)
      layer.w.push_back(deviation * Random4(7, Stream::test, at, k).normal(0));
    layer.b.assign(layer.out, 0.1);
    layer.activation = Activation::from_name(k < 3 ? "tanh" : "linear");
    layer.residual = k < 3;
    net.layers.push_back(std::move(layer));
  }
  return net;
}

/// Rows of inputs, and the output of a network for them.
struct Rows {
  int atoms;
  Matrix<float> x, gradient;
  View<double*> energy;
  FittingWorkspace<float> work;

  Rows(int atoms_, int inputs) : atoms(atoms_), energy("bench: energy", static_cast<std::size_t>(atoms_)) {
    reserve(x, "bench: x", atoms, inputs);
    reserve(gradient, "bench: gradient", atoms, inputs);
    auto host = Kokkos::create_mirror_view(x);
    for (int row = 0; row < atoms; ++row)
      for (int c = 0; c < inputs; ++c)
        host(row, c) =
            static_cast<float>(Random4(8, Stream::test, static_cast<std::uint64_t>(row * inputs + c), 0).normal(0));
    Kokkos::deep_copy(x, host);
  }
  void evaluate(const FittingNet<float>& net) { net.evaluate(atoms, x, work, energy, gradient); }
  std::vector<float> result(const FittingNet<float>& net) {
    evaluate(net);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient);
    std::vector<float> out;
    for (int row = 0; row < atoms; ++row)
      for (int c = 0; c < net.in(); ++c) out.push_back(host(row, c));
    return out;
  }
};

/// Least seconds of a call of each, by turns.
std::array<double, 2> least_seconds(double seconds, const FittingNet<float>& a, const FittingNet<float>& b,
                                    Rows& rows) {
  std::array<double, 2> best{1e300, 1e300};
  const int calls = std::max(1, 256 / rows.atoms);
  const double start = wall_seconds();
  for (int turn = 0; turn < 5 || wall_seconds() - start < seconds; ++turn)
    for (std::size_t which = 0; which < 2; ++which) {
      const double begin = wall_seconds();
      for (int k = 0; k < calls; ++k) rows.evaluate(which == 0 ? a : b);
      Kokkos::fence();
      best[which] = std::min(best[which], (wall_seconds() - begin) / calls);
    }
  return best;
}

double largest_relative(const std::vector<float>& found, const std::vector<float>& expected) {
  double worst = 0.0, scale = 1e-30;
  for (std::size_t k = 0; k < found.size(); ++k) {
    worst = std::max(worst, std::abs(static_cast<double>(found[k]) - static_cast<double>(expected[k])));
    scale = std::max(scale, std::abs(static_cast<double>(expected[k])));
  }
  return worst / scale;
}

/// Figures of one width; returns the largest error.
double bench_width(int inputs, int width, double seconds, Json& out, Context& context) {
  const Network net = random_network(inputs, width);
  const FittingNet<float> full(net);
  out[fmt::format("kB_{}", width)] = 1e-3 * static_cast<double>(full.bytes());
  double worst = 0.0;
  for (int bits = 1; bits <= 4; ++bits) {
    const CodedNetwork coded = coded_network(net, {FewBits::Weights::binary, bits, FewBits::Products::tables, {}}, {});
    const FittingNet<float> tables(net, coded.coded), meant(coded.meant);
    out[fmt::format("kB_{}_{}", width, bits)] = 1e-3 * static_cast<double>(tables.bytes());
    for (const int atoms : {1, 8, 64, 128}) {
      Rows rows(atoms, inputs);
      worst = std::max(worst, largest_relative(rows.result(tables), rows.result(meant)));
      const auto [ours, theirs] = least_seconds(seconds, tables, full, rows);
      out[fmt::format("speedup_{}_{}_{}", width, atoms, bits)] = theirs / ours;
      out[fmt::format("full_us_{}_{}", width, atoms)] = 1e6 * theirs;
      context.log.info(fmt::format("width {}, {} atoms, {} bits: {:.1f} us by tables, {:.1f} in full", width, atoms,
                                   bits, 1e6 * ours, 1e6 * theirs));
    }
  }
  return worst;
}

}  // namespace

static Json measure_few_bits(const BenchOptions& options, Context& context) {
  if (!device_is_host) return {{"check", "ok: nothing to measure, tables are multiplied by processors only"}};
  const double seconds = options.number("seconds");
  Json out;
  const double worst =
      std::max(bench_width(755, 120, seconds, out, context), bench_width(1480, 240, seconds, out, context));
  out["check"] =
      fmt::format("{}: gradients by tables differ from those of the decoded weights by {:.1e} of the largest",
                  worst < 1e-4 ? "ok" : "WRONG", worst);
  return out;
}

Bench bench_few_bits() {
  return {"few_bits",
          "energy networks by tables of few bits, beside the same in float32",
          measure_few_bits,
          {{"seconds", "at least, for each comparison", 0.2}},
          {"seconds=0.05"}};
}

}  // namespace cambium::deepmd
