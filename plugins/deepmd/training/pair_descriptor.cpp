// The descriptors se_e2_a and se_e2_r in training.
#include <algorithm>
#include <cmath>

#include "plugins/deepmd/model/environment.hpp"
#include "plugins/deepmd/training/direct_sums.hpp"
#include "plugins/deepmd/training/interpolated_sums.hpp"
#include "plugins/deepmd/training/trained_descriptor.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
class PairDescriptor : public TrainedDescriptor<T> {
 public:
  PairDescriptor(const DeepPotentialModel& shape, double interpolation);
  int size() const override { return kernels_.size(); }
  int networks() const override { return static_cast<int>(shape_.embedding.size()); }

  void embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) override;
  void value(int atom, T* d) override { kernels_.descriptor(a(atom), d); }
  void take_gradient(int atom, const T* d_gradient) override {
    kernels_.descriptor_adjoint(a(atom), d_gradient, nullptr, nullptr, static_cast<T>(inverse_slots_), p(atom));
  }
  void add_forces(const Batch& batch, ForceSums& sums) override;
  void take_changes(const Batch& batch, const LossAdjoint& adjoint) override;
  void change(const Batch& batch, int atom, T* d_dot) override;
  void take_adjoints(int atom, const T* d_bar, const T* d_dot_bar) override {
    kernels_.descriptor_adjoint(a(atom), d_bar, a_dot(atom), d_dot_bar, static_cast<T>(inverse_slots_), a_bar(atom));
  }
  void backward(const Batch& batch, const NetworkWeights<T>& net, int index) override;

 private:
  void environment(const Batch& batch);
  void padding_adjoint(const Batch& batch, int tj, int ti);
  double empty_slots(const Batch& batch, int neighbour, int centre, int atom) const;
  T* a(int atom) { return a_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* p(int atom) { return p_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* a_dot(int atom) { return a_dot_.row(static_cast<std::int64_t>(atom) * kernels_.components); }
  T* a_bar(int atom) { return a_bar_.row(static_cast<std::int64_t>(atom) * kernels_.components); }

  const DeepPotentialModel& shape_;
  CutOff cutoff_;
  DescriptorKernels<T> kernels_;
  std::unique_ptr<NeighbourSums<T>> sums_;
  double inverse_slots_ = 0.0;     ///< 1 / sum of sel
  Rows<T> a_, p_, a_dot_, a_bar_;  ///< `components` rows an atom; p = dE/dA and a_bar carry inverse_slots_
  Rows<T> padding_;                ///< by (neighbour, centre) type: values of the padding row, then their adjoints
  PairRows<T> rows_;
  std::vector<double> geometry_;  ///< of each row: (ds/dr)/r, t, (dt/dr)/r with s = w/r, t = w/r^2
};

template <class T>
PairDescriptor<T>::PairDescriptor(const DeepPotentialModel& shape, double interpolation)
    : shape_(shape), cutoff_(CutOff::make(shape.rcut_smth, shape.rcut, shape.env_protection, false)) {
  kernels_.components = shape.components();
  kernels_.channels = shape.width();
  kernels_.axis = shape.axis_neuron;
  for (auto* rows : {&a_, &p_, &a_dot_, &a_bar_}) *rows = Rows<T>(shape.width(), native_width<T>);
  kernels_.stride = a_.stride();
  padding_ = Rows<T>(shape.width(), native_width<T>);
  if (interpolation > 0.0)
    sums_ = std::make_unique<InterpolatedSums<T>>(shape, kernels_, interpolation);
  else
    sums_ = std::make_unique<DirectSums<T>>(shape, kernels_);
  inverse_slots_ = 1.0 / shape.neighbours();
}

template <class T>
double PairDescriptor<T>::empty_slots(const Batch& batch, int neighbour, int centre, int atom) const {
  const auto pair = static_cast<std::size_t>(centre * shape_.ntypes() + neighbour);
  const double row = kernels_.components == 4 ? -shape_.mean[pair][0] / shape_.deviation[pair][0] : 1.0;
  return row * (shape_.sel[neighbour] - batch.row_count(neighbour, atom));
}

template <class T>
void PairDescriptor<T>::environment(const Batch& batch) {
  const auto n = static_cast<std::size_t>(batch.rows());
  rows_.grow(n);
  if (geometry_.size() < 3 * n) geometry_.resize(3 * (n + n / 8));
  const bool full = kernels_.components == 4;
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const auto pair = static_cast<std::size_t>(ti * batch.ntypes() + tj);
      const double mean = shape_.mean[pair][0], radial = 1.0 / shape_.deviation[pair][0],
                   angular = 1.0 / shape_.deviation[pair][1];
      const int last = batch.block_end(tj, ti) - 1;
      for (int r = batch.block_begin(tj, ti); r < last; ++r) {
        const double* d = batch.d(r);
        const double distance = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double w, dw;
        cutoff_.weight(distance, w, dw);
        const double inverse = 1.0 / (distance + cutoff_.protection), s = w * inverse, t = s * inverse;
        double* g = &geometry_[3 * static_cast<std::size_t>(r)];
        g[0] = (dw - s) * inverse / distance;
        g[1] = t;
        g[2] = (dw - 2.0 * s) * inverse * inverse / distance;
        const double x = (s - mean) * radial;
        T* c = &rows_.c[4 * static_cast<std::size_t>(r)];
        rows_.x[r] = static_cast<T>(x);
        c[0] = full ? static_cast<T>(x) : T(1);
        for (int k = 0; k < 3; ++k) c[k + 1] = static_cast<T>(t * d[k] * angular);
      }
      rows_.x[last] = static_cast<T>(-mean * radial);
    }
}

template <class T>
void PairDescriptor<T>::embed(const Batch& batch, std::span<const NetworkWeights<T>> networks) {
  environment(batch);
  sums_->evaluate(batch, networks, rows_);
  for (auto* rows : {&a_, &p_, &a_dot_, &a_bar_})
    rows->reserve(static_cast<std::int64_t>(batch.atoms()) * kernels_.components);
  const int length = kernels_.components * kernels_.stride, blocks = batch.ntypes() * batch.ntypes();
  padding_.reserve(blocks);
  for (int k = 0; k < blocks; ++k)
    sums_->padding_value(batch.block_end(k / batch.ntypes(), k % batch.ntypes()) - 1, padding_.row(k));
  for (int ti = 0; ti < batch.ntypes(); ++ti)
    for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
      T* sum = a(i);
      std::fill_n(sum, length, T(0));
      for (int tj = 0; tj < batch.ntypes(); ++tj) {
        sums_->add_values(batch, tj, i, rows_, sum);
        const T empty = static_cast<T>(empty_slots(batch, tj, ti, i));
        const T* value = padding_.row(tj * batch.ntypes() + ti);
        for (int m = 0; m < kernels_.channels; ++m) sum[m] += empty * value[m];
      }
      for (int k = 0; k < length; ++k) sum[k] *= static_cast<T>(inverse_slots_);
    }
}

template <class T>
void PairDescriptor<T>::add_forces(const Batch& batch, ForceSums& sums) {
  const bool full = kernels_.components == 4;
  for (int ti = 0; ti < batch.ntypes(); ++ti)
    for (int tj = 0; tj < batch.ntypes(); ++tj) {
      const auto& deviation = shape_.deviation[ti * batch.ntypes() + tj];
      const double radial = 1.0 / deviation[0], angular = 1.0 / deviation[1];
      for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
        const int first = batch.row_begin(tj, i), n = batch.row_count(tj, i);
        sums_->row_gradients(batch, tj, i, p(i), rows_);
        for (int r = first; r < first + n; ++r) {
          const T* bar = &rows_.c_bar[4 * static_cast<std::size_t>(r)];
          const double *d = batch.d(r), *g = &geometry_[3 * static_cast<std::size_t>(r)];
          const double b0 = (static_cast<double>(rows_.x_bar[r]) + (full ? bar[0] : T(0))) * radial;
          double b[3] = {0, 0, 0}, gradient[3];
          for (int k = 0; k < 3 && full; ++k) b[k] = bar[k + 1] * angular;
          const double along = b0 * g[0] + (b[0] * d[0] + b[1] * d[1] + b[2] * d[2]) * g[2];
          for (int k = 0; k < 3; ++k) gradient[k] = along * d[k] + g[1] * b[k];
          sums.add(batch, r, gradient);
        }
      }
    }
}

template <class T>
void PairDescriptor<T>::take_changes(const Batch& batch, const LossAdjoint& adjoint) {
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      const auto& deviation = shape_.deviation[ti * batch.ntypes() + tj];
      const double radial = 1.0 / deviation[0], angular = 1.0 / deviation[1];
      for (int r = batch.block_begin(tj, ti); r < batch.block_end(tj, ti) - 1; ++r) {
        const double *d = batch.d(r), *g = &geometry_[3 * static_cast<std::size_t>(r)];
        const auto move = move_of(batch, adjoint, r);
        const double along = move[0] * d[0] + move[1] * d[1] + move[2] * d[2];
        T* c = &rows_.c_dot[4 * static_cast<std::size_t>(r)];
        const double x = g[0] * along * radial;
        rows_.x_dot[r] = static_cast<T>(x);
        c[0] = kernels_.components == 4 ? static_cast<T>(x) : T(0);
        for (std::size_t k = 0; k < 3; ++k) c[k + 1] = static_cast<T>((g[2] * along * d[k] + g[1] * move[k]) * angular);
      }
    }
}

template <class T>
void PairDescriptor<T>::change(const Batch& batch, int atom, T* d_dot) {
  const int length = kernels_.components * kernels_.stride;
  T* sum = a_dot(atom);
  std::fill_n(sum, length, T(0));
  for (int tj = 0; tj < batch.ntypes(); ++tj) sums_->add_changes(batch, tj, atom, rows_, sum);
  for (int k = 0; k < length; ++k) sum[k] *= static_cast<T>(inverse_slots_);
  kernels_.descriptor_dot(a(atom), sum, d_dot);
}

/// A padding row contributes to every atom of its block's centre type, once for each empty slot of that atom.
template <class T>
void PairDescriptor<T>::padding_adjoint(const Batch& batch, int tj, int ti) {
  std::vector<double> sum(kernels_.channels, 0.0);
  for (int i = batch.type_begin(ti); i < batch.type_begin(ti + 1); ++i) {
    const double empty = empty_slots(batch, tj, ti, i);
    for (int m = 0; m < kernels_.channels; ++m) sum[m] += empty * a_bar(i)[m];
  }
  std::transform(sum.begin(), sum.end(), padding_.row(tj * batch.ntypes() + ti),
                 [](double v) { return static_cast<T>(v); });
}

template <class T>
void PairDescriptor<T>::backward(const Batch& batch, const NetworkWeights<T>& net, int index) {
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti) {
      if (shape_.embedding_index(ti, tj) != index) continue;
      padding_adjoint(batch, tj, ti);
      sums_->backward(batch, tj, ti, net, rows_, {&a_bar_, &p_, &padding_});
    }
  sums_->finish(index, net);
}

}  // namespace

template <class T>
std::unique_ptr<TrainedDescriptor<T>> make_pair_descriptor(const DeepPotentialModel& shape, double interpolation) {
  return std::make_unique<PairDescriptor<T>>(shape, interpolation);
}

template std::unique_ptr<TrainedDescriptor<double>> make_pair_descriptor(const DeepPotentialModel&, double);
template std::unique_ptr<TrainedDescriptor<float>> make_pair_descriptor(const DeepPotentialModel&, double);

}  // namespace cambium::deepmd
