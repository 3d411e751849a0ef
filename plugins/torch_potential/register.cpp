// The plugin has one type, which needs LibTorch: register_training.cpp adds it when a deck first names it.
namespace cambium {
class Registry;
}

namespace cambium::torch_potential {

void register_types(Registry& registry);

void register_types(Registry&) {}

}  // namespace cambium::torch_potential
