// Networks of convection divided among ranks. This file sees no Torch.
#include "core/plugin/registry.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/plugins/superres/flow_case.hpp"
#include "tests/train/weights/divided/divided_network.hpp"

namespace cambium::superres {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::superres::testing;
using namespace cambium::train::testing;

namespace {

struct Made {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Context context{alone, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  std::unique_ptr<train::Network> network;

  Made(const std::string& type, const std::string& keys) {
    registry.set_plugin("superres");
    superres::register_training(registry);
    network = registry.make<train::Network>(type, deck::parse(keys, "test"), context);
    network->restore(state_of({3, 4, 5}, true));
  }
};

}  // namespace

TEST_CASE("a divided U-Net: the same weights, bytes and memory by the formulas") {
  Made made("flow_unet", "{base_channels: 4, levels: 2, ratio: [1, 2, 2]}");
  CHECK(made.network->modules().size() == 7);  // in, down0, down1, mid, up1, out, expand1
  check_stages({*made.network, batch(16), {1.0}}, 3);
}

TEST_CASE("a divided continuous network with equations: the decoder is one module") {
  Made made("meshfree_flow_net",
            "{base_channels: 4, levels: 1, latent_dim: 6, decoder: [12, 8], equations: ['dt(b) + u*dx(b) + w*dz(b) - "
            "0.01*(dxx(b) + dzz(b)) = 0', 'dx(u) + dz(w) = 0'], gamma: 0.3}");
  CHECK(made.network->modules().size() == 5);  // in, down0, mid, out, decoder
  check_stages({*made.network, batch(16), {1.0, 0.3}}, 3);
}
