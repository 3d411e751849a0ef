#pragma once
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/training/embedding_pass.hpp"
#include "plugins/deepmd/training/neighbour_sums.hpp"

namespace cambium::deepmd {

/// Sums over neighbours with the embedding networks evaluated at every pair.
template <class T>
class DirectSums : public NeighbourSums<T> {
 public:
  DirectSums(const DeepPotentialModel& shape, const DescriptorKernels<T>& kernels);

  void evaluate(const Batch& batch, std::span<const NetworkWeights<T>> networks, const PairRows<T>& rows) override;
  void add_values(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) override;
  void padding_value(int row, T* value) override;
  void row_gradients(const Batch& batch, int tj, int atom, const T* p, PairRows<T>& rows) override;
  void add_changes(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) override;
  void backward(const Batch& batch, int tj, int ti, const NetworkWeights<T>& net, const PairRows<T>& rows,
                const typename NeighbourSums<T>::Adjoints& adjoints) override;
  void finish(int, const NetworkWeights<T>&) override {}

 private:
  const DeepPotentialModel& shape_;
  const DescriptorKernels<T>& kernels_;
  EmbeddingPass<T> pass_;
};

extern template class DirectSums<double>;
extern template class DirectSums<float>;

}  // namespace cambium::deepmd
