// Built with the headers of a Cambium whose descriptor was shorter.
#include "core/plugin/abi.hpp"

struct Shorter {
  std::uint32_t struct_size;
  const char* abi;
};
extern "C" {
extern const Shorter cambium_plugin;
const Shorter cambium_plugin = {sizeof(Shorter), cambium::abi_tag.text};
}
