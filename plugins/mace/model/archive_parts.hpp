#pragma once
#include "plugins/mace/model/model_parts.hpp"

namespace cambium::mace {

/// Parts of a model as described by a PyTorch archive.
class ArchiveParts final : public ModelParts {
 public:
  explicit ArchiveParts(const ModelArchive& archive) : archive_(archive) {}
  const std::string& path() const override { return archive_.path(); }
  bool has(const std::string& name) const override { return archive_.has(name); }
  Tensor tensor(const std::string& name) const override { return archive_.tensor(name); }
  double real(const std::string& name) const override { return archive_.real(name); }
  bool flag(const std::string& name) const override { return archive_.flag(name); }
  std::string class_of(const std::string& name) const override { return archive_.class_of(name); }
  /// Irreps of the attribute `name`: tuples (channels, (degree, parity)).
  Irreps irreps(const std::string& name) const override;
  std::vector<Instruction> linear(const std::string& name) const override;
  std::vector<Instruction> product(const std::string& name, const std::string& mode) const override;
  /// Stored in the constants of TorchScript, or next to the activation.
  double activation(const std::string& prefix) const override;

 private:
  int index(const PickleValue& value, const std::string& name) const;

  const ModelArchive& archive_;
};

}  // namespace cambium::mace
