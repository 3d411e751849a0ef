// Answers refined by equations of the data, whatever equations the network was trained with. This file sees no Torch.
#include "core/train/weights/artifact.hpp"
#include "plugins/superres/datasets/crops.hpp"
#include "tests/plugins/superres/recorded_flow.hpp"

namespace cambium::superres {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

const std::string laws =
    "equations: ['dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0', 'dt(u) + u*dx(u) + w*dz(u) + dx(p) - P*(dxx(u) "
    "+ dzz(u)) = 0', 'dt(w) + u*dx(w) + w*dz(w) + dz(p) - b - P*(dxx(w) + dzz(w)) = 0', 'dx(u) + dz(w) = 0'], "
    "constants: {P: ";

/// A network that no step has trained, which is the interpolation of its samples, with these equations of its own.
std::string untrained(Workshop& shop, const std::string& data, const std::string& name, const std::string& own) {
  const std::string keys =
      "{base_channels: 2, levels: 1, latent_dim: 6, decoder: [16, 16], activation: swish, blend: spline, loss: l2, "
      "gamma: 0" +
      own + "}";
  auto network = shop.registry.make<train::Network>("meshfree_flow_net", deck::parse(keys, "test"), shop.context);
  Crops::Params params;
  params.data = {data};
  params.ratio = {2, 4, 4};
  params.scales = {1.0};
  params.crop = {0, 0, 0};
  params.points = 64;
  params.samples = 4;
  params.frames = 9;
  Crops crops(params, shop.context);
  crops.open(shop.context);
  network->fit_statistics(crops, shop.context);
  const train::FlatLayout layout(network->parameters(), 1'000'000);
  train::FlatBuffer weights(layout, network->dtype());
  network->initialise(weights.views(), 5);
  train::ArtifactInfo info;
  info.type = "meshfree_flow_net";
  info.config = keys;
  info.state = network->state();
  info.fields = train::field_ranges(crops, 4);
  const auto path = shop.scratch.file(name);
  train::write_artifact(path, info, weights, shop.context);
  return path;
}

}  // namespace

TEST_CASE("answers are refined by the equations of the stage, not by those that the model was trained with") {
  Workshop shop;
  register_training(shop.registry);
  Plates run("{rayleigh: 1e5, width: 2, cells: [48, 24], end_time: 17, sample_interval: 0.25, initial: {noise: 0.3}}");
  const auto data = shop.record(run, "layer.h5", 15.0, 17.0, 0.25);
  const auto same = untrained(shop, data, "same.h5", ", " + laws + "0.0031622776}");   // of Ra = 1e5, as the data are
  const auto other = untrained(shop, data, "other.h5", ", " + laws + "0.031622776}");  // of Ra = 1e3
  const auto with = [&](const std::string& models, const std::string& of_data) {
    return shop.reconstruct(
        "{data: " + data + ", rayleigh: 1e5, ratio: [2, 4, 4], frames: 9, methods: [cubic], models: {other: " + other +
        ", same: " + same + "}, refine: {models: " + models + ", steps: 100, points: 512}, " + laws + of_data + "}}");
  };
  const auto s = with("[other, same]", "0.0031622776");  // cubic, other, same, other_refined, same_refined
  for (const auto& [name, values] : s)
    if (name != "seconds") CHECK(values[3] == values[4]);
  CAPTURE(s.at("nmae_dissipation"), s.at("residual_1"), s.at("rel_l2_b"));
  CHECK(s.at("residual_1")[4] < 0.6 * s.at("residual_1")[2]);
  CHECK(s.at("rel_l2_b")[4] < 0.8 * s.at("rel_l2_b")[2]);
  const auto wrong = with("[same]", "0.031622776");  // what the equations of the other model do to these data
  CAPTURE(wrong.at("nmae_dissipation"), wrong.at("rel_l2_b"));
  CHECK(wrong.at("nmae_dissipation")[3] > 1.3 * s.at("nmae_dissipation")[4]);
}
