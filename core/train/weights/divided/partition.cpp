#include "core/train/weights/divided/partition.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"

namespace cambium::train {

using Preset = ParallelParams::Preset;

static const std::initializer_list<std::pair<const char*, Preset>> presets = {
    {"ddp", Preset::ddp},       {"zero1", Preset::zero1}, {"zero2", Preset::zero2},      {"zero3", Preset::zero3},
    {"hybrid", Preset::hybrid}, {"hpz", Preset::hpz},     {"frontier", Preset::frontier}};

static const std::initializer_list<std::pair<const char*, lowp::WireCodec>> wire_codecs = {
    {"none", lowp::WireCodec::none},
    {"bf16", lowp::WireCodec::bf16},
    {"int8", lowp::WireCodec::int8},
    {"int4", lowp::WireCodec::int4},
    {"mxfp8_e4m3", lowp::WireCodec::mxfp8_e4m3},
    {"mxfp8_e5m2", lowp::WireCodec::mxfp8_e5m2},
    {"mxfp4", lowp::WireCodec::mxfp4}};

void ParallelParams::Level::describe(deck::Describe<Level>& d) {
  d("name", &Level::name, "name of the level, used in reports and in the keys below");
  d("size", &Level::size, "number of ranks in this level; the last level may omit it and takes the rest").at_least(1);
  d("codec", &Level::codec, "codec of gradients between the ranks of this level; default: reduce.codec")
      .options(wire_codecs);
}

void ParallelParams::describe(deck::Describe<ParallelParams>& d) {
  d("preset", &ParallelParams::preset,
    "preset: ddp, everything replicated; zero1, zero2, zero3: optimizer states, then gradients, then weights sharded "
    "over all ranks; hybrid: all sharded within the first level; hpz: weights within the first level, the rest over "
    "all ranks; frontier: weights, gradients, states over one, two, three levels")
      .options(presets);
  d("levels", &ParallelParams::levels, "groups of ranks, the innermost first; one level 'world' by default").def({});
  d("weights", &ParallelParams::weights,
    "level over which weights are sharded, instead of a preset; default: replicated")
      .def("");
  d("gradients", &ParallelParams::gradients, "level over which gradients are sharded; default: replicated").def("");
  d("optimizer_states", &ParallelParams::states, "level over which optimizer states are sharded; default: replicated")
      .formerly("states")
      .def("");
  d("update_codec", &ParallelParams::update,
    "codec of updated weights after each step: difference sends the change from the values all ranks hold in 4 bits "
    "and carries the rounding error to the next step; bf16, int8 and int4 send the weights themselves")
      .formerly("update")
      .options({{"none", WeightCodec::none},
                {"bf16", WeightCodec::bf16},
                {"int8", WeightCodec::int8},
                {"int4", WeightCodec::int4},
                {"difference", WeightCodec::difference}})
      .def(WeightCodec::none);
  d("weight_codec", &ParallelParams::gather, "codec of the all-gather of sharded weights before a module is used")
      .formerly("gather")
      .options({{"none", WeightCodec::none},
                {"bf16", WeightCodec::bf16},
                {"int8", WeightCodec::int8},
                {"int4", WeightCodec::int4}})
      .def(WeightCodec::none);
  d("prefetch", &ParallelParams::prefetch,
    "prefetch: weights of the next module are all-gathered during computation, at the cost of a second buffer")
      .def(true);
  d("persistence_threshold", &ParallelParams::whole_below,
    "size below which weights of a tensor are replicated instead of sharded, in elements")
      .formerly("whole_below")
      .at_least(0)
      .def(1000);
  d("memory_limit", &ParallelParams::limit, "memory limit of a rank during steps; 0 for no limit")
      .formerly("limit")
      .unit("B")
      .non_negative()
      .def(0.0);
  d.check([](const ParallelParams& p) -> std::string {
    const bool own = !p.weights.empty() || !p.gradients.empty() || !p.states.empty();
    if (p.preset && own) return "give one of: preset, or the levels of weights, gradients and optimizer_states";
    if (!p.preset && !own)
      return "divides nothing: give a preset, for example preset: zero1, or the levels of weights, gradients and "
             "optimizer_states";
    return {};
  });
}

std::string name_of(Preset preset) {
  for (const auto& [name, value] : presets)
    if (value == preset) return name;
  return {};
}

static std::vector<Mesh::Level> sized(const ParallelParams& params, int ranks) {
  if (params.levels.empty()) return {{"world", ranks}};
  std::vector<Mesh::Level> out;
  int product = 1;
  std::string text;
  for (std::size_t k = 0; k < params.levels.size(); ++k) {
    const auto& level = params.levels[k];
    const bool last = k + 1 == params.levels.size();
    if (!level.size && !last)
      throw KeyError("train.parallel.levels.size", "parallel.levels",
                     fmt::format("parallel.levels: '{}' has no size; only the last level may omit it", level.name));
    if (!level.size && ranks % product != 0)
      throw KeyError(
          "train.parallel.levels.ranks", "parallel.levels",
          fmt::format("the levels {} need a multiple of {} ranks, but {} run; change the levels or start {} ranks",
                      text, product, ranks, (ranks / product + 1) * product));
    out.push_back({level.name, level.size ? *level.size : ranks / product});
    product *= out.back().ranks;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", level.name, out.back().ranks);
  }
  if (product != ranks)
    throw KeyError("train.parallel.levels.product", "parallel.levels",
                   fmt::format("the levels {} make {} ranks, but {} run; change the levels or start {} ranks", text,
                               product, ranks, product));
  return out;
}

/// Number of levels up to the named one.
static int depth_of(const std::string& what, const std::string& name, const std::vector<Mesh::Level>& levels) {
  if (name.empty()) return 0;
  std::string known;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (levels[k].name == name) return static_cast<int>(k) + 1;
    known += (known.empty() ? "" : ", ") + levels[k].name;
  }
  throw KeyError("train.parallel.level", deck::child_path("parallel", what),
                 fmt::format("parallel.{} names a level '{}'; there are: {}", what, name, known));
}

static void apply(Preset preset, Partition& out) {
  const int all = static_cast<int>(out.levels.size());
  const int needed = preset == Preset::frontier ? 3 : preset == Preset::hybrid || preset == Preset::hpz ? 2 : 1;
  if (all < needed)
    throw KeyError("train.parallel.preset", "parallel.preset",
                   fmt::format("preset {} needs {} levels, but parallel.levels has {}; for example levels: {}",
                               name_of(preset), needed, all,
                               needed == 2 ? "[{name: node, size: 4}, {name: world}]"
                                           : "[{name: pair, size: 2}, {name: node, size: 4}, {name: world}]"));
  switch (preset) {
    case Preset::ddp:
      break;
    case Preset::zero1:
      out.states = all;
      break;
    case Preset::zero2:
      out.gradients = out.states = all;
      break;
    case Preset::zero3:
      out.weights = out.gradients = out.states = all;
      break;
    case Preset::hybrid:
      out.weights = out.gradients = out.states = 1;
      break;
    case Preset::hpz:
      out.weights = 1;
      out.gradients = out.states = all;
      break;
    case Preset::frontier:
      out.weights = 1;
      out.gradients = 2;
      out.states = all;
      break;
  }
}

Partition partition_of(const ParallelParams& params, int ranks, lowp::WireCodec gradients) {
  Partition out;
  out.levels = sized(params, ranks);
  out.whole_below = params.whole_below;
  out.prefetch = params.prefetch;
  out.limit = static_cast<std::int64_t>(params.limit);
  out.codecs = {{}, params.update, params.gather};
  out.codecs.gradients.assign(out.levels.size(), gradients);
  for (std::size_t k = 0; k < params.levels.size(); ++k)
    out.codecs.gradients[k] = params.levels[k].codec.value_or(gradients);
  if (params.preset) {
    apply(*params.preset, out);
    return out;
  }
  out.weights = depth_of("weights", params.weights, out.levels);
  out.gradients = depth_of("gradients", params.gradients, out.levels);
  out.states = depth_of("optimizer_states", params.states, out.levels);
  if (out.weights > out.gradients || out.gradients > out.states)
    throw KeyError("train.parallel.order", "parallel",
                   fmt::format("parallel shards weights over {}, gradients over {} and states over {} levels; each "
                               "must be sharded over no more levels than the next",
                               out.weights, out.gradients, out.states));
  return out;
}

}  // namespace cambium::train
