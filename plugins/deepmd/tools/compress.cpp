#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/table.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

std::string compress_model(const CompressOptions& options) {
  DeepPotentialModel model = DeepPotentialModel::load(options.model);
  if (is_known_by_species(model)) model = by_species(model);
  const double r_min = options.r_min > 0.0 ? options.r_min : default_table_r_min(model);
  TableReport report;
  for (DeepPotentialModel& part : model.descriptors()) {
    if (part.descriptor == DeepPotentialModel::Descriptor::se_e3 || !part.type_embedding.layers.empty()) continue;
    part.tables = tabulate_networks(part, options.tolerance, r_min);
    report.add(upload_tables<double>(part, part.tables).report);
  }
  if (report.intervals == 0)
    throw InputError(fmt::format("{}: tables of {} are not written to files; give compress: {:g} to the potential",
                                 options.model, model.name_of(model.descriptors().front().descriptor),
                                 options.tolerance));
  ModelTree tree = model.to_tree();
  if (const auto& before = load_model_tree(options.model).root; before.contains("max_nbor_size"))
    tree.root["max_nbor_size"] = before["max_nbor_size"];
  save_model_tree(tree, options.output);
  return fmt::format("{} -> {}: {}\n", options.model, options.output, report.summary());
}

}  // namespace cambium::deepmd
