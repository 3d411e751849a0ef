#include "plugins/relate/tasks/ease.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "plugins/relate/tasks/item_neighbours.hpp"

extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* a, const int* lda, int* info);
}

namespace cambium::relate {

std::int64_t Ease::rows(const ChoiceTable& table) { return std::min(table.users, table.items); }

double Ease::bytes(const ChoiceTable& table) {
  const auto n = static_cast<double>(rows(table));
  return n * n * static_cast<double>(sizeof(float));
}

Ease::Ease(std::shared_ptr<const ChoiceTable> table, double lambda) : table_(std::move(table)), rows_(rows(*table_)) {
  const auto chosen_by = users_of_items(*table_);
  if (by_users())
    invert(table_->training, chosen_by, lambda);
  else
    invert(chosen_by, table_->training, lambda);
  take_diagonal(chosen_by, lambda);
}

/// Inverts (co-occurrence counts + lambda). LAPACK's column-major upper triangle is the row-major lower one.
void Ease::invert(const ChoiceTable::Lists& of, const ChoiceTable::Lists& back, double lambda) {
  inverse_.assign(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(rows_), 0.0f);
  for (std::int64_t a = 0; a < rows_; ++a) {
    float* to = inverse_.data() + a * rows_;
    for (const auto shared : of[a])
      for (const auto b : back[shared]) {
        if (b > a) break;
        to[b] += 1.0f;
      }
    to[a] += static_cast<float>(lambda);
  }
  const double n = static_cast<double>(rows_);
  const KernelRegion region("inverse of a symmetric matrix (spotrf, spotri)", WorkKind::matrix, {n * n * n, 0.0, 4});
  const int size = static_cast<int>(rows_);
  int info = 0;
  spotrf_("U", &size, inverse_.data(), &size, &info);
  if (info == 0) spotri_("U", &size, inverse_.data(), &size, &info);
  if (info != 0)
    throw NumericalError(
        fmt::format("EASE: the matrix of {} rows has no Cholesky factor in float32 with lambda {:g}; give larger "
                    "values of ease_lambda",
                    rows_, lambda));
  constexpr std::int64_t block = 64;  // both sides of a block stay in cache
  for (std::int64_t first = 0; first < rows_; first += block)
    for (std::int64_t left = 0; left <= first; left += block)
      for (auto a = first; a < std::min(first + block, rows_); ++a)
        for (auto b = left; b < std::min(left + block, a); ++b) inverse_[b * rows_ + a] = inverse_[a * rows_ + b];
}

void Ease::take_diagonal(const ChoiceTable::Lists& chosen_by, double lambda) {
  diagonal_.resize(chosen_by.size());
  for (std::size_t i = 0; i < chosen_by.size(); ++i) {
    if (!by_users()) {
      diagonal_[i] = static_cast<double>(row(static_cast<std::int64_t>(i))[i]);
      continue;
    }
    double sum = 0.0;
    for (const auto u : chosen_by[i])
      for (const auto v : chosen_by[i]) sum += static_cast<double>(row(u)[v]);
    constexpr double rounding = 1e-6;
    diagonal_[i] = std::max(1.0 - sum, rounding) / lambda;
  }
}

std::vector<double> Ease::scores(std::int32_t user) const {
  const auto& chosen = table_->training[user];
  std::vector<double> out(diagonal_.size(), 0.0);
  if (by_users()) {
    for (std::size_t v = 0; v < table_->training.size(); ++v) {
      const auto by = static_cast<double>(row(user)[v]);
      for (const auto i : table_->training[v]) out[i] -= by;
    }
  } else {
    for (const auto j : chosen)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] -= static_cast<double>(row(j)[i]);
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= diagonal_[i];
  for (const auto i : chosen) out[i] += 1.0;
  return out;
}

}  // namespace cambium::relate
