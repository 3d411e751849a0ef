#include "core/train/kinds/activations.hpp"

#include "core/base/key_error.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

void ActivationParams::describe(deck::Describe<ActivationParams>& d) {
  d("mode", &ActivationParams::keep,
    "storage of activations for the backward pass: whole (uncompressed), compressed within error bounds, or recomputed "
    "(activation "
    "checkpointing)")
      .formerly("keep")
      .options({{"whole", Keep::whole}, {"compressed", Keep::compressed}, {"recomputed", Keep::recomputed}})
      .def(Keep::compressed);
  d("share", &ActivationParams::share,
    "standard deviation of a gradient's error, as a fraction of the mean absolute gradient of its layer; error bounds "
    "follow from it at every step")
      .positive()
      .def(0.01);
  d("bound", &ActivationParams::bound,
    "one absolute error bound for all activations, instead of bounds by 'share'; 0 for none")
      .non_negative()
      .def(0.0);
}

void Network::use_activations(const ActivationParams&) {
  throw KeyError("train.activations.network", "activations",
                 "this network stores its activations by itself; remove activations, or take a network written with "
                 "Torch (conv_net)");
}

}  // namespace cambium::train
