#include "plugins/graph/links/link_rivals.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gemm.hpp"
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

/// Users are the columns of tall dense matrices here.
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

std::unique_ptr<LinkScores> item_cosine(const LinkGraph& graph) {
  const auto scales = item_scales(graph);
  auto matrix = graph.training;
  for (std::size_t e = 0; e < matrix.value.size(); ++e) matrix.value[e] = scales[matrix.column[e]];
  return std::make_unique<TwoSteps>(graph, std::move(matrix), scales);
}

std::unique_ptr<LinkScores> linear_filter(const LinkGraph& graph) { return filter(graph); }

std::unique_ptr<LinkScores> low_pass_filter(const LinkGraph& graph, double share, std::int64_t vectors) {
  return std::make_unique<LowPass>(graph, share, vectors);
}

std::unique_ptr<LinkScores> products_of_rows(const LinkGraph& graph, std::vector<float> rows, std::int64_t width) {
  return std::make_unique<Products>(graph, std::move(rows), width);
}

}  // namespace cambium::graph
