#pragma once
#include <span>

#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// How drawn items stand against the item of a link.
struct LinkLossKeys {
  enum class Type { bpr, softmax };
  enum class Draw { items, links };
  Type type = Type::softmax;
  bool cosine = true;             ///< scores are cosines, not products, of embeddings
  double temperature = 0.1;       ///< by which scores are divided
  std::int64_t negatives = 1024;  ///< of softmax: items drawn for all links of a step
  Draw draw = Draw::items;        ///< with equal probability, or that of the links to train on
  bool skip_known = false;        ///< of softmax: drawn items that the user of a link is linked to do not count
};

/// Some links of one step: link k has the number ids[k] in the data set.
struct LinkBatch {
  std::vector<std::int64_t> ids;
  std::vector<Link> links;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// An item of some link that the user is not linked to, a function of (seed, step, id) alone: the first such one of 100
/// draws with equal probability, or the last draw.
std::int32_t drawn_item(const LinkGraph& graph, std::int32_t user, std::uint64_t seed, std::int64_t step,
                        std::int64_t id);

/// The same of any training, to judge by: not linked in training nor held out.
std::int32_t judged_item(const LinkGraph& graph, std::int32_t user, std::int64_t id);

/// Items that all links of a step share, a function of (seed, step, place).
std::vector<std::int32_t> shared_items(const LinkGraph& graph, const LinkLossKeys& keys, std::uint64_t seed,
                                       std::int64_t step);

/// Sum over links (u, i) of the loss, with rows x_v of nodes x width as embeddings and s_uv their products over the
/// temperature: ln(1 + exp(s_uj - s_ui)) for bpr, j = drawn_item(); for softmax ln(1 + w sum_j exp(s_uj - s_ui)) over
/// shared_items() but i (and, where skip_known says so, all that u is linked to), w = items / negatives where all items
/// are drawn alike (then the sum stands for that over all items), and 1 otherwise. Adds `factor` times its gradient by
/// x to `slopes`.
template <class T>
double add_link_loss(const LinkGraph& graph, const LinkLossKeys& keys, const LinkBatch& batch, const T* x,
                     std::int64_t width, double factor, T* slopes);

}  // namespace cambium::graph
