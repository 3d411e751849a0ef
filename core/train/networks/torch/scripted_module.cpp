#include "core/train/networks/torch/scripted_module.hpp"

#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "core/base/error.hpp"
#include "core/train/networks/torch/archive_words.hpp"

namespace cambium::train {

namespace {

void set_type(const torch::Tensor& tensor, torch::Dtype type) {
  if (tensor.is_floating_point() && tensor.scalar_type() != type)
    const_cast<torch::Tensor&>(tensor).set_data(torch::autograd::Variable(tensor).to(type));
}

/// Module tree with the archive's names, whose parameters are the archive's own tensors.
struct Tree : torch::nn::Module {
  explicit Tree(torch::jit::Module module) : script(std::move(module)) {}
  using torch::nn::Module::to;
  void train(bool on = true) override {
    torch::nn::Module::train(on);
    script.train(on);
  }
  void to(torch::Dtype type, bool /*non_blocking*/ = false) override {
    for (const auto& attribute : script.named_attributes()) {
      if (attribute.value.isTensor()) set_type(attribute.value.toTensor(), type);
      if (attribute.value.isTensorList())
        for (const torch::Tensor& tensor : attribute.value.toTensorVector()) set_type(tensor, type);
    }
  }
  torch::jit::Module script;  ///< a handle
};

/// Adds a parameter by its name, such as "layers.0.weight", creating the modules on its path.
void add_parameter(torch::nn::Module& root, const std::string& name, const torch::Tensor& value) {
  torch::nn::Module* at = &root;
  std::size_t from = 0;
  for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1) {
    const std::string step = name.substr(from, dot - from);
    const auto children = at->named_children();
    const auto* found = children.find(step);
    at = found ? found->get() : at->register_module(step, std::make_shared<torch::nn::Module>()).get();
  }
  at->register_parameter(name.substr(from), value, value.requires_grad());
}

std::vector<NamedTensor> tensors_of(const c10::IValue& answer, const std::string& archive) {
  if (answer.isTensor()) return {{"output", answer.toTensor()}};
  std::vector<NamedTensor> out;
  const auto number = [&](std::size_t k) { return fmt::format("output_{}", k + 1); };
  if (answer.isTuple()) {
    const auto& elements = answer.toTupleRef().elements();
    const auto schema = answer.type()->expectRef<c10::TupleType>().schema();
    for (std::size_t k = 0; k < elements.size(); ++k)
      if (elements[k].isTensor())
        out.emplace_back(schema ? schema->arguments()[k].name() : number(k), elements[k].toTensor());
  } else if (answer.isTensorList()) {
    for (const torch::Tensor& tensor : answer.toTensorVector()) out.emplace_back(number(out.size()), tensor);
  } else if (answer.isGenericDict()) {
    for (const auto& entry : answer.toGenericDict())
      if (entry.key().isString() && entry.value().isTensor())
        out.emplace_back(entry.key().toStringRef(), entry.value().toTensor());
  }
  if (out.empty())
    throw InputError(fmt::format("{}: forward gives {}; return a tensor, or a tuple, list or dictionary of tensors",
                                 archive, answer.type()->repr_str()));
  return out;
}

}  // namespace

std::string read_archive(const std::string& path) {
  require_torch_script(path);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

ScriptedModule::ScriptedModule(std::string name, const std::string& bytes) : name_(std::move(name)) {
  try {
    std::istringstream in(bytes);
    script_ = torch::jit::load(in, torch::kCPU);
  } catch (const std::exception& error) {
    refuse_archive(name_, error.what());
  }
  const auto method = script_.find_method("forward");
  if (!method)
    throw InputError(fmt::format(
        "{}: has no method forward; export a module with torch.jit.script(module).save(\"net.pt\")", name_));
  const auto& arguments = method->function().getSchema().arguments();
  for (const auto& argument : std::span(arguments).subspan(1)) {  // the first one is the module, whatever its name
    ++most_;
    if (!argument.default_value()) required_.push_back(argument.name());
  }
  auto tree = std::make_shared<Tree>(script_);
  std::set<const void*> seen;
  for (const auto& parameter : script_.named_parameters())
    if (parameter.value.requires_grad() && seen.insert(parameter.value.unsafeGetTensorImpl()).second)
      add_parameter(*tree, parameter.name, parameter.value);
  trainable_ = std::move(tree);
}

std::vector<NamedTensor> ScriptedModule::buffers() const {
  std::vector<NamedTensor> out;
  for (const auto& buffer : script_.named_buffers()) out.emplace_back(buffer.name, buffer.value);
  return out;
}

std::vector<NamedTensor> ScriptedModule::forward(const std::vector<torch::Tensor>& inputs) const {
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  c10::IValue answer;
  try {
    answer = script_.get_method("forward")({inputs.begin(), inputs.end()});
  } catch (const std::exception& error) {
    refuse_answer(name_, error.what());
  }
  return tensors_of(answer, name_);
}

void ScriptedModule::save(const std::string& path) const {
  torch::jit::Module handle = script_;
  const bool training = handle.is_training();
  handle.eval();
  handle.save(path);
  handle.train(training);
}

}  // namespace cambium::train
