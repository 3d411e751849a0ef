#pragma once
#include <algorithm>
#include <vector>

#include "core/base/pack.hpp"
#include "plugins/md/pace/pace_products.hpp"

namespace cambium::md {

/// Densities of atoms, one in each lane, as sums of products of complex factors, and their derivatives with respect to
/// the factors. The tree is traversed twice: each product of a branch is computed once on the way down, and its
/// derivative summed on the way back.
template <class P>
class PaceTree {
 public:
  void begin(const PaceProducts& products) {
    t_ = &products;
    for (auto* v : {&factors_, &weights_}) v->resize(2 * products.sums.size());
    for (auto* v : {&densities_, &slopes_}) v->resize(products.densities);
  }
  void clear() {
    for (auto* v : {&factors_, &weights_, &densities_, &slopes_}) std::fill(v->begin(), v->end(), P(0.0));
  }

  void set_factor(std::size_t f, int lane, double re, double im) {
    at(factors_, 2 * f, lane) = re;
    at(factors_, 2 * f + 1, lane) = im;
  }
  /// Derivative of the energy with respect to a factor, for the real parts of the products.
  void weight(std::size_t f, int lane, double& re, double& im) {
    re = at(weights_, 2 * f, lane);
    im = at(weights_, 2 * f + 1, lane);
  }
  double& density(int p, int lane) { return at(densities_, p, lane); }
  double& slope(int p, int lane) { return at(slopes_, p, lane); }

  /// Adds the products to the densities.
  void forward() {
    by_count([&]<int D>() { forward<D>(t_->branches[0], P(1.0), P(0.0)); });
  }
  /// Computes the weights of the factors from the derivatives of the energy with respect to the densities.
  void backward() {
    by_count([&]<int D>() {
      P re, im;
      backward<D>(t_->branches[0], P(1.0), P(0.0), re, im);
    });
  }

 private:
  static double& at(std::vector<P>& packs, std::size_t k, int lane) {
    return reinterpret_cast<double*>(packs.data() + k)[lane];
  }

  /// D: number of densities, 0: any number.
  template <class F>
  void by_count(F&& f) {
    if (t_->densities == 1)
      f.template operator()<1>();
    else if (t_->densities == 2)
      f.template operator()<2>();
    else
      f.template operator()<0>();
  }

  template <int D>
  void forward(const PaceProducts::Branch& branch, P re, P im) {
    const int count = D ? D : t_->densities;
    P sums[D ? D : 1];
    for (P& s : sums) s = 0.0;
    for (int e = branch.first_end; e < branch.last_end; ++e) {
      const P* const a = factors_.data() + 2 * t_->end_sum[e];
      const double* const c = t_->end_c.data() + e * count;
      const P value = fma(re, a[0], -(im * a[1]));
      for (int p = 0; p < count; ++p) {
        P& to = D ? sums[D ? p : 0] : densities_[p];
        to = fma(P(c[p]), value, to);
      }
    }
    for (int p = 0; p < D; ++p) densities_[p] += sums[p];
    for (int b = branch.first_branch; b < branch.last_branch; ++b) {
      const auto& next = t_->branches[b];
      const P* const a = factors_.data() + 2 * next.sum;
      forward<D>(next, fma(re, a[0], -(im * a[1])), fma(re, a[1], im * a[0]));
    }
  }

  /// (slope_re, slope_im): derivative with respect to the product (re, im) of the factors of the branch.
  template <int D>
  void backward(const PaceProducts::Branch& branch, P re, P im, P& slope_re, P& slope_im) {
    const int count = D ? D : t_->densities;
    P sum_re = 0.0, sum_im = 0.0;
    for (int e = branch.first_end; e < branch.last_end; ++e) {
      const P* const a = factors_.data() + 2 * t_->end_sum[e];
      P* const w = weights_.data() + 2 * t_->end_sum[e];
      const double* const c = t_->end_c.data() + e * count;
      P theta = 0.0;
      for (int p = 0; p < count; ++p) theta = fma(P(c[p]), slopes_[p], theta);
      w[0] = fma(theta, re, w[0]);
      w[1] = fma(theta, im, w[1]);
      sum_re = fma(theta, a[0], sum_re);
      sum_im = fma(theta, a[1], sum_im);
    }
    for (int b = branch.first_branch; b < branch.last_branch; ++b) {
      const auto& next = t_->branches[b];
      const P* const a = factors_.data() + 2 * next.sum;
      P* const w = weights_.data() + 2 * next.sum;
      P d_re, d_im;
      backward<D>(next, fma(re, a[0], -(im * a[1])), fma(re, a[1], im * a[0]), d_re, d_im);
      w[0] = fma(d_re, re, fma(-d_im, im, w[0]));
      w[1] = fma(d_re, im, fma(d_im, re, w[1]));
      sum_re = fma(d_re, a[0], fma(-d_im, a[1], sum_re));
      sum_im = fma(d_re, a[1], fma(d_im, a[0], sum_im));
    }
    slope_re = sum_re;
    slope_im = sum_im;
  }

  const PaceProducts* t_ = nullptr;
  std::vector<P> factors_, weights_;  ///< real and imaginary parts, interleaved
  std::vector<P> densities_, slopes_;
};

}  // namespace cambium::md
