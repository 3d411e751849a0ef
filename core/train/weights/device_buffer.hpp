#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// A FlatBuffer's like in the memory of the kernels, zeros at first. The layout must outlive it. Empty where it was
/// made of nothing.
class DeviceBuffer {
 public:
  DeviceBuffer();
  /// `label` names it where copies are counted.
  DeviceBuffer(const std::string& label, const FlatLayout& layout, DType dtype);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&&) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) noexcept;

  explicit operator bool() const { return memory_ != nullptr; }
  void* data() const;
  /// As FlatBuffer::views(), of the device.
  std::vector<TensorRef> views() const;

  void bring(const FlatBuffer& host);
  /// Waits for the kernels before, and comes back when the host may read.
  void fetch(FlatBuffer& host) const;
  FlatBuffer fetched() const;  ///< empty of an empty one
  void copy_from(const DeviceBuffer& other);
  void zero();

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace cambium::train
