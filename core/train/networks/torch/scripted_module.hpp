#pragma once
#include <torch/script.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cambium::train {

using NamedTensor = std::pair<std::string, torch::Tensor>;

/// An open PyTorch module, as saved by torch.jit.script(module).save(). Runs without the optimisations of TorchScript's
/// executor, which change rounding after the first calls.
class ScriptedModule {
 public:
  /// `bytes`: of the archive; `name` identifies it in messages. InputError if this LibTorch cannot open it.
  ScriptedModule(std::string name, const std::string& bytes);

  const std::string& name() const { return name_; }
  /// Names of required arguments of forward(), and the maximum number of arguments.
  const std::vector<std::string>& required() const { return required_; }
  std::size_t most_arguments() const { return most_; }

  /// Its parameters that require gradients, under their own names; train() and to() apply to the archive's module,
  /// whose integers keep their type.
  const std::shared_ptr<torch::nn::Module>& trainable() const { return trainable_; }
  /// Its buffers with their current values.
  std::vector<NamedTensor> buffers() const;

  /// Outputs of forward(): "output", the keys of a dictionary, or "output_1" and so on for a tuple or list. InputError
  /// with Torch's message if the program fails.
  std::vector<NamedTensor> forward(const std::vector<torch::Tensor>& inputs) const;
  /// Writes the archive with the current weights, in evaluation mode.
  void save(const std::string& path) const;

 private:
  std::string name_;
  torch::jit::Module script_;
  std::vector<std::string> required_;
  std::size_t most_ = 0;
  std::shared_ptr<torch::nn::Module> trainable_;
};

/// Bytes of an archive. InputError if the file does not exist or is not TorchScript.
std::string read_archive(const std::string& path);

}  // namespace cambium::train
