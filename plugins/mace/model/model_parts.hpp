#pragma once
#include <string>
#include <vector>

#include "plugins/mace/archive/model_archive.hpp"
#include "plugins/mace/model/irreps.hpp"

namespace cambium::mace {

/// One block of a linear map or product: indices of the blocks of the input, of the other factor and of the result, and
/// the normalisation.
struct Instruction {
  int in = 0, other = 0, out = 0;
  double factor = 0.0;
};

/// Tensors and structure of a model by the names of its Python modules, independent of the kind of file. InputError for
/// a part that is missing or cannot be read.
class ModelParts {
 public:
  virtual ~ModelParts() = default;
  virtual const std::string& path() const = 0;
  virtual bool has(const std::string& name) const = 0;
  virtual Tensor tensor(const std::string& name) const = 0;
  virtual double real(const std::string& name) const = 0;  ///< a number, or a tensor of one element
  virtual bool flag(const std::string& name) const = 0;    ///< false if absent
  virtual std::string class_of(const std::string& name) const = 0;
  virtual Irreps irreps(const std::string& name) const = 0;
  virtual std::vector<Instruction> linear(const std::string& name) const = 0;  ///< of an e3nn Linear
  /// Instructions of an e3nn TensorProduct; `mode`: uvu or uvw, otherwise InputError.
  virtual std::vector<Instruction> product(const std::string& name, const std::string& mode) const = 0;
  /// Factor of SiLU that e3nn estimated from samples.
  virtual double activation(const std::string& prefix) const = 0;
};

/// Throws the InputError for a part whose sizes are inconsistent with others.
[[noreturn]] void misfit(const ModelParts& parts, const std::string& name);

}  // namespace cambium::mace
