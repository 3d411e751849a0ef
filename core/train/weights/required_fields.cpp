#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

void require_fields(const LoadedModel& loaded, const std::string& model, Dataset& data) {
  const auto fields = data.fields();
  const auto traits = loaded.network->traits();
  const auto& spared = traits.spared_labels;
  for (const auto& wanted : loaded.info.fields) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == wanted.info.name; });
    if (found == fields.end() && std::find(spared.begin(), spared.end(), wanted.info.name) != spared.end()) continue;
    if (found == fields.end())
      throw InputError(fmt::format("model '{}' was trained on a field '{}', which the data set does not have", model,
                                   wanted.info.name));
    if (found->unit != wanted.info.unit)
      throw InputError(
          fmt::format("model '{}' was trained on '{}' in {}, but the data set has it in {}; convert the data, or train "
                      "on it afresh",
                      model, wanted.info.name, wanted.info.unit.empty() ? "no unit" : wanted.info.unit,
                      found->unit.empty() ? "no unit" : found->unit));
    if (reads_in_order(traits.fields, found->name) && axes_differ(wanted.info.shape, found->shape))
      throw InputError(fmt::format(
          "model '{}' was trained on '{}' of shape ({}) for each sample, but the data set has ({}): equally "
          "many values in another order; transpose the data",
          model, wanted.info.name, fmt::join(wanted.info.shape, ", "), fmt::join(found->shape, ", ")));
    if (!same_classes(*found, wanted.info))
      throw InputError(fmt::format(
          "model '{}' was trained on '{}' with the categories {}, but the data set has {}; give the same categories in "
          "the same order",
          model, wanted.info.name, fmt::join(wanted.info.categories, ", "), fmt::join(found->categories, ", ")));
  }
}

}  // namespace cambium::train
