#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Device counterpart of FlatBuffer, initially zero. The layout must outlive it. Empty if default-constructed.
class DeviceBuffer {
 public:
  DeviceBuffer();
  /// `label` identifies it in the statistics of copies.
  DeviceBuffer(const std::string& label, const FlatLayout& layout, DType dtype);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&&) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) noexcept;

  explicit operator bool() const { return memory_ != nullptr; }
  void* data() const;
  /// Like FlatBuffer::views(), for device memory.
  std::vector<TensorRef> views() const;

  void bring(const FlatBuffer& host);
  /// Waits for preceding kernels and the copy to the host.
  void fetch(FlatBuffer& host) const;
  FlatBuffer fetched() const;  ///< empty if this is empty
  void copy_from(const DeviceBuffer& other);
  void zero();

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace cambium::train
