#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Weights of edges from their lengths, with slopes if requested: the radial basis in float64, the network in type T.
/// Work arrays are reused from call to call.
template <class T>
class RadialWeights {
 public:
  RadialWeights(const MaceModel& model, const RadialNetwork& network);
  /// `r`: lengths (Å) of `edges` edges, all below the cut-off. Fills values()[edge][weight] and, with `slopes`,
  /// slopes()[edge][weight], 1/Å.
  void compute(const double* r, int edges, bool slopes);
  const T* values() const { return values_.data(); }
  const T* slopes() const { return values_.data() + slopes_; }
  int outputs() const { return layers_.back().out; }

 private:
  struct Layer {
    int in, out;
    std::vector<T> weight;  ///< [in][out]
  };
  void inputs(const double* r, int edges, bool slopes);
  void cut_off(const double* r, int edges, bool slopes);

  std::vector<double> bessel_;  ///< frequencies, 1/Å
  double bessel_factor_, cutoff_, activation_;
  int envelope_;
  bool cut_inputs_;
  std::vector<Layer> layers_;
  std::vector<T> values_, next_;  ///< [edge][value], followed by the slopes of all edges
  std::size_t slopes_ = 0;        ///< where slopes begin
};

extern template class RadialWeights<double>;
extern template class RadialWeights<float>;

/// The smooth cut-off 1 - (p+1)(p+2)/2 x^p + p(p+2) x^(p+1) - p(p+1)/2 x^(p+2) of x = r / cutoff below 1, and its
/// derivative.
void envelope(double r, double cutoff, int p, double& value, double& slope);

}  // namespace cambium::mace
