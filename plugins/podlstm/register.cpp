// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/podlstm/field/example_field.hpp"
#include "plugins/podlstm/forecast/forecast_task.hpp"
#include "plugins/podlstm/pod/pod_task.hpp"

namespace cambium::podlstm {

void register_types(Registry& registry) {
  registry.add<ExampleField>("example_field", "a made-up sea-surface temperature, for decks that need no data");
  registry.add<ForecastTask>("forecast", "forecasts of coefficients: linear baselines beside found networks");
  registry.add<PodTask>("pod", "proper orthogonal decomposition of a field over time");
}

}  // namespace cambium::podlstm
