#include "core/train/networks/torch/keeper.hpp"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace cambium::train {

namespace ag = torch::autograd;

namespace {

/// Keepers of the pass on this thread; Torch requests hooks without context.
thread_local std::vector<Keeper*> keepers;

/// One saved tensor: Torch passes it, drops its own reference, and requests it once more in the backward pass.
class SavedHook : public ag::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    sizes_ = tensor.sizes().vec();
    for (Keeper* keeper : keepers)
      if ((again_ = keeper->keep(tensor))) return;
    kept_ = tensor;
  }
  at::Tensor call_unpack_hook() override {
    if (!again_) return kept_;
    const at::Tensor found = again_();
    return found.sizes() == sizes_ ? found : found.view(sizes_);
  }

 private:
  std::vector<std::int64_t> sizes_;
  Keeper::Again again_;
  at::Tensor kept_;
};

/// Torch's own engine, which also installs our hooks on saved tensors.
class HookEngine : public ag::Engine {
 public:
  std::unique_ptr<ag::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return keepers.empty() ? nullptr : std::make_unique<SavedHook>();
  }
  ~HookEngine() override { stop(); }
};

ag::Engine& hook_engine() {
  static HookEngine engine;  // Torch supports one engine per process
  return engine;
}

}  // namespace

Keeping::Keeping(Keeper& keeper) {
  ag::set_default_engine_stub(hook_engine);
  keepers.push_back(&keeper);
}

Keeping::~Keeping() { keepers.pop_back(); }

}  // namespace cambium::train
