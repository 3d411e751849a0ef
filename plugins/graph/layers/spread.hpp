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

/// The matrix A by which nodes hear their neighbours, for the rows of nodes that this rank computes. Rows of numbers
/// are in host memory, whole and without gaps (stride = width). Here on one rank; over ranks see make_spread(). All
/// calls but the constant ones are collective then.
template <class T>
class Spread {
 public:
  /// outputs x inputs. `nodes` are those of the inputs, all from 0 on where it is empty; the outputs are the first.
  Spread(Csr<T> a, std::vector<std::int32_t> nodes);
  virtual ~Spread();

  std::int64_t inputs() const { return inputs_; }    ///< rows that come in on this rank
  std::int64_t outputs() const { return outputs_; }  ///< rows that go out
  /// Node of input k of this rank; the outputs are the first of them.
  std::int32_t node(std::int64_t k) const { return name(nodes_, first_ + k); }
  std::int64_t first() const { return first_; }

  /// For this rank's rows, counted from its first, those that it counts in sums over nodes: every row is counted once.
  virtual sparse::Range counted() const { return {0, outputs_}; }
  /// True if slices of a step may be any rows of this rank, and sums are those of one rank, bit for bit.
  virtual bool by_rows() const { return true; }

  /// From now on products take tiles where these are faster: values agree with those of rows to rounding. Layouts by
  /// rows alone have them.
  void use_tiles(sparse::TileUse use);
  /// What was chosen for each width so far, for the summary; empty without tiles.
  std::vector<std::string> tiles() const;

  /// out (outputs) = A h, of the inputs of all ranks.
  virtual void multiply(Rows<const T> h, Rows<T> out);
  /// out (inputs) = A^T g, of the outputs of all ranks.
  virtual void multiply_transposed(Rows<const T> g, Rows<T> out);

  // For layers that weigh neighbours by themselves: the rows of A with the columns that gather_inputs() has, the rows
  // of A^T with the columns that gather_outputs() has, both ascending by node, and the nodes of these columns. What is
  // gathered stays until the next call of the same function. InputError from layouts that gather no rows.
  const Csr<T>& rows() const { return a_; }
  const Csr<T>& transposed_rows() const { return at_; }
  virtual Rows<const T> gather_inputs(Rows<const T> h) { return h; }
  virtual Rows<const T> gather_outputs(Rows<const T> g) { return g; }
  virtual std::int32_t heard(std::int64_t column) const { return name(nodes_, column); }
  virtual std::int32_t listener(std::int64_t column) const { return name(nodes_, column); }

  /// Said before each training step, on every rank: what rounding at random on the way depends on.
  virtual void begin_step(std::uint64_t /*seed*/, std::int64_t /*step*/) {}
  /// Bytes received from other ranks so far.
  virtual sparse::Words words() const { return {}; }
  /// Memory of the matrix, and of what comes from other ranks; of layouts by rows.
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

/// Collective. Of a square matrix of which rank r of p gives the rows [n r / p, n (r + 1) / p). Layouts rows and
/// needed_rows leave them there; every number is one sum in ascending order of the neighbour, whatever the number of
/// ranks. Others as core/sparse has them, up to rounding. InputError for numbers of ranks that do not fit.
template <class T>
std::unique_ptr<Spread<T>> make_spread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm);

}  // namespace cambium::graph
