#pragma once
#include <cstdint>
#include <map>
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
/// Numbers of F64, F32, F16, BF16, I64 and I32. InputError for a file that is none, is cut short or holds other types.
Safetensors read_safetensors(const std::string& path);

/// A network's weights as PyTorch names and lays them out. `type`: of the network. Layers of an mlp are those of a
/// torch.nn.Sequential with an activation behind each (layers.0.weight of shape (outputs, inputs), layers.0.bias,
/// layers.2.weight ...); other networks keep their names and shapes.
std::vector<StoredTensor> to_torch(const std::string& type, const FlatBuffer& weights);
/// The reverse. InputError when a tensor is missing or has another shape; `file` names the file in it.
void from_torch(const std::string& type, const Safetensors& content, const std::string& file, FlatBuffer& weights);

}  // namespace cambium::train
