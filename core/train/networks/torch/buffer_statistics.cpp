#include "core/train/networks/torch/buffer_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::train {

BufferStatistics::BufferStatistics(const ScriptedModule& module, std::vector<std::string> names)
    : module_(&module), names_(std::move(names)) {
  std::size_t end = 0;
  for (const auto& [name, tensor] : module.buffers())
    if (std::find(names_.begin(), names_.end(), name) != names_.end())
      ends_.push_back(end += static_cast<std::size_t>(tensor.numel()));
  current_ = read();
}

std::vector<double> BufferStatistics::read() const {
  std::vector<double> out;
  for (const auto& [name, tensor] : module_->buffers()) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) continue;
    const auto flat = tensor.detach().to(torch::kFloat64).contiguous().view({-1});
    out.insert(out.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }
  return out;
}

void BufferStatistics::write(const std::vector<double>& numbers) const {
  const torch::NoGradGuard no_graph;
  std::size_t at = 0;
  for (auto& [name, tensor] : module_->buffers()) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) continue;
    tensor.copy_(torch::from_blob(const_cast<double*>(numbers.data()) + at, tensor.sizes(), torch::kFloat64));
    at += static_cast<std::size_t>(tensor.numel());
  }
}

KeptNumbers BufferStatistics::numbers() const {
  KeptNumbers out;
  for (std::size_t k = 0, at = 0; k < names_.size(); at = ends_[k++])
    out[names_[k]].assign(current_.begin() + static_cast<std::ptrdiff_t>(at),
                          current_.begin() + static_cast<std::ptrdiff_t>(ends_[k]));
  return out;
}

void BufferStatistics::set(const KeptNumbers& numbers) {
  for (std::size_t k = 0, at = 0; k < names_.size(); at = ends_[k++]) {
    const auto found = numbers.find(names_[k]);
    if (found == numbers.end() || found->second.size() != ends_[k] - at)
      throw InputError(fmt::format("the model has no values for the buffer '{}' of {}; take one of the same module",
                                   names_[k], module_->name()));
    std::copy(found->second.begin(), found->second.end(), current_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  show();
}

void BufferStatistics::begin() {
  passes_.clear();
  samples_ = pending_ = 0;
}

void BufferStatistics::collect() {
  if (pending_ > 0) {
    passes_.push_back(read());
    for (double& number : passes_.back()) number *= static_cast<double>(pending_);
    samples_ += pending_;
  }
  pending_ = 0;
}

void BufferStatistics::before_pass(std::int64_t samples) {
  if (none()) return;
  collect();
  write(current_);
  pending_ = samples;
}

void BufferStatistics::show() {
  if (none()) return;
  collect();
  write(current_);
}

void BufferStatistics::end(const Comm& comm) {
  if (none()) return;
  collect();
  const std::int64_t samples = comm.sum(samples_);
  if (samples > 0) current_ = exact_mean(passes_, samples, current_.size(), comm);
  begin();
  write(current_);
}

std::vector<double> exact_mean(const std::vector<std::vector<double>>& weighted, std::int64_t samples, std::size_t size,
                               const Comm& comm) {
  constexpr int mantissa = std::numeric_limits<double>::digits - 1;
  std::vector<double> largest(size + 1, 0.0), sum(size, 0.0);
  for (const auto& pass : weighted)
    for (std::size_t k = 0; k < size; ++k) {
      const double magnitude = std::abs(pass[k]);
      // A maximum over ranks may lose NaN, but not infinity.
      largest[k] = std::isfinite(magnitude) ? std::max(largest[k], magnitude) : std::numeric_limits<double>::infinity();
    }
  comm.max(std::span(largest));
  const std::int64_t passes = comm.sum(static_cast<std::int64_t>(weighted.size()));
  const int bits = mantissa - static_cast<int>(std::ceil(std::log2(static_cast<double>(passes))));
  std::vector<int> shift(size, 0);
  for (std::size_t k = 0; k < size; ++k)
    if (std::isfinite(largest[k]) && largest[k] > 0.0) shift[k] = bits - 1 - std::ilogb(largest[k]);
  for (const auto& pass : weighted)
    for (std::size_t k = 0; k < size; ++k)
      if (std::isfinite(largest[k])) sum[k] += std::rint(std::ldexp(pass[k], shift[k]));
  comm.sum(std::span(sum));
  for (std::size_t k = 0; k < size; ++k)
    sum[k] = std::isfinite(largest[k]) ? std::ldexp(sum[k], -shift[k]) / static_cast<double>(samples)
                                       : std::numeric_limits<double>::quiet_NaN();
  return sum;
}

}  // namespace cambium::train
