// Registers all types of this plugin that need LibTorch.
#include "core/plugin/registry.hpp"
#include "plugins/superres/networks/deepcam.hpp"
#include "plugins/superres/networks/flow_unet.hpp"
#include "plugins/superres/networks/meshfree_flow_net.hpp"

namespace cambium::superres {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry
      .add<MeshfreeFlowNet>("meshfree_flow_net",
                            "continuous space-time field from coarse samples, held to equations (Torch)")
      .synonyms({"mffn", "meshfree", "meshfreeflownet", "mesh_free_flow_net"});
  registry
      .add<FlowUnet>("flow_unet", "U-Net from coarse samples to a finer grid, the baseline without equations (Torch)")
      .synonyms({"unet", "u_net", "super_resolution", "superres"});
  registry.add<Deepcam>("deepcam", "plumes in images of convection, by an encoder and a decoder (Torch)")
      .synonyms({"segmentation", "deeplab", "deeplabv3plus", "encoder_decoder"});
}

}  // namespace cambium::superres
