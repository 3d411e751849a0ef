#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::relate {

/// Contrastive losses of positive and negative items, s = cos(z_user, z_item):
///   margin    1 - s_chosen + weight * mean_j max(0, s_j - margin)                 (Mao et al., CIKM 2021)
///   softmax   log(1 + sum_j exp((s_j - s_chosen) / temperature))                  (Wu et al. 2022)
/// with j over the negative items that the user is not known to have chosen.
struct ContrastLoss {
  enum class Kind { margin, softmax } kind = Kind::softmax;
  double margin = 0.9, weight = 1.0, temperature = 0.1;
  static void describe(deck::Describe<ContrastLoss>& d);
};

/// A batch of positive items and the negatives shared by them, in T, rows of `width` elements that need not be
/// normalised. All cosines are one matrix product, and so are the derivatives by both of its factors.
template <class T>
class Contrast {
 public:
  Contrast(const ContrastLoss& loss, int width) : loss_(loss), width_(width) {}

  struct Rows {
    const T* users;   ///< samples x width
    const T* chosen;  ///< samples x width
    const T* drawn;   ///< drawn x width
  };
  struct Sums {
    double loss = 0.0, wrong = 0.0;  ///< wrong: fraction of negatives scored above the positive, for each sample
  };
  /// Sums over the samples. `known`: indices of the negatives that each sample ignores.
  Sums forward(const Rows& rows, int samples, int drawn, std::span<const std::vector<int>> known);
  /// Adds `factor` times the derivatives of the summed loss to rows as above.
  void backward(double factor, T* by_users, T* by_chosen, T* by_drawn);

 private:
  struct Unit {
    std::vector<T> rows, by;  ///< normalised to length one, and derivatives by them
    std::vector<T> length;
  };
  void normalise(const T* rows, int count, Unit& out) const;
  void add_back(const Unit& unit, int count, T factor, T* by) const;
  Sums one_sample(int sample, int counted);

  ContrastLoss loss_;
  int width_, samples_ = 0, drawn_ = 0;
  Unit users_, chosen_, others_;
  std::vector<T> cosines_;    ///< samples x drawn, then the derivatives by them
  std::vector<T> by_chosen_;  ///< derivative by the cosine of each positive item
};

extern template class Contrast<double>;
extern template class Contrast<float>;

}  // namespace cambium::relate
