// Registers everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/podlstm/datasets/forecast_windows.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"
#include "plugins/podlstm/tasks/forecast.hpp"
#include "plugins/podlstm/tasks/pod.hpp"
#include "plugins/podlstm/tasks/search.hpp"
#include "plugins/podlstm/tasks/synthetic_field.hpp"

namespace cambium::podlstm {

void register_types(Registry& registry) {
  registry.add<SyntheticField>("synthetic_field", "synthetic sea-surface temperature, for decks without data");
  registry
      .add<ForecastTask>(
          "forecast",
          "linear forecasts of coefficients in one table, ensembles by a linear inverse model (LIM), forecasts ahead")
      .synonyms({"predict", "prediction", "forecasts", "lim", "linear_inverse_model"});
  registry.add<PodTask>("pod", "proper orthogonal decomposition (EOF analysis) of a field over time")
      .synonyms({"svd", "pca", "eof", "eofs", "empirical_orthogonal_functions", "principal_components",
                 "proper_orthogonal_decomposition", "modes"});
  registry.add<SearchTask>("search", "search of recurrent networks that forecast coefficients")
      .synonyms({"nas", "architecture_search", "neural_architecture_search"});
  registry.add<WindowSet>("forecast_windows", "windows of coefficients over time, for training a network alone")
      .synonyms({"windows", "sequences", "time_series"});
  registry.add<StackedLstm>("stacked_lstm", "stacked recurrent layers with skip connections, from a genome")
      .synonyms({"lstm", "rnn", "gru", "recurrent"});
  registry.renamed<Task>("example_field", "synthetic_field");
}

}  // namespace cambium::podlstm
