#include "bench/register.hpp"

#include "bench/core/bench_checkpoints.hpp"
#include "bench/core/bench_codec.hpp"
#include "bench/core/bench_lowp.hpp"
#include "bench/task_bench/bench_task_bench.hpp"
#include "core/plugin/bench.hpp"
#include "core/plugin/registry.hpp"
#ifdef CAMBIUM_BENCH_DEEPMD
#include "bench/deepmd/bench_deepmd.hpp"
#include "bench/deepmd/bench_few_bits.hpp"
#include "bench/deepmd/bench_train.hpp"
#endif
#ifdef CAMBIUM_BENCH_GRAPH
#include "bench/graph/bench_graph.hpp"
#include "bench/graph/graph_epoch.hpp"
#endif
#ifdef CAMBIUM_BENCH_KINETIC
#include "bench/kinetic/bench_kinetic.hpp"
#endif
#ifdef CAMBIUM_BENCH_MD
#include "bench/md/bench_md.hpp"
#include "bench/md/bench_pair.hpp"
#endif
#ifdef CAMBIUM_BENCH_PODLSTM
#include "bench/podlstm/bench_search.hpp"
#endif
#ifdef CAMBIUM_BENCH_PRETRAIN
#include "bench/pretrain/bench_pretrain.hpp"
#endif
#ifdef CAMBIUM_BENCH_RELATE
#include "bench/relate/bench_relate.hpp"
#endif
#ifdef CAMBIUM_BENCH_SUBMATRIX
#include "bench/submatrix/bench_submatrix.hpp"
#include "bench/submatrix/ring.hpp"
#include "bench/submatrix/scaling.hpp"
#endif
#ifdef CAMBIUM_BENCH_SUPERRES
#include "bench/superres/bench_rayleigh_benard.hpp"
#endif
#ifdef CAMBIUM_BENCH_SEQUENCE
#include "bench/sequence/bench_attention.hpp"
#endif

namespace cambium {

void register_benches(Registry& registry) {
  const std::string plugin = registry.plugin();
  registry.set_plugin("core");
  for (auto* bench : {bench_lowp, bench_codec, bench_checkpoints, bench_task_bench}) registry.add_bench(bench());
#ifdef CAMBIUM_BENCH_DEEPMD
  registry.set_plugin("deepmd");
  registry.add_bench(deepmd::bench_deepmd());
  registry.add_bench(deepmd::bench_few_bits());
  registry.add_bench(deepmd::bench_train());
#endif
#ifdef CAMBIUM_BENCH_GRAPH
  registry.set_plugin("graph");
  registry.add_bench(graph::bench_graph());
  registry.add_bench(graph::bench_graph_epoch());
#endif
#ifdef CAMBIUM_BENCH_KINETIC
  registry.set_plugin("kinetic");
  registry.add_bench(kinetic::bench_kinetic());
#endif
#ifdef CAMBIUM_BENCH_MD
  registry.set_plugin("md");
  registry.add_bench(md::bench_md());
  registry.add_bench(md::bench_pair());
#endif
#ifdef CAMBIUM_BENCH_PODLSTM
  registry.set_plugin("podlstm");
  registry.add_bench(podlstm::bench_search());
#endif
#ifdef CAMBIUM_BENCH_PRETRAIN
  registry.set_plugin("pretrain");
  registry.add_bench(pretrain::bench_pretrain());
#endif
#ifdef CAMBIUM_BENCH_RELATE
  registry.set_plugin("relate");
  registry.add_bench(relate::bench_relate());
#endif
#ifdef CAMBIUM_BENCH_SUBMATRIX
  registry.set_plugin("submatrix");
  registry.add_bench(submatrix::bench_submatrix());
  registry.add_bench(submatrix::bench_scaling());
  registry.add_bench(submatrix::bench_precision());
  registry.add_bench(submatrix::bench_ring());
#endif
#ifdef CAMBIUM_BENCH_SUPERRES
  registry.set_plugin("superres");
  registry.add_bench(superres::bench_rayleigh_benard());
  registry.add_bench(superres::bench_rayleigh_benard_3d());
#endif
#ifdef CAMBIUM_BENCH_SEQUENCE
  registry.set_plugin("sequence");
  registry.add_bench(train::bench_attention());
#endif
#ifdef CAMBIUM_BENCHES_TORCH
  registry.add_later({"superres", CAMBIUM_BENCHES_TORCH, "register_cambium_benches_torch", {}});
#endif
  registry.set_plugin(plugin);
}

}  // namespace cambium
