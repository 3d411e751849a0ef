#include "plugins/graph/register_layouts.hpp"

#include "core/plugin/registry.hpp"
#include "core/sparse/layout.hpp"

namespace cambium::graph {

void register_layouts(Registry& registry) {
  registry
      .add<sparse::RowsLayout>("rows",
                               "rows of nodes on every rank; all rows of the others are received, range by range")
      .synonyms({"1d", "rows_1d", "broadcast"});
  registry
      .add<sparse::NeededRowsLayout>(
          "needed_rows", "rows of nodes on every rank; only rows that its edges need are received from others")
      .synonyms({"1d", "halo", "ghosts", "ghost_rows", "sparsity_aware"});
  registry
      .add<sparse::CopiedRowsLayout>("rows_1_5d",
                                     "rows of nodes, replicated on several ranks that split the work of a product")
      .synonyms({"1.5d", "replicated", "rows_1.5d"});
  registry.add<sparse::Grid2dLayout>("grid_2d", "blocks of nodes and features on a square of ranks (SUMMA)")
      .synonyms({"2d", "summa"});
  registry
      .add<sparse::Grid3dLayout>(
          "grid_3d", "blocks of nodes and features on layers of squares that split the work of a product (Split-3D)")
      .synonyms({"3d", "split_3d"});
}

}  // namespace cambium::graph
