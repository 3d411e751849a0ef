#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/sparse/layout.hpp"
#include "core/sparse/products.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/bytes.hpp"

namespace cambium::sparse {
enum class TileUse;
}

namespace cambium::graph {

using sparse::Csr;
using sparse::Rows;
template <class T>
class TiledProducts;

/// The aggregation matrix A, with the rows of the nodes that this rank computes. Feature rows are in host memory,
/// complete and contiguous (stride = width). This class runs on one rank; see make_spread() for several, where all
/// non-const calls are collective.
template <class T>
class Spread {
 public:
  /// outputs x inputs. `nodes` are the input nodes, all from 0 if empty; the outputs are the first of them.
  Spread(Csr<T> a, std::vector<std::int32_t> nodes);
  virtual ~Spread();

  std::int64_t inputs() const { return inputs_; }    ///< input rows on this rank
  std::int64_t outputs() const { return outputs_; }  ///< output rows
  /// Node of input k of this rank; the outputs are the first inputs.
  std::int32_t node(std::int64_t k) const { return name(nodes_, first_ + k); }
  std::int64_t first() const { return first_; }

  /// Range of this rank's rows, counted from its first, that it includes in sums over nodes: every row is counted once.
  virtual sparse::Range counted() const { return {0, outputs_}; }
  /// True if slices of a step may be any rows of this rank, and sums are bitwise identical to those of one rank.
  virtual bool by_rows() const { return true; }

  /// Uses tiles in later products where they are faster: values agree with those of rows to rounding. Only for layouts
  /// by rows.
  void use_tiles(sparse::TileUse use);
  /// The choice for each width so far, for the summary; empty without tiles.
  std::vector<std::string> tiles() const;

  /// out (outputs) = A h, with the inputs of all ranks.
  virtual void multiply(Rows<const T> h, Rows<T> out);
  /// out (inputs) = A^T g, with the outputs of all ranks.
  virtual void multiply_transposed(Rows<const T> g, Rows<T> out);

  // For layers that compute weights of neighbours: the rows of A with the columns of gather_inputs(), the rows of A^T
  // with the columns of gather_outputs(), both ascending by node, and the nodes of these columns. Gathered rows stay
  // valid until the next call of the same function. InputError from layouts that gather no rows.
  const Csr<T>& rows() const { return a_; }
  const Csr<T>& transposed_rows() const { return at_; }
  virtual Rows<const T> gather_inputs(Rows<const T> h) { return h; }
  virtual Rows<const T> gather_outputs(Rows<const T> g) { return g; }
  virtual std::int32_t heard(std::int64_t column) const { return name(nodes_, column); }
  virtual std::int32_t listener(std::int64_t column) const { return name(nodes_, column); }

  /// Called before each training step on every rank: seed and step of stochastic rounding in messages.
  virtual void begin_step(std::uint64_t /*seed*/, std::int64_t /*step*/) {}
  /// Data received from other ranks so far, in bytes.
  virtual sparse::Words words() const { return {}; }
  /// Memory of the matrix and of data from other ranks; for layouts by rows.
  virtual std::int64_t bytes() const;

 protected:
  Spread();
  static std::int32_t name(const std::vector<std::int32_t>& nodes, std::int64_t k) {
    return nodes.empty() ? static_cast<std::int32_t>(k) : nodes[k];
  }

  Csr<T> a_, at_;
  std::unique_ptr<TiledProducts<T>> tiles_, transposed_tiles_;  ///< null: rows
  std::vector<std::int32_t> nodes_;
  std::int64_t first_ = 0, inputs_ = 0, outputs_ = 0;
};

/// Collective. Aggregation by a square matrix of which rank r of p passes the rows [n r / p, n (r + 1) / p). The
/// layouts `rows` and `needed_rows` keep this partition; every value is one sum in ascending order of the neighbours,
/// for any number of ranks. Other layouts follow core/sparse, up to rounding. InputError for unsupported numbers of
/// ranks.
template <class T>
std::unique_ptr<Spread<T>> make_spread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm);

}  // namespace cambium::graph
