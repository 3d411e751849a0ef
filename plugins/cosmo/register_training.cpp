// Everything that a deck can name from this plugin where LibTorch is there.
#include "core/plugin/registry.hpp"
#include "plugins/cosmo/networks/cosmoflow.hpp"

namespace cambium::cosmo {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry.add<Cosmoflow>("cosmoflow", "parameters of a cosmology from a box of matter, by 3-D convolutions (Torch)")
      .synonyms({"cnn3d", "conv3d", "convolutional", "cosmology"});
}

}  // namespace cambium::cosmo
