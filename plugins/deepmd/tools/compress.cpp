#include <fmt/format.h>

#include "plugins/deepmd/model/table.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

std::string compress_model(const CompressOptions& options) {
  DeepPotentialModel model = DeepPotentialModel::load(options.model);
  const double r_min = options.r_min > 0.0 ? options.r_min : default_table_r_min(model);
  model.tables = tabulate_networks(model, options.tolerance, r_min);
  const TableReport report = upload_tables<double>(model, model.tables).report;
  ModelTree tree = model.to_tree();
  if (const auto& before = load_model_tree(options.model).root; before.contains("max_nbor_size"))
    tree.root["max_nbor_size"] = before["max_nbor_size"];
  save_model_tree(tree, options.output);
  return fmt::format("{} -> {}: {}\n", options.model, options.output, report.summary());
}

}  // namespace cambium::deepmd
