// Registers everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/datasets/images.hpp"
#include "plugins/pretrain/tasks/embed.hpp"
#include "plugins/pretrain/tasks/neighbours.hpp"
#include "plugins/pretrain/tasks/probe.hpp"
#include "plugins/pretrain/tasks/retrieve.hpp"
#include "plugins/pretrain/tasks/select_runs.hpp"
#include "plugins/pretrain/tasks/surrogate.hpp"

namespace cambium::pretrain {

void register_types(Registry& registry) {
  registry
      .add<FieldArchive>("field_archive", "snapshots of many simulations with positive pairs, from HDF5 or synthetic")
      .synonyms({"archive", "fields", "frames", "frame_pairs", "snapshots"});
  registry.add<Images>("images", "labelled images, also in halves, from HDF5 or synthetic")
      .synonyms({"pictures", "digits", "mnist", "image_pairs"});
  registry.add<Embed>("embed", "an archive of fields as vectors").synonyms({"encode", "vectors", "embedding"});
  registry.add<Neighbours>("neighbours", "similarity search in an archive, compared with simpler representations")
      .synonyms({"similar", "nearest"});
  registry.add<Retrieve>("retrieve", "entries of an archive that are like given fields, or belong to given parameters")
      .synonyms({"retrieval", "look_up", "find", "index"});
  registry.add<Probe>("probe", "few-shot and linear evaluation of vectors, compared with pixels")
      .synonyms({"linear_probe", "knn", "few_labels"});
  registry.add<SelectRuns>("select_runs", "selection of the next runs: those least similar to known ones")
      .synonyms({"next_runs", "active_learning", "acquisition"});
  registry.add<Surrogate>("surrogate", "prediction of new runs from their parameters alone")
      .synonyms({"emulator", "gaussian_process", "kernel_fit"});
  registry.renamed<Task>("novelty", "select_runs");
}

}  // namespace cambium::pretrain
