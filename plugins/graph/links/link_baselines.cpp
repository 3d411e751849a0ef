#include "plugins/graph/links/link_baselines.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gemm.hpp"
#include "core/sparse/column_cosines.hpp"
#include "plugins/graph/links/propagation.hpp"
#include "plugins/graph/links/spectrum.hpp"

namespace cambium::graph {

namespace {

std::vector<float> links_of_items(const LinkGraph& graph) {
  std::vector<float> out(graph.items, 0.0f);
  for (const auto item : graph.training.column) out[item] += 1.0f;
  return out;
}

/// D_i^-1/2, 1 for items without links.
std::vector<float> item_scales(const LinkGraph& graph) {
  auto out = links_of_items(graph);
  for (float& x : out) x = 1.0f / std::sqrt(std::max(x, 1.0f));
  return out;
}

class Popular : public LinkScores {
 public:
  explicit Popular(const LinkGraph& graph) : counts_(links_of_items(graph)) {}
  void scores(std::span<const std::int32_t> users, float* out) override {
    for (std::size_t n = 0; n < users.size(); ++n) std::copy(counts_.begin(), counts_.end(), out + n * counts_.size());
  }

 private:
  std::vector<float> counts_;
};

class Cosines : public LinkScores {
 public:
  explicit Cosines(const LinkGraph& graph) : cosines_(graph.training), row_(static_cast<std::size_t>(graph.items)) {}
  void scores(std::span<const std::int32_t> users, float* out) override {
    for (const auto user : users) {
      cosines_.scores(user, row_);
      out = std::transform(row_.begin(), row_.end(), out, [](double x) { return static_cast<float>(x); });
    }
  }

 private:
  sparse::ColumnCosines cosines_;
  std::vector<double> row_;
};

/// R S M^T M for a diagonal S and a matrix M of the same entries as R.
class TwoSteps : public LinkScores {
 public:
  TwoSteps(const LinkGraph& graph, sparse::Csr<float> matrix, std::vector<float> scales)
      : graph_(graph), matrix_(std::move(matrix)), back_(sparse::transposed(matrix_)), scales_(std::move(scales)) {}
  void scores(std::span<const std::int32_t> users, float* out) override;

 private:
  const LinkGraph& graph_;
  sparse::Csr<float> matrix_, back_;
  std::vector<float> scales_, of_items_, of_users_;
};

/// Users are columns of tall dense matrices here.
void TwoSteps::scores(std::span<const std::int32_t> users, float* out) {
  const auto width = std::ssize(users), items = graph_.items;
  of_items_.assign(items * width, 0.0f);
  of_users_.resize(graph_.users * width);
  for (std::int64_t n = 0; n < width; ++n)
    for (const auto item : graph_.training.columns_of(users[n])) of_items_[item * width + n] = scales_[item];
  sparse::multiply(matrix_, {of_items_.data(), items, width, width}, {of_users_.data(), graph_.users, width, width});
  sparse::multiply(back_, {of_users_.data(), graph_.users, width, width}, {of_items_.data(), items, width, width});
  for (std::int64_t item = 0; item < items; ++item)
    for (std::int64_t n = 0; n < width; ++n) out[n * items + item] = of_items_[item * width + n];
}

std::unique_ptr<TwoSteps> filter(const LinkGraph& graph) {
  return std::make_unique<TwoSteps>(graph, scaled_links<float>(graph.training), std::vector<float>(graph.items, 1.0f));
}

/// R S R for a symmetric R and a diagonal S.
class OneStep : public LinkScores {
 public:
  OneStep(const LinkGraph& graph, std::vector<float> scales) : graph_(graph), scales_(std::move(scales)) {}
  void scores(std::span<const std::int32_t> users, float* out) override {
    std::fill_n(out, std::ssize(users) * graph_.items, 0.0f);
    for (std::size_t n = 0; n < users.size(); ++n) {
      float* row = out + static_cast<std::ptrdiff_t>(n) * graph_.items;
      for (const auto shared : graph_.training.columns_of(users[n]))
        for (const auto node : graph_.training.columns_of(shared)) row[node] += scales_[shared];
    }
  }

 private:
  const LinkGraph& graph_;
  std::vector<float> scales_;
};

/// Holds out the validation links of these users, or, where the graph has none, every tenth of their training links.
LinkGraphPtr tuning_links(const LinkGraph& graph, const std::vector<std::int32_t>& users) {
  LinkParts parts;
  parts.source = graph.source;
  parts.bipartite = graph.bipartite;
  parts.users = graph.users;
  parts.items = graph.bipartite ? graph.items : 0;
  std::vector<bool> looked_at(graph.users);
  for (const auto user : users) looked_at[user] = true;
  for (std::int32_t user = 0; user < graph.users; ++user) {
    std::size_t place = static_cast<std::size_t>(user);
    for (const auto item : graph.training.columns_of(user)) {
      if (!graph.bipartite && item < user) continue;  // each link once
      const bool tenth = graph.validation.entries() == 0 && looked_at[user] && place++ % 10 == 0;
      (tenth ? parts.held_out : parts.training).push_back({user, item});
    }
    for (const auto item : graph.validation.columns_of(user))
      if (looked_at[user] && (graph.bipartite || item > user)) parts.held_out.push_back({user, item});
  }
  return make_links(std::move(parts));
}

class LowPass : public LinkScores {
 public:
  LowPass(const LinkGraph& graph, double share, std::int64_t vectors)
      : graph_(graph), filter_(filter(graph)), share_(static_cast<float>(share)) {
    constexpr int steps = 6;
    constexpr std::uint64_t seed = 1;
    const auto found = leading_spectrum(scaled_links<double>(graph.training), vectors, steps, seed);
    count_ = found.count;
    in_.assign(found.right.begin(), found.right.end());
    out_ = in_;
    const auto scales = item_scales(graph);
    for (std::int64_t item = 0; item < graph.items; ++item)
      for (std::int64_t k = 0; k < count_; ++k) {
        in_[item * count_ + k] *= scales[item];
        out_[item * count_ + k] /= scales[item];
      }
  }
  void scores(std::span<const std::int32_t> users, float* out) override {
    filter_->scores(users, out);
    const int rows = static_cast<int>(users.size()), items = static_cast<int>(graph_.items),
              count = static_cast<int>(count_);
    std::vector<float> inside(users.size() * static_cast<std::size_t>(count_), 0.0f);
    for (std::size_t n = 0; n < users.size(); ++n)
      for (const auto item : graph_.training.columns_of(users[n]))
        for (std::int64_t k = 0; k < count_; ++k)
          inside[n * static_cast<std::size_t>(count_) + static_cast<std::size_t>(k)] += in_[item * count_ + k];
    host_gemm(false, true, rows, items, count, share_, inside.data(), count, out_.data(), count, 1.0f, out, items);
  }

 private:
  const LinkGraph& graph_;
  std::unique_ptr<LinkScores> filter_;
  float share_;
  std::int64_t count_ = 0;
  std::vector<float> in_, out_;  ///< D_i^-1/2 V and D_i^1/2 V
};

class Products : public LinkScores {
 public:
  Products(const LinkGraph& graph, std::vector<float> rows, std::int64_t width)
      : graph_(graph), rows_(std::move(rows)), width_(width) {}
  void scores(std::span<const std::int32_t> users, float* out) override {
    std::vector<float> own;
    for (const auto user : users)
      own.insert(own.end(), rows_.data() + user * width_, rows_.data() + (user + 1) * width_);
    const int width = static_cast<int>(width_), items = static_cast<int>(graph_.items);
    host_gemm(false, true, static_cast<int>(users.size()), items, width, 1.0f, own.data(), width,
              rows_.data() + graph_.first_item() * width_, width, 0.0f, out, items);
  }

 private:
  const LinkGraph& graph_;
  std::vector<float> rows_;
  std::int64_t width_;
};

}  // namespace

std::unique_ptr<LinkScores> most_popular(const LinkGraph& graph) { return std::make_unique<Popular>(graph); }

std::unique_ptr<LinkScores> item_cosine(const LinkGraph& graph) { return std::make_unique<Cosines>(graph); }

std::unique_ptr<LinkScores> linear_filter(const LinkGraph& graph) { return filter(graph); }

std::unique_ptr<LinkScores> scaled_filter(const LinkGraph& graph, double item_power, double user_power) {
  auto matrix = graph.training;
  auto scales = links_of_items(graph);
  for (std::int64_t user = 0; user < matrix.rows; ++user) {
    const auto count = static_cast<double>(matrix.length(user));
    for (auto e = matrix.start[user]; e < matrix.start[static_cast<std::size_t>(user) + 1]; ++e) {
      const auto k = static_cast<std::size_t>(e);
      const auto of_item = static_cast<double>(std::max(scales[matrix.column[k]], 1.0f));
      matrix.value[k] = static_cast<float>(std::pow(count, -0.5 * user_power) * std::pow(of_item, item_power - 1.0));
    }
  }
  for (float& x : scales) x = std::pow(std::max(x, 1.0f), static_cast<float>(1.0 - 2.0 * item_power));
  return std::make_unique<TwoSteps>(graph, std::move(matrix), std::move(scales));
}

FilterPowers tuned_powers(const LinkGraph& graph, std::int64_t k, const Comm& comm) {
  constexpr std::size_t most = 1000;
  std::vector<std::int32_t> all, users;
  for (std::int32_t user = 0; user < graph.users; ++user)
    if (graph.validation.entries() > 0 ? graph.validation.length(user) > 0 : graph.training.length(user) > 1)
      all.push_back(user);
  for (std::size_t n = 0; n < std::min(most, all.size()); ++n)
    users.push_back(all[n * all.size() / std::min(most, all.size())]);
  FilterPowers best;
  if (users.empty()) return best;
  const auto split = tuning_links(graph, users);
  if (split->held_out.entries() == 0) return best;
  best.recall = -1.0;
  for (const double item : {0.3, 0.5, 0.7, 0.9})
    for (const double user : {0.0, 0.5, 1.0}) {
      const auto found = judge(*split, *scaled_filter(*split, item, user), k, comm);
      if (found.recall > best.recall) best = {item, user, found.recall, found.users};
    }
  return best;
}

std::unique_ptr<LinkScores> shared_neighbours(const LinkGraph& graph, SharedNeighbours weight) {
  auto scales = links_of_items(graph);
  for (float& x : scales)
    x = weight == SharedNeighbours::number        ? 1.0f
        : weight == SharedNeighbours::adamic_adar ? 1.0f / std::log(std::max(x, 2.0f))
                                                  : 1.0f / std::max(x, 1.0f);
  return std::make_unique<OneStep>(graph, std::move(scales));
}

std::unique_ptr<LinkScores> low_pass_filter(const LinkGraph& graph, double share, std::int64_t vectors) {
  return std::make_unique<LowPass>(graph, share, vectors);
}

std::unique_ptr<LinkScores> products_of_rows(const LinkGraph& graph, std::vector<float> rows, std::int64_t width) {
  return std::make_unique<Products>(graph, std::move(rows), width);
}

}  // namespace cambium::graph
