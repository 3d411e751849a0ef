#include "core/train/kinds/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/error.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium::train {

constexpr std::align_val_t alignment{64};

void FlatBuffer::Free::operator()(std::byte* data) const {
  if (owned) ::operator delete[](data, alignment);
}

FlatBuffer FlatBuffer::on(const FlatLayout& layout, DType dtype, std::byte* data) {
  FlatBuffer view;
  view.layout_ = &layout;
  view.dtype_ = dtype;
  view.data_ = std::unique_ptr<std::byte[], Free>(data, Free{false});
  return view;
}

FlatBuffer::FlatBuffer(const FlatLayout& layout, DType dtype) : layout_(&layout), dtype_(dtype) {
  data_.reset(static_cast<std::byte*>(
      ::operator new[](static_cast<std::size_t>(std::max<std::int64_t>(bytes(), 64)), alignment)));
  zero();
}

std::vector<TensorRef> FlatBuffer::views() {
  std::vector<TensorRef> out;
  for (const auto& tensor : layout_->tensors()) {
    TensorRef view;
    view.data = data_.get() + tensor.offset * size_of(dtype_);
    view.dtype = dtype_;
    for (auto extent : tensor.info.shape) view.shape[view.rank++] = extent;
    for (std::int64_t stride = 1, k = view.rank - 1; k >= 0; stride *= view.shape[k--]) view.stride[k] = stride;
    out.push_back(view);
  }
  return out;
}

void FlatBuffer::zero() {
  constexpr std::int64_t enough = 65536;  // bytes
  in_shares(bytes(), enough, [this](std::int64_t first, std::int64_t last) {
    std::memset(data_.get() + first, 0, static_cast<std::size_t>(last - first));
  });
}

void FlatBuffer::copy_from(const FlatBuffer& other) {
  if (other.layout_ != layout_ || other.dtype_ != dtype_) throw InternalError("flat buffers of different shape");
  std::memcpy(data_.get(), other.data_.get(), static_cast<std::size_t>(bytes()));
}

namespace {

/// Eight running sums over at most 512 values: enough parallelism for any SIMD width, in a fixed order.
template <class T>
double block_sum(const T* x, std::int64_t n) {
  double sums[8] = {};
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int lane = 0; lane < 8; ++lane) {
      const double value = x[k + lane];
      sums[lane] += value * value;
    }
  for (int lane = 0; k < n; ++k, ++lane) sums[lane] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <class T>
double pairwise_sum(const T* x, std::int64_t n) {
  constexpr std::int64_t block = 512;
  if (n <= block) return block_sum(x, n);
  const std::int64_t half = (n / 2 + block - 1) / block * block;
  return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

}  // namespace

std::vector<double> squared_norms(const FlatBuffer& buffer) {
  std::vector<double> out(buffer.layout().tensors().size());
  with_real(buffer.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto x = buffer.values<T>(k);
      out[k] = pairwise_sum(x.data(), std::ssize(x));
    }
  });
  return out;
}

void scale(FlatBuffer& buffer, double factor) {
  with_real(buffer.dtype(), [&]<class T>() {
    const auto values = buffer.values<T>();
    constexpr std::int64_t enough = 16384;
    in_shares(std::ssize(values), enough, [&](std::int64_t first, std::int64_t last) {
      for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k)
        values[k] *= static_cast<T>(factor);
    });
  });
}

template <class T>
std::vector<T> packed(const FlatBuffer& buffer) {
  std::vector<T> out;
  for (std::size_t k = 0; k < buffer.layout().tensors().size(); ++k) {
    const auto values = buffer.values<T>(k);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

template <class T>
void unpack(std::span<const T> values, FlatBuffer& buffer) {
  std::size_t from = 0;
  for (std::size_t k = 0; k < buffer.layout().tensors().size(); ++k) {
    const auto target = buffer.values<T>(k);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), target.size(), target.begin());
    from += target.size();
  }
}

template std::vector<double> packed(const FlatBuffer&);
template std::vector<float> packed(const FlatBuffer&);
template std::vector<std::uint16_t> packed(const FlatBuffer&);
template void unpack(std::span<const double>, FlatBuffer&);
template void unpack(std::span<const float>, FlatBuffer&);
template void unpack(std::span<const std::uint16_t>, FlatBuffer&);

}  // namespace cambium::train
