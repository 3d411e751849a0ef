#pragma once
#include <torch/script.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cambium::train {

using NamedTensor = std::pair<std::string, torch::Tensor>;

/// A module of PyTorch as torch.jit.script(module).save() wrote it, open. Its program is run without the optimizations
/// of TorchScript's executor, which change roundings after the first calls.
class ScriptedModule {
 public:
  /// `bytes`: of the archive; `name` stands for it in messages. InputError for what this LibTorch cannot open.
  ScriptedModule(std::string name, const std::string& bytes);

  const std::string& name() const { return name_; }
  /// Names of what forward() must be given, and how many arguments it takes at most.
  const std::vector<std::string>& required() const { return required_; }
  std::size_t most_arguments() const { return most_; }

  /// Its parameters that want a gradient, under their own names; train() and to() reach the archive's module, whose
  /// integers keep their type.
  const std::shared_ptr<torch::nn::Module>& trainable() const { return trainable_; }
  /// Its buffers, as they are now.
  std::vector<NamedTensor> buffers() const;

  /// Tensors of what forward() gives: "output", or the keys of a dictionary, or "output_1" and so on of a tuple or
  /// list. InputError with Torch's sentence when the program fails.
  std::vector<NamedTensor> forward(const std::vector<torch::Tensor>& inputs) const;
  /// Writes the archive with the weights of now, set to evaluation.
  void save(const std::string& path) const;

 private:
  std::string name_;
  torch::jit::Module script_;
  std::vector<std::string> required_;
  std::size_t most_ = 0;
  std::shared_ptr<torch::nn::Module> trainable_;
};

/// The bytes of an archive. InputError when there is no such file, or it is none of TorchScript.
std::string read_archive(const std::string& path);

}  // namespace cambium::train
