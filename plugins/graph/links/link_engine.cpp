#include "plugins/graph/links/link_engine.hpp"

#include <cmath>

#include "plugins/graph/layers/weights_hash.hpp"
#include "plugins/graph/links/propagation.hpp"

namespace cambium::graph {

namespace {

template <class T>
class PairEngine : public LinkEngine {
 public:
  explicit PairEngine(const LinkShape& shape) : shape_(shape) {}

  void begin_step() override { propagated_ = false; }
  void gradient(const LinkGraphPtr& graph, const LinkBatch& batch, const TensorRef& table,
                std::span<const double> factors, const TensorRef& gradient, std::span<train::TermSum> terms) override;
  void look_at(const LinkGraphPtr& graph, const TensorRef& table) override;
  double score(Link link) const override;
  std::vector<float> rows() const override { return {rows_.begin(), rows_.end()}; }

 private:
  void propagate(const LinkGraphPtr& graph, const T* table, double power);
  void back_to_products(T* slopes) const;
  double add_squares(const LinkBatch& batch, const T* table, double factor, T* gradient) const;

  LinkShape shape_;
  LinkGraphPtr graph_;
  std::unique_ptr<Propagation<T>> propagation_;
  bool propagated_ = false;      ///< rows_ are up to date in this step
  std::uint64_t looked_at_ = 0;  ///< hash of the table of rows_; 0: no scores requested
  std::vector<T> rows_, lengths_, slopes_, back_;
};

/// Computes rows_, scaled to the norms of the embeddings to a power (0: cosines, 1: dot products), and these lengths_.
template <class T>
void PairEngine<T>::propagate(const LinkGraphPtr& graph, const T* table, double power) {
  if (!graph_ || graph_->fingerprint != graph->fingerprint)
    propagation_ = std::make_unique<Propagation<T>>(*graph, shape_.layers);
  graph_ = graph;
  looked_at_ = 0;
  const auto width = shape_.width;
  rows_.resize(graph->nodes() * width);
  propagation_->apply(table, rows_.data(), width);
  if (power == 1.0) return;
  lengths_.resize(graph->nodes());
  for (std::int64_t i = 0; i < graph->nodes(); ++i) {
    T* row = rows_.data() + i * width;
    double squares = 0.0;
    for (std::int64_t k = 0; k < width; ++k) squares += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    const T length = static_cast<T>(std::max(std::sqrt(squares), 1e-6));
    lengths_[i] = length;
    const T by = power == 0.0 ? length : static_cast<T>(std::pow(static_cast<double>(length), 1.0 - power));
    for (std::int64_t k = 0; k < width; ++k) row[k] /= by;
  }
}

/// Converts gradients by normalised rows to those by the rows before normalisation.
template <class T>
void PairEngine<T>::back_to_products(T* slopes) const {
  if (!shape_.loss.cosine) return;
  const auto width = shape_.width;
  for (std::int64_t i = 0; i < graph_->nodes(); ++i) {
    const T* row = rows_.data() + i * width;
    T* slope = slopes + i * width;
    T along = 0;
    for (std::int64_t k = 0; k < width; ++k) along += row[k] * slope[k];
    const T length = lengths_[i];
    for (std::int64_t k = 0; k < width; ++k) slope[k] = (slope[k] - along * row[k]) / length;
  }
}

/// Half the squares of the table rows of the links; adds `factor` times their gradient.
template <class T>
double PairEngine<T>::add_squares(const LinkBatch& batch, const T* table, double factor, T* gradient) const {
  const auto width = shape_.width;
  double sum = 0.0;
  const auto add = [&](std::int64_t node) {
    const T* row = table + node * width;
    T* to = gradient + node * width;
    double squares = 0.0;
    for (std::int64_t k = 0; k < width; ++k) {
      squares += static_cast<double>(row[k]) * static_cast<double>(row[k]);
      to[k] += static_cast<T>(factor) * row[k];
    }
    sum += 0.5 * squares;
  };
  for (std::size_t k = 0; k < batch.links.size(); ++k) {
    const auto [user, item] = batch.links[k];
    add(user);
    add(graph_->first_item() + item);
    if (shape_.loss.type == LinkLossKeys::Type::bpr)
      add(graph_->first_item() + drawn_item(*graph_, user, batch.seed, batch.step, batch.ids[k]));
  }
  return sum;
}

template <class T>
void PairEngine<T>::gradient(const LinkGraphPtr& graph, const LinkBatch& batch, const TensorRef& table,
                             std::span<const double> factors, const TensorRef& gradient,
                             std::span<train::TermSum> terms) {
  const auto* weights = static_cast<const T*>(table.data);
  auto* out = static_cast<T*>(gradient.data);
  if (!propagated_) propagate(graph, weights, shape_.loss.cosine ? 0.0 : 1.0);
  propagated_ = true;
  slopes_.assign(rows_.size(), T(0));
  back_.resize(rows_.size());
  terms[0].sum += add_link_loss(*graph_, shape_.loss, batch, rows_.data(), shape_.width, factors[0], slopes_.data());
  back_to_products(slopes_.data());
  propagation_->apply(slopes_.data(), back_.data(), shape_.width);
  for (std::size_t k = 0; k < back_.size(); ++k) out[k] += back_[k];
  if (factors[1] != 0.0) terms[1].sum += add_squares(batch, weights, factors[1], out);
  for (auto& term : terms) term.count += static_cast<double>(batch.links.size());
}

template <class T>
void PairEngine<T>::look_at(const LinkGraphPtr& graph, const TensorRef& table) {
  const auto hash = hash_of({&table, 1}) | 1;
  if (graph_ && graph_->fingerprint == graph->fingerprint && looked_at_ == hash) return;
  propagate(graph, static_cast<const T*>(table.data), shape_.loss.cosine ? shape_.judge_lengths : 1.0);
  propagated_ = false;
  looked_at_ = hash;
}

template <class T>
double PairEngine<T>::score(Link link) const {
  const auto width = shape_.width;
  const T* user = rows_.data() + link.user * width;
  const T* item = rows_.data() + (graph_->first_item() + link.item) * width;
  double sum = 0.0;
  for (std::int64_t k = 0; k < width; ++k) sum += static_cast<double>(user[k]) * static_cast<double>(item[k]);
  return sum;
}

}  // namespace

template <class T>
std::unique_ptr<LinkEngine> make_link_engine(const LinkShape& shape) {
  return std::make_unique<PairEngine<T>>(shape);
}

template std::unique_ptr<LinkEngine> make_link_engine<float>(const LinkShape&);
template std::unique_ptr<LinkEngine> make_link_engine<double>(const LinkShape&);

}  // namespace cambium::graph
