#pragma once
#include <memory>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/links/link_loss.hpp"

namespace cambium::graph {

/// How light_gcn computes.
struct LinkShape {
  std::int64_t width = 64, layers = 2;
  LinkLossKeys loss;
  double judge_lengths = 0.0;  ///< scores of what cosines trained are these times lengths to this power; 1: products
};

/// Embeddings of all users and items from their table (the one array of weights, nodes x width), and gradients, in one
/// type of number. Every rank propagates the whole graph: forward once in a step, backward once for each slice.
class LinkEngine {
 public:
  virtual ~LinkEngine() = default;
  virtual void begin_step() = 0;
  /// As Network::gradient(), for links of one slice: factors and terms of the loss and of half the squares of the rows
  /// of the table that the links name (of bpr, also of the items drawn for them).
  virtual void gradient(const LinkGraphPtr& graph, const LinkBatch& batch, const TensorRef& table,
                        std::span<const double> factors, const TensorRef& gradient,
                        std::span<train::TermSum> terms) = 0;
  /// Scores below are of this graph and table; computed anew only where one of them has changed.
  virtual void look_at(const LinkGraphPtr& graph, const TensorRef& table) = 0;
  virtual double score(Link link) const = 0;
  /// Rows whose products are the scores: nodes x width.
  virtual std::vector<float> rows() const = 0;
};

template <class T>
std::unique_ptr<LinkEngine> make_link_engine(const LinkShape& shape);

}  // namespace cambium::graph
