#pragma once
#include "core/plugin/command.hpp"

namespace cambium {
class Registry;
}

namespace cambium::train {

/// `cambium plan DECK --machine FILE --ranks N,M`: memory, bytes and time of a train stage on another computer.
Command plan_command(Registry& registry);

}  // namespace cambium::train
