// What a network sees of one slice of a pass.
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
  out.data = kept.held.data(), out.rank = 2, out.dtype = dtype_of<T>();
  out.shape[0] = pass_->requests_.bags(number_, table).size(), out.shape[1] = pass_->width(table);
  out.stride[0] = out.shape[1], out.stride[1] = 1;
  return out;
}

/// Adds the rows of every bag to `out`, zeros at first, its members in their order.
template <class T>
void TablePass<T>::Slice::add_up(std::size_t t, T* out) const {
  constexpr std::size_t ahead = 16;  // rows before the one that is added, memory is asked for it
  const std::int64_t width = pass_->width(t);
  const auto& where = pass_->requests_.where(number_, t);
  const T* got = pass_->got_.data();
  if (pass_->requests_.summed_there(t)) {
    for (std::size_t b = 0; b < where.size(); ++b)
      add(width, got + where[b], out + static_cast<std::int64_t>(b) * width);
    return;
  }
  const int table = static_cast<int>(t);
  std::size_t k = 0;
  pass_->requests_.for_members(number_, t, [&](std::int64_t bag, std::int64_t at) {
    if (k + ahead < where.size() && where[k + ahead] < 0) pass_->store_.ask_to_read(table, ~where[k + ahead]);
    ++k;
    if (at < 0)
      pass_->store_.add_row(table, ~at, out + bag * width);
    else
      add(width, got + at, out + bag * width);
  });
}

template <class T>
TensorRef TablePass<T>::Slice::pooled(int table) {
  const auto t = static_cast<std::size_t>(table);
  auto& out = pooled_[t];
  if (!out.there) {
    pass_->wait();
    out.held.assign(static_cast<std::size_t>(numbers_of(t)), T(0));
    add_up(t, out.held.data());
    out.there = true;
  }
  return view(out, t);
}

template <class T>
TensorRef TablePass<T>::Slice::gradient(int table) {
  const auto t = static_cast<std::size_t>(table);
  auto& out = gradient_[t];
  if (!out.there) out.held.assign(static_cast<std::size_t>(numbers_of(t)), T(0)), out.there = true;
  return view(out, t);
}

template <class T>
void TablePass<T>::Slice::ready() {
  if (--pass_->missing_ == 0) pass_->send_back();
}

template class TablePass<double>::Slice;
template class TablePass<float>::Slice;

}  // namespace cambium::train
