#pragma once

namespace cambium {
class Registry;
}

namespace cambium::graph {

/// Adds the layouts of core/sparse to what decks can name.
void register_layouts(Registry& registry);

}  // namespace cambium::graph
