#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/zip_file.hpp"
#include "plugins/mace/archive/pickle.hpp"

namespace cambium::mace {

/// An array of a model, in row-major order, independent of its strides and type in the file.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// Modules, tensors and attributes of a PyTorch archive (TorchScript, or torch.save of a module), as data: a value has
/// the path that Python would use, "interactions.0.linear_up.weight". No code of the archive is executed.
class ModelArchive {
 public:
  /// InputError when the file is no PyTorch archive, is damaged, or was written on a big-endian machine.
  explicit ModelArchive(const std::string& path);

  const std::string& path() const { return zip_.path(); }
  bool has(const std::string& name) const { return entries_.count(name) > 0; }
  /// InputError when there is no such value.
  const PickleValue& value(const std::string& name) const;
  /// InputError when there is no such tensor, its storage is truncated, or its type is none of float64, float32, int64,
  /// int32 and bool.
  Tensor tensor(const std::string& name) const;
  double real(const std::string& name) const;  ///< a number, or a tensor of one element
  bool flag(const std::string& name) const;    ///< false if absent
  /// Class name of a module, without its package; empty when there is no such module.
  std::string class_of(const std::string& name) const;
  /// Finds the path of the first module of one of these classes, followed by a dot unless it is the root; false if
  /// none.
  bool find_class(const std::vector<std::string>& classes, std::string& prefix) const;
  /// Numeric constants stored with TorchScript code.
  std::vector<double> constants() const;

 private:
  void flatten(const PickleValue& value, const std::string& name, int depth);
  Tensor read_tensor(const PickleValue& value, const std::string& folder, const std::string& name) const;

  bool has_member(const std::string& name) const { return zip_.has(folder_ + name); }
  std::string_view member(const std::string& name) const { return zip_.read(folder_ + name); }

  io::ZipFile zip_;
  std::string folder_;  ///< the archive's first folder, which PyTorch names after the file
  std::unique_ptr<Pickle> pickle_;
  std::map<std::string, const PickleValue*> entries_;
};

/// Elements of a list, a tuple, or an object that wraps one (a type tag, a named tuple).
const std::vector<PickleValue*>& elements(const PickleValue& value);
double number(const PickleValue& value);  ///< of an integer, a boolean or a real; InputError otherwise

}  // namespace cambium::mace
