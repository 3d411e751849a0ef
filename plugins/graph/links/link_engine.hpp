#pragma once
#include <memory>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/links/link_loss.hpp"

namespace cambium::graph {

/// Parameters of light_gcn.
struct LinkShape {
  std::int64_t width = 64, layers = 2;
  LinkLossKeys loss;
  double judge_lengths = 0.0;  ///< exponent of the embedding norms in scores after training on cosines; 1: dot products
};

/// Embeddings of all users and items from their table (the only array of weights, nodes x width), and gradients, in one
/// floating-point type. Every rank propagates the full graph: forward once per step, backward once per slice.
class LinkEngine {
 public:
  virtual ~LinkEngine() = default;
  virtual void begin_step() = 0;
  /// As Network::gradient(), for the links of one slice: factors and terms of the loss and of half the squares of the
  /// table rows of these links (for bpr, also of their negative items).
  virtual void gradient(const LinkGraphPtr& graph, const LinkBatch& batch, const TensorRef& table,
                        std::span<const double> factors, const TensorRef& gradient,
                        std::span<train::TermSum> terms) = 0;
  /// Sets the graph and table of the scores below; recomputes only if one of them has changed.
  virtual void look_at(const LinkGraphPtr& graph, const TensorRef& table) = 0;
  virtual double score(Link link) const = 0;
  /// Rows whose dot products are the scores: nodes x width.
  virtual std::vector<float> rows() const = 0;
};

template <class T>
std::unique_ptr<LinkEngine> make_link_engine(const LinkShape& shape);

}  // namespace cambium::graph
