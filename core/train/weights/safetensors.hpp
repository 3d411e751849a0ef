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

/// Arrays and texts of a safetensors file (the format of Hugging Face: eight bytes with the length of a JSON header,
/// the header, the numbers).
struct Safetensors {
  DType dtype = DType::f32;  ///< of what is written, f32 or f64
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Complete or not at all.
void write_safetensors(const std::string& path, const Safetensors& content);
/// A safetensors file whose numbers are read tensor by tensor: F64, F32, F16, BF16, I64 and I32.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name, type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes behind the header
  };
  /// InputError for a file that is none, is cut short or holds other types.
  explicit SafetensorsFile(std::string path);
  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Row-major. InputError when the file cannot be read any more.
  std::vector<double> numbers(const Entry& entry) const;

 private:
  std::string path_;
  std::uint64_t data_ = 0;  ///< byte at which the numbers begin
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// The whole file. InputError as SafetensorsFile.
Safetensors read_safetensors(const std::string& path);

/// A network's weights as PyTorch names and lays them out. `type`: of the network. Layers of an mlp are those of a
/// torch.nn.Sequential with an activation behind each (layers.0.weight of shape (outputs, inputs), layers.0.bias,
/// layers.2.weight ...); other networks keep their names and shapes.
std::vector<StoredTensor> to_torch(const std::string& type, const FlatBuffer& weights);
/// The reverse, for the tensors of `layout` whose views, contiguous, have memory: one of them is held a second time.
/// InputError when a tensor is missing or has another shape.
void from_torch(const std::string& type, const SafetensorsFile& file, const FlatLayout& layout,
                std::span<const TensorRef> views);

}  // namespace cambium::train
