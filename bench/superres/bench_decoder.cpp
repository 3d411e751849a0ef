#include "bench/superres/bench_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "plugins/superres/networks/decode.hpp"
#include "plugins/superres/networks/nested_decoder.hpp"
#include "plugins/superres/networks/unet.hpp"

namespace cambium::superres {
namespace {

/// One crop of the published network.
struct PublishedStep {
  DecoderShape shape;
  JetBasis basis{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 2, 0}, {0, 0, 2}}};
  LatentCells cells;
  std::shared_ptr<Unet> encoder;
  torch::Tensor coarse, points, truth;
  std::vector<torch::Tensor> weights;
  Decode<float> decode{Decoder<float>(shape, basis)};
  std::shared_ptr<const DecoderQuery<float>> query;
  Blend blend;

  PublishedStep(std::int64_t count, Blend b) : blend(b) {
    torch::manual_seed(1);
    const std::int64_t size[3] = {4, 16, 16};
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < size[a]; ++k)
        cells.axis[a].push_back(static_cast<double>(k) / static_cast<double>(size[a] - 1));
    UnetShape unet;
    unet.grid = {4, 16, 16};
    encoder = std::make_shared<Unet>(unet);
    coarse = torch::randn({1, 4, 4, 16, 16});
    points = torch::rand({count, 3}).requires_grad_(true);
    truth = torch::randn({count, 4});
    for (int l = 0; l < shape.layers(); ++l) {
      weights.push_back(
          (torch::randn({shape.width(l), shape.columns(l)}) * std::sqrt(1.0 / shape.columns(l))).requires_grad_(true));
      weights.push_back(torch::zeros({shape.width(l)}).requires_grad_(true));
    }
    const auto places = points.detach().to(torch::kFloat64);
    query = std::make_shared<const DecoderQuery<float>>(
        locate<float>(cells, places.data_ptr<double>(), count, blend, basis));
  }

  torch::Tensor latents() { return encoder->forward(coarse).permute({0, 2, 3, 4, 1}).reshape({-1, shape.latent}); }

  /// d(f): stream of field p, b, u, w as (points).
  torch::Tensor residual(const torch::Tensor& jets) const {
    const double diffusivity = 1e-3;
    auto d = [&](MultiIndex order, int f) { return jets[basis.find(order)].select(1, f); };
    auto advected = [&](int f) {
      return d({1, 0, 0}, f) + d({}, 2) * d({0, 1, 0}, f) + d({}, 3) * d({0, 0, 1}, f) -
             diffusivity * (d({0, 2, 0}, f) + d({0, 0, 2}, f));
    };
    return (advected(1).abs() + (advected(2) + d({0, 1, 0}, 0)).abs() +
            (advected(3) + d({0, 0, 1}, 0) - d({}, 1)).abs() + (d({0, 1, 0}, 2) + d({0, 0, 1}, 3)).abs())
        .mean();
  }

  /// A complete step including gradients; returns the residual.
  double step(bool by_jets) {
    const auto jets =
        by_jets ? decode(query, latents(), weights)
                : nested::nested_jets(basis, nested::decoded(shape, cells, blend, points, latents(), weights), points);
    const auto left = residual(jets), loss = (jets[0] - truth).abs().mean() + 0.0125 * left;
    std::vector<torch::Tensor> inputs = encoder->parameters();
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    torch::autograd::grad({loss}, inputs, {}, false, false, true);
    return left.item<double>();
  }
};

/// Keeps the minimum CPU time of `f`, which other processes disturb less than wall time.
template <class F>
void keep_least(double& best, F&& f) {
  const std::clock_t start = std::clock();
  f();
  best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}

}  // namespace

static nlohmann::json measure_decoder(const BenchOptions& options, Context& context) {
  torch::set_num_threads(1);
  const int repeat = options.integer("repeat");
  const std::int64_t count = options.integer("points");
  PublishedStep step(count, Blend::c2);
  const auto& decoder = step.decode.decoder();
  const auto latents = step.latents().detach().contiguous();
  std::vector<const float*> weights;
  for (const auto& w : step.weights) weights.push_back(w.data_ptr<float>());
  std::vector<float> out(static_cast<std::size_t>(step.basis.size()) * count * 4);
  const Decoder<float> value_only(step.shape, JetBasis({}));
  const auto places = step.points.detach().to(torch::kFloat64);
  const auto value_query = locate<float>(step.cells, places.data_ptr<double>(), count, step.blend, value_only.basis());
  const float* z = latents.data_ptr<float>();
  double jets = 1e300, products = 1e300, value = 1e300;
  for (int k = 0; k < repeat; ++k) {  // in turn, so that all see the same machine
    keep_least(products, [&] { decoder.products_only(*step.query, weights); });
    keep_least(jets, [&] { decoder.forward(*step.query, z, weights, nullptr, out.data(), nullptr); });
    keep_least(value, [&] { value_only.forward(value_query, z, weights, nullptr, out.data(), nullptr); });
  }
  double with_jets = 1e300, with_nested = 1e300, loss_jets = 0.0, loss_nested = 0.0;
  for (int k = 0; k < repeat; ++k) {
    keep_least(with_jets, [&] { loss_jets = step.step(true); });
    keep_least(with_nested, [&] { loss_nested = step.step(false); });
  }
  const double flop =
      2.0 * 8.0 * static_cast<double>(count) * static_cast<double>(step.shape.multiplications(step.basis.size()));
  const double apart = std::fabs(loss_jets - loss_nested) / std::fabs(loss_nested);
  const bool good = apart < 1e-4;
  nlohmann::json result;
  result["times_are"] = "least processor time";
  result["streams"] = step.basis.size();
  result["gflop"] = flop / 1e9;
  result["gflop_of_the_value_alone"] =
      2.0 * 8.0 * static_cast<double>(count) * static_cast<double>(step.shape.multiplications(1)) / 1e9;
  result["seconds_of_products"] = products;
  result["seconds_with_jets"] = jets;
  result["seconds_of_the_value"] = value;
  result["over_flop_floor"] = jets / products;
  result["over_value_times_flops"] =
      jets / value * step.shape.multiplications(1) / step.shape.multiplications(step.basis.size());
  result["step_seconds_jets"] = with_jets;
  result["step_seconds_nested"] = with_nested;
  result["step_speedup"] = with_nested / with_jets;
  result["check"] = fmt::format("{}residuals of both ways differ by {:.1e}", good ? "ok: " : "WRONG: ", apart);
  context.log.info(
      fmt::format("{} points, {} streams, {:.2f} Gflop: products alone {:.4f} s, decoder {:.4f} s ({:.3f} times), "
                  "value alone {:.4f} s",
                  count, step.basis.size(), flop / 1e9, products, jets, jets / products, value));
  context.log.info(fmt::format("training step: {:.4f} s by jets, {:.4f} s by nested differentiation, {:.2f} times",
                               with_jets, with_nested, with_nested / with_jets));
  return result;
}

Bench bench_decoder() {
  return {"meshfree_flow_net",
          "decoder with derivatives against its products, and a training step against nested differentiation",
          measure_decoder,
          {{"points", "of a sample; the graphs of nested differentiation take much memory", 128},
           {"repeat", "timings, of which the fastest counts", 5}}};
}

}  // namespace cambium::superres
