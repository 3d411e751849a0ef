#pragma once
#include <functional>
#include <span>

#include "core/sparse/divided_product.hpp"

// Product of a layer of a graph network with dense matrices that are distributed like those of DividedProduct: weights
// are replicated and row-major, f_in x f_out. `h` and `out` are local parts, as for DividedProduct::apply(); `h_whole`,
// `g_whole` have all columns (DividedProduct::whole_rows()). With keys().ordered the order of all sums is independent
// of the number of ranks.
namespace cambium::sparse {

/// out = H W: this rank's columns of it.
template <class T>
void times_weights(const DividedProduct<T>& product, Rows<const T> h_whole, std::span<const T> weights, Rows<T> out);

/// out = G W^T: this rank's columns of it.
template <class T>
void times_transposed_weights(const DividedProduct<T>& product, Rows<const T> g_whole, std::span<const T> weights,
                              Rows<T> out);

/// Collective when ordered. Adds a contribution to `gradient` (f_in x f_out) such that the sum over all ranks grows by
/// H^T G; `h` is this rank's part of f_in columns. With ordered sums only the last rank's `gradient` changes.
template <class T>
void add_weight_gradient(const DividedProduct<T>& product, std::int64_t f_in, Rows<const T> h, Rows<const T> g_whole,
                         std::span<T> gradient);

/// The same for a bias of g's columns: `gradient` has all of them, `g` this rank's part.
template <class T>
void add_bias_gradient(const DividedProduct<T>& product, std::int64_t f_out, Rows<const T> g, std::span<T> gradient);

/// Collective. In place: every row of a matrix of `width` columns minus its log-sum-exp, also if its columns are
/// distributed over several ranks.
template <class T>
void log_softmax(DividedProduct<T>& product, std::int64_t width, Rows<T> z);

/// Collective when ordered. `add` adds this rank's contribution to the sums it is given. Not ordered: to `sums` of
/// every rank. Ordered: one rank after the other continues the sums of those before it, and the last rank's `sums` are
/// increased by the result, bitwise identical to that of one rank. Either way the sum of `sums` over ranks is the
/// total.
template <class V>
void add_in_turn(const Comm& comm, bool ordered, std::span<V> sums, const std::function<void(std::span<V>)>& add);

}  // namespace cambium::sparse
