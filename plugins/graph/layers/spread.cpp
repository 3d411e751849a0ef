#include "plugins/graph/layers/spread.hpp"

#include "plugins/graph/graphs/matrices.hpp"

namespace cambium::graph {

template <class T>
Spread<T>::Spread(Csr<T> a, std::vector<std::int32_t> nodes)
    : a_(std::move(a)), at_(sparse::transposed(a_)), nodes_(std::move(nodes)) {}

template <class T>
Spread<T>::Spread(const Csr<double>& whole, const Comm& comm) : comm_(comm.size() > 1 ? &comm : nullptr) {
  for (int r = 0; r <= comm.size(); ++r) begin_.push_back(first_row(whole.rows, r, comm.size()));
  first_ = begin_[at(comm.rank())];
  const auto last = begin_[at(comm.rank()) + 1];
  a_ = sparse::converted<T>(rows_of(whole, first_, last));
  at_ = sparse::converted<T>(rows_of(sparse::transposed(whole), first_, last));
}

template <class T>
Rows<const T> Spread<T>::gather(Rows<const T> own, std::vector<T>& all) {
  if (!comm_) return own;
  const std::int64_t width = own.width, n = begin_.back();
  // A row is one thing to MPI, whose counts are 32 bits long.
  MPI_Datatype row;
  MPI_Type_contiguous(static_cast<int>(width), std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT, &row);
  MPI_Type_commit(&row);
  std::vector<int> counts, places;
  for (int r = 0; r < comm_->size(); ++r) {
    counts.push_back(static_cast<int>(begin_[at(r) + 1] - begin_[at(r)]));
    places.push_back(static_cast<int>(begin_[at(r)]));
  }
  all.resize(at(n * width));
  MPI_Allgatherv(own.data, static_cast<int>(own.rows), row, all.data(), counts.data(), places.data(), row,
                 comm_->handle());
  MPI_Type_free(&row);
  words_ += (n - own.rows) * width;
  return {all.data(), n, width, width};
}

template <class T>
Rows<const T> Spread<T>::gather_inputs(Rows<const T> h) {
  return gather(h, all_inputs_);
}

template <class T>
Rows<const T> Spread<T>::gather_outputs(Rows<const T> g) {
  return gather(g, all_outputs_);
}

template <class T>
void Spread<T>::multiply(Rows<const T> h, Rows<T> out) {
  sparse::multiply(a_, gather_inputs(h), out);
}

template <class T>
void Spread<T>::multiply_transposed(Rows<const T> g, Rows<T> out) {
  sparse::multiply(at_, gather_outputs(g), out);
}

template class Spread<float>;
template class Spread<double>;

}  // namespace cambium::graph
