#pragma once
#include "core/sparse/divided_product.hpp"
#include "core/sparse/row_exchange.hpp"
#include "plugins/graph/layers/spread.hpp"

namespace cambium::graph {

/// Aggregation with rows of nodes distributed over ranks. Before a product it fetches the remote rows that it needs (or
/// all, with `rows`) and orders them with the local ones by node, so that sums run in this order.
template <class T>
class RowSpread : public Spread<T> {
 public:
  RowSpread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm);

  Rows<const T> gather_inputs(Rows<const T> h) override { return inputs_side_.gather(h); }
  Rows<const T> gather_outputs(Rows<const T> g) override { return outputs_side_.gather(g); }
  std::int32_t heard(std::int64_t column) const override { return Spread<T>::name(inputs_side_.nodes, column); }
  std::int32_t listener(std::int64_t column) const override { return Spread<T>::name(outputs_side_.nodes, column); }
  void begin_step(std::uint64_t seed, std::int64_t step) override;
  sparse::Words words() const override;
  std::int64_t bytes() const override { return Spread<T>::bytes() + inputs_side_.bytes() + outputs_side_.bytes(); }

 private:
  /// Rows needed by one of the two products.
  struct Side {
    std::vector<std::int32_t> nodes;  ///< all local and fetched ones, ascending
    std::int64_t below = 0;           ///< of these, before the own ones
    std::unique_ptr<sparse::RowExchange<T>> exchange;
    std::vector<T> wanted, all;
    /// Renumbers the columns of own rows.
    void set(Csr<T>& own, std::span<const std::int64_t> first, const sparse::LayoutKeys& keys, const Comm& comm);
    Rows<const T> gather(Rows<const T> own);
    std::int64_t bytes() const {
      return 4 * std::ssize(nodes) + static_cast<std::int64_t>(sizeof(T)) * (std::ssize(wanted) + std::ssize(all)) +
             exchange->bytes();
    }
  };
  Side inputs_side_, outputs_side_;
};

/// Aggregation by the other layouts of core/sparse. Each rank with some columns of a row has the full row: columns are
/// split before a product and concatenated after it.
template <class T>
class ProductSpread : public Spread<T> {
 public:
  ProductSpread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm);

  sparse::Range counted() const override;
  bool by_rows() const override { return false; }
  void multiply(Rows<const T> h, Rows<T> out) override;
  void multiply_transposed(Rows<const T> g, Rows<T> out) override;
  Rows<const T> gather_inputs(Rows<const T> h) override;
  Rows<const T> gather_outputs(Rows<const T> g) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { product_->begin_step(seed, step); }
  sparse::Words words() const override { return product_->words(); }

 private:
  void apply(Rows<const T> from, Rows<T> to, bool transposed);
  std::unique_ptr<sparse::DividedProduct<T>> product_;
  std::vector<T> part_, result_;
};

}  // namespace cambium::graph
