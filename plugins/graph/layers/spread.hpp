#pragma once
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/sparse/rows/products.hpp"

namespace cambium::graph {

using sparse::Csr;
using sparse::Rows;

/// The matrix A by which nodes hear their neighbours, for the rows that this rank computes; rows of numbers are in host
/// memory, without gaps (stride = width). Over ranks A is cut by rows, rank r of p having [n r / p, n (r + 1) / p), and
/// everybody's rows of numbers are gathered before each product (1D). All calls are collective then, and every number
/// is one sum in ascending order of the neighbour, whatever the number of ranks.
template <class T>
class Spread {
 public:
  /// A on one rank: outputs x inputs. `nodes` are those of the inputs; the outputs are the first of them.
  Spread(Csr<T> a, std::vector<std::int32_t> nodes);
  /// Of a matrix over all nodes, this rank's rows.
  Spread(const Csr<double>& whole, const Comm& comm);
  virtual ~Spread() = default;

  std::int64_t inputs() const { return at_.rows; }  ///< rows that come in on this rank
  std::int64_t outputs() const { return a_.rows; }  ///< rows that go out
  /// Node of input k of this rank.
  std::int32_t node(std::int64_t k) const {
    return nodes_.empty() ? static_cast<std::int32_t>(first_ + k) : nodes_[at(k)];
  }
  /// Node of row k among those gathered from all ranks.
  std::int32_t node_of_all(std::int64_t k) const {
    return nodes_.empty() ? static_cast<std::int32_t>(k) : nodes_[at(k)];
  }
  /// Number of this rank's row k among those gathered.
  std::int64_t number(std::int64_t k) const { return nodes_.empty() ? first_ + k : k; }

  /// out (outputs) = A h, of the inputs of all ranks.
  virtual void multiply(Rows<const T> h, Rows<T> out);
  /// out (inputs) = A^T g, of the outputs of all ranks.
  virtual void multiply_transposed(Rows<const T> g, Rows<T> out);

  /// For layers that weigh neighbours by themselves: the rows of A with the columns that gather_inputs() has, the rows
  /// of A^T with the columns that gather_outputs() has. What is gathered stays until the next call of the same
  /// function.
  const Csr<T>& rows() const { return a_; }
  const Csr<T>& transposed_rows() const { return at_; }
  Rows<const T> gather_inputs(Rows<const T> h);
  Rows<const T> gather_outputs(Rows<const T> g);

  /// Numbers received from other ranks so far.
  std::int64_t words() const { return words_; }

 private:
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
  Rows<const T> gather(Rows<const T> own, std::vector<T>& all);

  Csr<T> a_, at_;
  std::vector<std::int32_t> nodes_;  ///< empty: all nodes, this rank's from first_ on
  const Comm* comm_ = nullptr;       ///< null on one rank
  std::vector<std::int64_t> begin_;  ///< first row of every rank, and the number of all
  std::int64_t first_ = 0, words_ = 0;
  std::vector<T> all_inputs_, all_outputs_;
};

/// First row of rank r of p, of n rows.
inline std::int64_t first_row(std::int64_t n, int r, int p) { return n * r / p; }

}  // namespace cambium::graph
