#include "core/train/weights/device_buffer.hpp"

#include "core/parallel/kokkos.hpp"

namespace cambium::train {

struct DeviceBuffer::Memory {
  const FlatLayout* layout;
  DType dtype;
  View<char*> bytes;
};

DeviceBuffer::DeviceBuffer() = default;
DeviceBuffer::~DeviceBuffer() = default;
DeviceBuffer::DeviceBuffer(DeviceBuffer&&) noexcept = default;
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&&) noexcept = default;

DeviceBuffer::DeviceBuffer(const std::string& label, const FlatLayout& layout, DType dtype)
    : memory_(std::make_unique<Memory>()) {
  memory_->layout = &layout;
  memory_->dtype = dtype;
  memory_->bytes = View<char*>(label, static_cast<std::size_t>(layout.size() * size_of(dtype)));
}

void* DeviceBuffer::data() const { return memory_ ? memory_->bytes.data() : nullptr; }

std::vector<TensorRef> DeviceBuffer::views() const {
  auto out = FlatBuffer::on(*memory_->layout, memory_->dtype, static_cast<std::byte*>(data())).views();
  for (auto& view : out) view.space = Space::device;
  return out;
}

static char* bytes_of(FlatBuffer& host) {
  return host.dtype() == DType::f64 ? reinterpret_cast<char*>(host.values<double>().data())
                                    : reinterpret_cast<char*>(host.values<float>().data());
}

void DeviceBuffer::bring(const FlatBuffer& host) {
  FlatBuffer view = host.view();
  Kokkos::deep_copy(
      ExecSpace(), memory_->bytes,
      Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(bytes_of(view), memory_->bytes.extent(0)));
  ExecSpace().fence();  // the host memory belongs to the caller
}

void DeviceBuffer::fetch(FlatBuffer& host) const {
  Kokkos::deep_copy(
      ExecSpace(),
      Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(bytes_of(host), memory_->bytes.extent(0)),
      memory_->bytes);
  ExecSpace().fence();
}

FlatBuffer DeviceBuffer::fetched() const {
  if (!memory_) return {};
  FlatBuffer out(*memory_->layout, memory_->dtype);
  fetch(out);
  return out;
}

void DeviceBuffer::copy_from(const DeviceBuffer& other) {
  Kokkos::deep_copy(ExecSpace(), memory_->bytes, other.memory_->bytes);
}

void DeviceBuffer::zero() { Kokkos::deep_copy(ExecSpace(), memory_->bytes, char{0}); }

}  // namespace cambium::train
