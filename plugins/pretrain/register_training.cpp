// Everything that a deck can name from this plugin where LibTorch is there.
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/networks/field_encoder.hpp"

namespace cambium::pretrain {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry.add<FieldEncoder>("field_encoder", "fields as vectors, learnt without labels (Torch)")
      .synonyms({"encoder", "two_view", "contrastive", "clip", "simclr", "fastclip"});
}

}  // namespace cambium::pretrain
