// Has an ABI tag, but its author forgot CAMBIUM_PLUGIN(...).
#include "core/plugin/abi.hpp"

extern "C" const char* tag() { return cambium::abi_tag.text; }
