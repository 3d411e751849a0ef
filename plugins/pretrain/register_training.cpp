// Registers everything in this plugin that requires LibTorch.
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/networks/field_encoder.hpp"
#include "plugins/pretrain/networks/mugs_encoder.hpp"

namespace cambium::pretrain {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry.add<FieldEncoder>("field_encoder", "fields as vectors, learnt without labels (Torch)")
      .synonyms({"encoder", "two_view", "contrastive", "clip", "simclr", "fastclip"});
  registry
      .add<MugsEncoder>("mugs_encoder",
                        "fields as vectors, learnt from views with a teacher, queues and groups (Torch)")
      .synonyms({"mugs", "dino", "moco", "teacher_student"});
}

}  // namespace cambium::pretrain
