// A network's view of one slice of a pass.
#include <algorithm>

#include "core/train/tables/pass.hpp"

namespace cambium::train {

template <class T>
void TablePass<T>::Slice::begin() {
  for (auto* kept : {&pooled_, &gradient_})
    for (auto& one : *kept) one.there = false;
}

template <class T>
TensorRef TablePass<T>::Slice::view(Kept& kept, std::size_t table) const {
  TensorRef out;
  out.data = kept.held.data();
  out.rank = 2;
  out.dtype = dtype_of<T>();
  out.shape[0] = pass_->requests_.bags(number_, table).size();
  out.shape[1] = pass_->width(table);
  out.stride[0] = out.shape[1];
  out.stride[1] = 1;
  return out;
}

/// The sum of every bag, its members in order; or the sum computed by the owner.
template <class T>
void TablePass<T>::Slice::add_up(std::size_t t, T* out) const {
  const RowRequests& requests = pass_->requests_;
  const std::int64_t width = pass_->width(t);
  const auto& where = requests.where(number_, t);
  const T* got = pass_->got_.data();
  if (!requests.summed_there(t))
    return pass_->store_.sum_bags(static_cast<int>(t), requests.bags(number_, t).first, where, got, out);
  for (std::size_t b = 0; b < where.size(); ++b)
    std::copy_n(got + where[b], width, out + static_cast<std::int64_t>(b) * width);
}

template <class T>
TensorRef TablePass<T>::Slice::pooled(int table) {
  const auto t = static_cast<std::size_t>(table);
  auto& out = pooled_[t];
  if (!out.there) {
    pass_->wait();
    out.held.resize(numbers_of(t));
    add_up(t, out.held.data());
    out.there = true;
  }
  return view(out, t);
}

template <class T>
TensorRef TablePass<T>::Slice::gradient(int table) {
  const auto t = static_cast<std::size_t>(table);
  auto& out = gradient_[t];
  if (!out.there) {
    out.held.assign(numbers_of(t), T(0));
    out.there = true;
  }
  return view(out, t);
}

template <class T>
void TablePass<T>::Slice::ready() {
  if (--pass_->missing_ == 0) pass_->send_back();
}

template class TablePass<double>::Slice;
template class TablePass<float>::Slice;

}  // namespace cambium::train
