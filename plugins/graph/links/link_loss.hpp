#pragma once
#include <span>

#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Loss of negative items relative to the item of a link.
struct LinkLossKeys {
  enum class Type { bpr, softmax };
  enum class Draw { items, links };
  Type type = Type::softmax;
  bool cosine = true;             ///< scores are cosines, not products, of embeddings
  double temperature = 0.1;       ///< divisor of the scores
  std::int64_t negatives = 1024;  ///< for softmax: items drawn for all links of a step
  Draw draw = Draw::items;        ///< with equal probability, or that of the training links
  bool skip_known = false;        ///< for softmax: ignores drawn items that are linked to the user
};

/// Some links of one step: link k has the index ids[k] in the data set.
struct LinkBatch {
  std::vector<std::int64_t> ids;
  std::vector<Link> links;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// A negative item for a link, a function of (seed, step, id) only: the first of 100 draws with equal probability that
/// is not linked to the user, or the last draw.
std::int32_t drawn_item(const LinkGraph& graph, std::int32_t user, std::uint64_t seed, std::int64_t step,
                        std::int64_t id);

/// A fixed negative item for evaluation: linked to the user neither in training nor in validation nor in the held-out
/// links.
std::int32_t judged_item(const LinkGraph& graph, std::int32_t user, std::int64_t id);

/// Negative items shared by all links of a step, a function of (seed, step, index).
std::vector<std::int32_t> shared_items(const LinkGraph& graph, const LinkLossKeys& keys, std::uint64_t seed,
                                       std::int64_t step);

/// Sum of the loss over links (u, i), with rows x_v (nodes x width) as embeddings and s_uv their dot products over the
/// temperature: ln(1 + exp(s_uj - s_ui)) for bpr, j = drawn_item(); for softmax ln(1 + w sum_j exp(s_uj - s_ui)) over
/// shared_items() except i (and, with skip_known, all items linked to u), where w = items / negatives for uniform draws
/// (the sum then estimates that over all items) and 1 otherwise. Adds `factor` times its gradient by x to `slopes`.
template <class T>
double add_link_loss(const LinkGraph& graph, const LinkLossKeys& keys, const LinkBatch& batch, const T* x,
                     std::int64_t width, double factor, T* slopes);

}  // namespace cambium::graph
