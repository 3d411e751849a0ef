// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/datasets/images.hpp"
#include "plugins/pretrain/tasks/embed.hpp"
#include "plugins/pretrain/tasks/neighbours.hpp"
#include "plugins/pretrain/tasks/novelty.hpp"
#include "plugins/pretrain/tasks/probe.hpp"
#include "plugins/pretrain/tasks/retrieve.hpp"
#include "plugins/pretrain/tasks/surrogate.hpp"

namespace cambium::pretrain {

void register_types(Registry& registry) {
  registry.add<FieldArchive>("field_archive", "moments of many simulations, with later moments as partners, or made up")
      .synonyms({"archive", "fields", "frames", "frame_pairs", "snapshots"});
  registry.add<Images>("images", "pictures with labels, whole or cut into halves, from HDF5 or made up")
      .synonyms({"pictures", "digits", "mnist", "image_pairs"});
  registry.add<Embed>("embed", "an archive of fields as vectors").synonyms({"encode", "vectors", "embedding"});
  registry
      .add<Neighbours>("neighbours",
                       "the fields of an archive that look most like a field, beside cheap ways to compare")
      .synonyms({"similar", "nearest"});
  registry.add<Retrieve>("retrieve", "entries of an archive that are like given fields, or belong to given parameters")
      .synonyms({"retrieval", "look_up", "find", "index"});
  registry.add<Probe>("probe", "how far labels carry: neighbours and linear fits on vectors, beside pixels")
      .synonyms({"linear_probe", "knn", "few_labels"});
  registry.add<Novelty>("novelty", "which runs next: those least like what is known")
      .synonyms({"next_runs", "active_learning", "acquisition"});
  registry.add<Surrogate>("surrogate", "what parameters alone tell of runs that were not made")
      .synonyms({"emulator", "gaussian_process", "kernel_fit"});
}

}  // namespace cambium::pretrain
