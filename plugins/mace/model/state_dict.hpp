#pragma once
#include <map>

#include "plugins/mace/model/model_parts.hpp"

namespace cambium::mace {

/// Parts of a model from a safetensors file of its state dict. What the modules of MACE and e3nn derive from their
/// arguments is derived from the shapes: degrees and channels, the kind of each interaction, the instructions and their
/// normalisation ("component" and "element", the defaults). The mean number of neighbours is no tensor in most versions
/// of MACE: then it is avg_num_neighbors of the metadata.
class StateDict final : public ModelParts {
 public:
  /// InputError when the file is no safetensors file or its tensors do not form a MACE model.
  explicit StateDict(const std::string& path);
  const std::string& path() const override { return path_; }
  bool has(const std::string& name) const override { return tensors_.count(name) > 0; }
  Tensor tensor(const std::string& name) const override;
  double real(const std::string& name) const override;
  bool flag(const std::string& name) const override { return has(name) && real(name) != 0.0; }
  std::string class_of(const std::string& name) const override;
  Irreps irreps(const std::string& name) const override;
  std::vector<Instruction> linear(const std::string& name) const override;
  std::vector<Instruction> product(const std::string& name, const std::string& mode) const override;
  double activation(const std::string& prefix) const override;

 private:
  bool has_below(const std::string& prefix) const;
  void refuse_unknown_parts() const;
  void add_mean_neighbours(const std::string& interaction, const std::string& metadata);
  void describe();
  /// Blocks of the results of interaction `k`, from its contractions; sets the highest degree of harmonics.
  Irreps results(int k, int channels);
  void describe_interaction(int k, const Irreps& before, const Irreps& after, int channels);
  void add_linear(const std::string& name, const Irreps& in, const Irreps& out);
  void add_skip(const std::string& name, const Irreps& in, const Irreps& out);
  void add_convolution(const std::string& name, const Irreps& in);

  std::string path_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> classes_;
  std::map<std::string, Irreps> irreps_;
  std::map<std::string, std::vector<Instruction>> instructions_;
  int species_ = 0, lmax_ = 0;
};

}  // namespace cambium::mace
