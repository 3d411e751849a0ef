#pragma once
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/training/embedding_table.hpp"
#include "plugins/deepmd/training/neighbour_sums.hpp"

namespace cambium::deepmd {

/// Sums over neighbours with interpolated embedding networks: these are evaluated at the nodes of a table
/// (EmbeddingTable), rebuilt for every batch. Gradients are propagated through the interpolation to the nodes and are
/// those of the interpolated energy. Consecutive neighbours in one interval form a run: with moments M_kj = sum of c_k
/// t^j over the run, its part of an atom's sum is sum_j M_kj times the coefficients of t^j, so that the work on
/// channels is per run, not per pair.
template <class T>
class InterpolatedSums : public NeighbourSums<T> {
 public:
  InterpolatedSums(const DeepPotentialModel& shape, const DescriptorKernels<T>& kernels, double tolerance);

  void evaluate(const Batch& batch, std::span<const NetworkWeights<T>> networks, const PairRows<T>& rows) override;
  void add_values(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) override;
  void padding_value(int row, T* value) override;
  void row_gradients(const Batch& batch, int tj, int atom, const T* p, PairRows<T>& rows) override;
  void add_changes(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) override;
  void backward(const Batch& batch, int tj, int ti, const NetworkWeights<T>& net, const PairRows<T>& rows,
                const typename NeighbourSums<T>::Adjoints& adjoints) override;
  void finish(int index, const NetworkWeights<T>& net) override;

  int intervals() const { return static_cast<int>(inverse_half_.size()); }
  const EmbeddingTable& table(int network) const { return tables_[network]; }

 private:
  struct Run {
    int interval, first, count;
  };
  using Block = std::pair<int, int>;  ///< neighbour type, centre type
  std::vector<Block> blocks_of(int network) const;
  std::vector<int> cells_of(const Batch& batch, int network, const PairRows<T>& rows) const;
  void place_rows(const Batch& batch, int network, std::span<const int> cells, const PairRows<T>& rows);
  void append_coefficients(const EmbeddingTable& table);
  void find_runs(const Batch& batch, const PairRows<T>& rows);
  std::span<const Run> runs_of(const Batch& batch, int tj, int atom) const;
  template <int K>
  void gradients_of_run(const Run& run, const T* p, PairRows<T>& rows) const;
  template <int K>
  void change_of_run(std::size_t run, const PairRows<T>& rows, T* a);
  T* powers(int row) { return &powers_[8 * static_cast<std::size_t>(row) + 8]; }
  const T* powers(int row) const { return &powers_[8 * static_cast<std::size_t>(row) + 8]; }
  T* moment(std::size_t run) { return &moments_[run * 4 * Hermite::terms]; }
  T* change(std::size_t run) { return &changes_[run * 4 * Hermite::terms]; }
  std::size_t number(const Run& run) const { return static_cast<std::size_t>(&run - runs_.data()); }

  const DeepPotentialModel& shape_;
  const DescriptorKernels<T>& kernels_;
  double tolerance_;
  std::vector<EmbeddingTable> tables_;  ///< of every network
  std::vector<int> first_interval_;     ///< of every network, and the number of all
  std::vector<T> inverse_half_;         ///< dt/dx of every interval
  Rows<T> coefficients_, adjoints_;     ///< `terms` rows for each interval
  std::vector<int> interval_;           ///< of every row
  std::vector<T> powers_;               ///< 1, t, ... t^7 of every row, after eight spare values
  std::vector<Run> runs_;
  std::vector<std::size_t> run_begin_;  ///< of every (neighbour type, atom), and the number of all
  std::vector<T> moments_, changes_;    ///< of every run, 4 x terms: of values, of changes
};

extern template class InterpolatedSums<double>;
extern template class InterpolatedSums<float>;

}  // namespace cambium::deepmd
