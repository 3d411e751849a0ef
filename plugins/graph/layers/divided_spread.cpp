#include "plugins/graph/layers/divided_spread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/sparse/entries.hpp"

namespace cambium::graph {

template <class T>
void RowSpread<T>::Side::set(Csr<T>& own, std::span<const std::int64_t> first, const sparse::LayoutKeys& keys,
                             const Comm& comm) {
  const auto begin = first[at(comm.rank())], end = first[at(comm.rank()) + 1], n = own.columns;
  const sparse::Range mine{begin, end};
  std::vector<bool> here(at(n), keys.scheme == sparse::Scheme::rows);  // temporary, a bit for each node
  for (const auto column : own.column) here[at(column)] = true;
  std::vector<std::int32_t> others;
  for (std::int32_t k = 0; k < n; ++k) {
    if (!here[at(k)] && !mine.holds(k)) continue;
    nodes.push_back(k);
    if (mine.holds(k)) continue;
    others.push_back(k);
    below += k < begin;
  }
  const auto number = [&](std::int32_t node) {
    if (mine.holds(node)) return static_cast<std::int32_t>(below + node - begin);
    return static_cast<std::int32_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (auto& column : own.column) column = number(column);
  own.columns = std::ssize(nodes);
  exchange = std::make_unique<sparse::RowExchange<T>>(first, others, keys.codec, comm);
}

template <class T>
Rows<const T> RowSpread<T>::Side::gather(Rows<const T> own) {
  const std::int64_t width = own.width, others = exchange->wanted_rows();
  wanted.resize(at(others * width));
  all.resize(at(std::ssize(nodes) * width));
  exchange->begin(own, {wanted.data(), others, width, width});
  T* to = all.data() + below * width;
  for (std::int64_t i = 0; i < own.rows; ++i) to = std::copy_n(own.row(i), width, to);
  exchange->finish();
  std::copy_n(wanted.data(), below * width, all.data());
  std::copy(wanted.data() + below * width, wanted.data() + others * width, to);
  return {all.data(), std::ssize(nodes), width, width};
}

template <class T>
RowSpread<T>::RowSpread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm) {
  const auto first = sparse::equal_ranges(own.columns, comm.size());
  const auto begin = first[at(comm.rank())], end = first[at(comm.rank()) + 1];
  this->a_ = sparse::converted<T>(own);
  this->at_ = sparse::converted<T>(sparse::transposed_rows(own, first, comm));
  this->first_ = begin;
  this->inputs_ = this->outputs_ = end - begin;
  inputs_side_.set(this->a_, first, keys, comm);
  outputs_side_.set(this->at_, first, keys, comm);
}

template <class T>
void RowSpread<T>::begin_step(std::uint64_t seed, std::int64_t step) {
  inputs_side_.exchange->begin_step(seed, step);
  outputs_side_.exchange->begin_step(seed, step);
}

template <class T>
sparse::Words RowSpread<T>::words() const {
  auto out = inputs_side_.exchange->words();
  return out += outputs_side_.exchange->words();
}

template <class T>
ProductSpread<T>::ProductSpread(const Csr<double>& own, const sparse::LayoutKeys& keys, const Comm& comm) {
  const auto first = sparse::equal_ranges(own.columns, comm.size());
  product_ = sparse::make_product<T>(own, first, keys, comm);
  const auto rows = product_->share().rows;
  this->first_ = rows.begin;
  this->inputs_ = this->outputs_ = rows.size();
}

/// Ranks with parts of the same rows split the rows among them.
template <class T>
sparse::Range ProductSpread<T>::counted() const {
  const auto share = product_->share();
  const auto own = share.counted();
  return {own.begin - share.rows.begin + own.size() * share.part / share.parts,
          own.begin - share.rows.begin + own.size() * (share.part + 1) / share.parts};
}

template <class T>
void ProductSpread<T>::apply(Rows<const T> from, Rows<T> to, bool transposed) {
  const auto columns = product_->share().columns(from.width);
  const std::int64_t width = columns.size();
  part_.resize(at(from.rows * width));
  result_.resize(at(to.rows * width));
  for (std::int64_t i = 0; i < from.rows; ++i)
    std::copy_n(from.row(i) + columns.begin, width, part_.data() + i * width);
  const Rows<const T> part{part_.data(), from.rows, width, width};
  const Rows<T> result{result_.data(), to.rows, width, width};
  if (transposed)
    product_->apply_transposed(from.width, part, result);
  else
    product_->apply(from.width, part, result);
  const auto all = product_->whole_rows(from.width, result);
  for (std::int64_t i = 0; i < to.rows; ++i) std::copy_n(all.row(i), to.width, to.row(i));
}

template <class T>
void ProductSpread<T>::multiply(Rows<const T> h, Rows<T> out) {
  apply(h, out, false);
}

template <class T>
void ProductSpread<T>::multiply_transposed(Rows<const T> g, Rows<T> out) {
  apply(g, out, true);
}

template <class T>
Rows<const T> ProductSpread<T>::gather_inputs(Rows<const T>) {
  throw InputError(
      fmt::format("graph_attention weighs neighbours by itself, for which the layout {} brings no rows; take rows or "
                  "needed_rows",
                  sparse::name_of(product_->keys().scheme)));
}

template <class T>
Rows<const T> ProductSpread<T>::gather_outputs(Rows<const T> g) {
  return gather_inputs(g);
}

template class RowSpread<float>;
template class RowSpread<double>;
template class ProductSpread<float>;
template class ProductSpread<double>;

}  // namespace cambium::graph
