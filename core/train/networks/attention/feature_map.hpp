#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::train {

/// Rows whose largest exponent is subtracted from a row of features to avoid overflow.
enum class Reference {
  row,     ///< its own: a factor of one query, which cancels in its output
  before,  ///< the row and all before it: the keys of a causal query
  all      ///< all rows: the keys of any other query
};

/// Positive features of queries and keys; phi(q) . phi(k) is the weight of a key. Row i of `phi` is phi(x_i)
/// e^(-reference[i]): keys share one reference or return it, since a separate maximum for each key would change the
/// weights.
template <class T>
class FeatureMap {
 public:
  virtual ~FeatureMap() = default;
  virtual int features() const = 0;
  /// phi is rows x features(), reference one value per row; rows of x are `stride` apart.
  virtual void map(const T* x, int stride, int rows, Reference kind, T* phi, T* reference) = 0;
  /// Adds to by_x (rows `by_stride` apart); references count as constants. `by_phi` is overwritten.
  virtual void map_backward(const T* x, int stride, int rows, const T* phi, T* by_phi, T* by_x, int by_stride) = 0;
};

/// elu(x) + 1 = x + 1 for x > 0, e^x below (Katharopoulos et al. 2020, equation 7). References are zero.
template <class T>
class EluFeatures : public FeatureMap<T> {
 public:
  explicit EluFeatures(int width) : width_(width) {}
  int features() const override { return width_; }
  void map(const T* x, int stride, int rows, Reference kind, T* phi, T* reference) override;
  void map_backward(const T* x, int stride, int rows, const T* phi, T* by_phi, T* by_x, int by_stride) override;

 private:
  int width_;
};

/// e^(w . y - |y|^2 / 2) / sqrt(m) for m rows w and y = x / n^(1/4) (Choromanski et al. 2021, lemma 1): the mean of
/// phi(q) . phi(k) over normal w is e^(q . k / sqrt(n)).
template <class T>
class PositiveFeatures : public FeatureMap<T> {
 public:
  /// `features` holds m rows of `width` values.
  PositiveFeatures(int width, std::span<const double> features);
  int features() const override { return features_; }
  void map(const T* x, int stride, int rows, Reference kind, T* phi, T* reference) override;
  void map_backward(const T* x, int stride, int rows, const T* phi, T* by_phi, T* by_x, int by_stride) override;

 private:
  int width_, features_;
  T shrink_;  ///< n^(-1/4)
  std::vector<T> directions_;
};

extern template class EluFeatures<double>;
extern template class EluFeatures<float>;
extern template class PositiveFeatures<double>;
extern template class PositiveFeatures<float>;

}  // namespace cambium::train
