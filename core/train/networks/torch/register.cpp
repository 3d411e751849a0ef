#include "core/train/networks/torch/register.hpp"

#include "core/plugin/registry.hpp"
#include "core/train/networks/torch/conv_net.hpp"
#include "core/train/networks/torch/torch_script.hpp"

namespace cambium::train {

void register_torch(Registry& registry) {
  registry.set_plugin("core");
  registry.add<ConvNet>("conv_net", "small convolutional classifier of images (Torch)")
      .synonyms({"cnn", "convnet", "convolutional", "resnet", "vgg"});
  registry.add<TorchScript>("torch_script", "module of PyTorch, exported by torch.jit.script (Torch)")
      .synonyms({"pytorch", "torchscript", "torch", "jit", "module", "custom"});
}

}  // namespace cambium::train
