#pragma once

namespace cambium {
class Registry;
}

namespace cambium::graph {

/// Registers the layouts of core/sparse for decks.
void register_layouts(Registry& registry);

}  // namespace cambium::graph
