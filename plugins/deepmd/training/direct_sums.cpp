#include "plugins/deepmd/training/direct_sums.hpp"

namespace cambium::deepmd {

template <class T>
DirectSums<T>::DirectSums(const DeepPotentialModel& shape, const DescriptorKernels<T>& kernels)
    : shape_(shape), kernels_(kernels), pass_(widths_of(shape.embedding.front())) {}

template <class T>
void DirectSums<T>::evaluate(const Batch& batch, std::span<const NetworkWeights<T>> networks, const PairRows<T>& rows) {
  pass_.reserve(batch.rows());
  for (int tj = 0; tj < batch.ntypes(); ++tj)
    for (int ti = 0; ti < batch.ntypes(); ++ti)
      pass_.forward(networks[shape_.embedding_index(ti, tj)], rows.x.data(), batch.block_begin(tj, ti),
                    batch.block_end(tj, ti));
}

template <class T>
void DirectSums<T>::add_values(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) {
  const int r = batch.row_begin(tj, atom), n = batch.row_count(tj, atom);
  if (n > 0) kernels_.add_values(n, rows.c_of(r), pass_.value(r), a);
}

template <class T>
void DirectSums<T>::padding_value(int row, T* value) {
  std::copy_n(pass_.value(row), kernels_.channels, value);
}

template <class T>
void DirectSums<T>::row_gradients(const Batch& batch, int tj, int atom, const T* p, PairRows<T>& rows) {
  const int r = batch.row_begin(tj, atom), n = batch.row_count(tj, atom);
  if (n > 0)
    kernels_.row_gradients(n, rows.c_of(r), pass_.value(r), pass_.slope(r), p,
                           &rows.c_bar[4 * static_cast<std::size_t>(r)], &rows.x_bar[r]);
}

template <class T>
void DirectSums<T>::add_changes(const Batch& batch, int tj, int atom, const PairRows<T>& rows, T* a) {
  const int r = batch.row_begin(tj, atom), n = batch.row_count(tj, atom);
  if (n > 0) kernels_.add_changes(n, rows.c_of(r), rows.c_dot_of(r), &rows.x_dot[r], pass_.value(r), pass_.slope(r), a);
}

template <class T>
void DirectSums<T>::backward(const Batch& batch, int tj, int ti, const NetworkWeights<T>& net, const PairRows<T>& rows,
                             const typename NeighbourSums<T>::Adjoints& adjoints) {
  const int begin = batch.block_begin(tj, ti), end = batch.block_end(tj, ti);
  for (int from = begin; from < end; from += EmbeddingPass<T>::block) {
    const int to = std::min(end, from + EmbeddingPass<T>::block);
    for (int r = from; r < to; ++r) {
      T *value_bar = pass_.value_bar(r - from), *slope_bar = pass_.slope_bar(r - from);
      const std::int64_t i = batch.centre(r);
      if (i >= 0) {
        kernels_.adjoints(rows.c_of(r), rows.c_dot_of(r), rows.x_dot[r], adjoints.a_bar->row(i * kernels_.components),
                          adjoints.p->row(i * kernels_.components), value_bar, slope_bar);
      } else {
        std::copy_n(adjoints.padding->row(tj * batch.ntypes() + ti), kernels_.stride, value_bar);
        std::fill_n(slope_bar, kernels_.stride, T(0));
      }
    }
    pass_.backward(net, rows.x.data(), from, to);
  }
}

template class DirectSums<double>;
template class DirectSums<float>;

}  // namespace cambium::deepmd
