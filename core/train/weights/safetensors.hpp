#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// An array of a safetensors file, row-major.
struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// Arrays and metadata of a safetensors file (the format of Hugging Face: eight bytes with the length of a JSON header,
/// the header, the data).
struct Safetensors {
  DType dtype = DType::f32;  ///< of written arrays, f32 or f64
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Writes the file atomically.
void write_safetensors(const std::string& path, const Safetensors& content);
/// A safetensors file that is read tensor by tensor: F64, F32, F16, BF16, I64 and I32.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name, type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< offsets in bytes after the header
  };
  /// InputError for a file that is not safetensors, is truncated or has other types.
  explicit SafetensorsFile(std::string path);
  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Values in row-major order. InputError if reading fails.
  std::vector<double> numbers(const Entry& entry) const;

 private:
  std::string path_;
  std::uint64_t data_ = 0;  ///< offset in bytes of the data
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// Reads the entire file. InputError as SafetensorsFile.
Safetensors read_safetensors(const std::string& path);

/// A network's weights with PyTorch's names and layouts. `type`: of the network. Layers of an mlp are those of a
/// torch.nn.Sequential with an activation after each (layers.0.weight of shape (outputs, inputs), layers.0.bias,
/// layers.2.weight ...); other networks keep their names and shapes.
std::vector<StoredTensor> to_torch(const std::string& type, const FlatBuffer& weights);
/// The reverse, for the tensors of `layout` whose views, contiguous, have memory: one tensor at a time is copied.
/// InputError if a tensor is missing, has another shape, or values that are not finite.
void from_torch(const std::string& type, const SafetensorsFile& file, const FlatLayout& layout,
                std::span<const TensorRef> views);
/// Names of the file's tensors that from_torch() does not read.
std::vector<std::string> unused_tensors(const std::string& type, const SafetensorsFile& file, const FlatLayout& layout);

}  // namespace cambium::train
