#pragma once
#include <memory>

#include "plugins/deepmd/datasets/batch.hpp"
#include "plugins/deepmd/training/descriptor_pass.hpp"
#include "plugins/deepmd/training/layer_weights.hpp"
#include "plugins/deepmd/training/pair_rows.hpp"

namespace cambium::deepmd {

/// Sums over neighbours of the embedding networks' values G(x) and slopes G'(x), and the weights' gradient of them.
/// Matrices of one atom are `components` rows of kernels.stride values.
template <class T>
class NeighbourSums {
 public:
  virtual ~NeighbourSums() = default;

  /// Sets the networks' weights and the rows' c and x; later calls refer to this batch.
  virtual void evaluate(const Batch& batch, std::span<const NetworkWeights<T>> networks, const PairRows<T>& rows) = 0;
  /// a_k += sum over neighbours of type tj of c_k G.
  virtual void add_values(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) = 0;
  /// G of a padding row.
  virtual void padding_value(int row, T* value) = 0;
  /// c_bar_k = p_k . G and x_bar = sum_k c_k p_k . G' for the neighbours of type tj.
  virtual void row_gradients(const Batch& batch, int tj, int atom, const T* p, PairRows<T>& rows) = 0;
  /// a_k += sum over neighbours of type tj of c_dot_k G + c_k x_dot G'.
  virtual void add_changes(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) = 0;

  /// Adjoints of an atom's sums (a_bar of add_values, p of add_changes), and of the padding rows' values.
  struct Adjoints {
    const Rows<T>*a_bar, *p;
    Rows<T>* padding;  ///< one row for each block of pairs, by neighbour type and centre type
  };
  /// Adds the weights' gradient for the rows of one block. Requires add_changes() of all its atoms.
  virtual void backward(const Batch& batch, int tj, int ti, const NetworkWeights<T>& net, const PairRows<T>& rows,
                        const Adjoints& adjoints) = 0;
  /// Called after backward() of all blocks that network `index` serves.
  virtual void finish(int index, const NetworkWeights<T>& net) = 0;
};

}  // namespace cambium::deepmd
