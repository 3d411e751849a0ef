#include "core/sparse/row_coder.hpp"

#include <algorithm>
#include <cstring>

#include "core/lowp/hadamard.hpp"

namespace cambium::sparse {

using Codec = lowp::WireCodec;

static std::int64_t padded(std::int64_t n) { return (n + lowp::wire_piece - 1) / lowp::wire_piece * lowp::wire_piece; }

template <class T>
std::int64_t RowCoder<T>::bytes(std::int64_t n) const {
  if (codec_ == Codec::none) return n * static_cast<std::int64_t>(sizeof(T));
  return lowp::message_bytes(codec_, padded(n));
}

template <class T>
void RowCoder<T>::encode(Rows<const T> rows, std::byte* out) {
  encode_rows(
      rows, rows.rows, [](std::int64_t i) { return i; }, out);
}

template <class T>
void RowCoder<T>::encode_some(Rows<const T> rows, std::span<const std::int32_t> which, std::byte* out) {
  encode_rows(
      rows, std::ssize(which), [&](std::int64_t i) { return which[i]; }, out);
}

/// Rows row_of(0), ..., row_of(n - 1).
template <class T>
template <class F>
void RowCoder<T>::encode_rows(Rows<const T> rows, std::int64_t n, F&& row_of, std::byte* out) {
  const auto width = static_cast<std::size_t>(rows.width);
  if (n == 0 || width == 0) return;
  if (codec_ == Codec::none) {
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(out + static_cast<std::size_t>(i) * width * sizeof(T), rows.row(row_of(i)), width * sizeof(T));
    return;
  }
  numbers_.assign(padded(n * rows.width), 0.0F);
  for (std::int64_t i = 0; i < n; ++i) {
    const T* row = rows.row(row_of(i));
    std::transform(row, row + width, numbers_.begin() + i * rows.width, [](T x) { return static_cast<float>(x); });
  }
  encode_numbers(out);
}

template <class T>
void RowCoder<T>::encode_numbers(std::byte* out) {
  if (codec_ == Codec::int4) lowp::randomised_hadamard(numbers_);
  // Tensor indices of weights are below 2^23; messages use the upper half, up to 2^24.
  const std::uint64_t message = messages_++ * static_cast<std::uint64_t>(ranks_) + static_cast<std::uint64_t>(rank_);
  const lowp::RoundingAddress address{seed_, (1U << 23) + message % (1U << 23), static_cast<std::uint64_t>(step_), 0};
  const auto bytes = static_cast<std::size_t>(lowp::message_bytes(codec_, std::ssize(numbers_)));
  lowp::encode_message(codec_, numbers_, address, {out, bytes});
}

template <class T>
void RowCoder<T>::decode(const std::byte* in, Rows<T> rows) const {
  const auto width = static_cast<std::size_t>(rows.width);
  if (rows.rows == 0 || width == 0) return;
  if (codec_ == Codec::none) {
    for (std::int64_t i = 0; i < rows.rows; ++i)
      std::memcpy(rows.row(i), in + static_cast<std::size_t>(i) * width * sizeof(T), width * sizeof(T));
    return;
  }
  numbers_.resize(padded(rows.rows * rows.width));
  lowp::decode_message(codec_, {in, static_cast<std::size_t>(bytes(rows.rows * rows.width))}, numbers_);
  if (codec_ == Codec::int4) lowp::inverse_randomised_hadamard(numbers_);
  for (std::int64_t i = 0; i < rows.rows; ++i) std::copy_n(numbers_.begin() + i * rows.width, width, rows.row(i));
}

template class RowCoder<double>;
template class RowCoder<float>;

}  // namespace cambium::sparse
